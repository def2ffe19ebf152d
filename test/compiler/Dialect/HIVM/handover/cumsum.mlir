// RUN: piton-opt %s | piton-opt | FileCheck %s
// running sum through the private helper triton_cumsum (axis, reverse as constants)
// accepted by 1.2.0 for: c220, a5
module {
  func.func private @triton_cumsum(tensor<4x128xf32>, i32, i1) -> tensor<4x128xf32>
  func.func @cumsum_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %off_n = arith.constant 512 : i32
    %off_i = arith.muli %px, %off_n : i32
    %off = arith.index_cast %off_i : i32 to index
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [4, 128], strides: [128, 1] : memref<?xf32> to memref<4x128xf32, strided<[128, 1], offset: ?>>
    %a_b = memref.alloc() : memref<4x128xf32>
    memref.copy %a_c, %a_b : memref<4x128xf32, strided<[128, 1], offset: ?>> to memref<4x128xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<4x128xf32> to tensor<4x128xf32>
    %ax = arith.constant 1 : i32
    %rev = arith.constant false
    %r = func.call @triton_cumsum(%a, %ax, %rev) : (tensor<4x128xf32>, i32, i1) -> tensor<4x128xf32>
    %r_d = memref.reinterpret_cast %y to offset: [%off], sizes: [4, 128], strides: [128, 1] : memref<?xf32> to memref<4x128xf32, strided<[128, 1], offset: ?>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<4x128xf32>, memref<4x128xf32, strided<[128, 1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @cumsum_kernel(
