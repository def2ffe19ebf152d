// RUN: piton-opt %s | piton-opt | FileCheck %s
// atomic add whose old value is used: plain copy in front; the tool wraps both in a block lock
// accepted by 1.2.0 for: c220, a5
module {
  func.func @atst_old_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %w: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[1]>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %ob = memref.alloc() : memref<256xf32>
    memref.copy %d, %ob : memref<256xf32, strided<[1]>> to memref<256xf32>
    %old = bufferization.to_tensor %ob restrict writable : memref<256xf32> to tensor<256xf32>
    hivm.hir.store ins(%a : tensor<256xf32>) outs(%d : memref<256xf32, strided<[1]>>) atomic = <add>
    %old_d = memref.reinterpret_cast %w to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    bufferization.materialize_in_destination %old in writable %old_d : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @atst_old_kernel(
// CHECK: hivm.hir.store
