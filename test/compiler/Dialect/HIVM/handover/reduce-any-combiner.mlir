// RUN: piton-opt %s | piton-opt | FileCheck %s
// reduction with a combiner of several ops: slice 0 as start value, scf.for over the rest (linalg.reduce would be miscompiled)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @reduce_any_combiner_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [64, 8], strides: [8, 1] : memref<?xf32> to memref<64x8xf32, strided<[8, 1]>>
    %a_b = memref.alloc() : memref<64x8xf32>
    memref.copy %a_c, %a_b : memref<64x8xf32, strided<[8, 1]>> to memref<64x8xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<64x8xf32> to tensor<64x8xf32>
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %i0 = tensor.extract_slice %a[0, 0] [1, 8] [1, 1] : tensor<64x8xf32> to tensor<8xf32>
    %r = scf.for %k = %c1 to %c64 step %c1 iter_args(%p = %i0) -> (tensor<8xf32>) {
      %q = tensor.extract_slice %a[%k, 0] [1, 8] [1, 1] : tensor<64x8xf32> to tensor<8xf32>
      %u = arith.mulf %p, %q : tensor<8xf32>
      %v = arith.addf %u, %p : tensor<8xf32>
      scf.yield %v : tensor<8xf32>
    }
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @reduce_any_combiner_kernel(
