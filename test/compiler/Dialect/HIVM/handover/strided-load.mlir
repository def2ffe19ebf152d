// RUN: piton-opt %s | piton-opt | FileCheck %s
// 1-D loads with a run-time stride and with stride 2
// accepted by 1.2.0 for: c220, a5
module {
  func.func @strided_load_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %s: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %off_n = arith.constant 256 : i32
    %off_i = arith.muli %px, %off_n : i32
    %off = arith.index_cast %off_i : i32 to index
    %st = arith.index_cast %s : i32 to index
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [256], strides: [%st] : memref<?xf32> to memref<256xf32, strided<[?], offset: ?>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[?], offset: ?>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %b_c = memref.reinterpret_cast %x to offset: [%off], sizes: [256], strides: [2] : memref<?xf32> to memref<256xf32, strided<[2], offset: ?>>
    %b_b = memref.alloc() : memref<256xf32>
    memref.copy %b_c, %b_b : memref<256xf32, strided<[2], offset: ?>> to memref<256xf32>
    %b = bufferization.to_tensor %b_b restrict writable : memref<256xf32> to tensor<256xf32>
    %r = arith.addf %a, %b : tensor<256xf32>
    %r_d = memref.reinterpret_cast %y to offset: [%off], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @strided_load_kernel(
