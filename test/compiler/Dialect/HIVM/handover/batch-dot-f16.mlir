// RUN: piton-opt %s | piton-opt | FileCheck %s
// 3-D dot as linalg.batch_matmul
// accepted by 1.2.0 for: c220, a5
module {
  func.func @batch_dot_f16_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %b: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %c: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %at_c = memref.reinterpret_cast %a to offset: [0], sizes: [2, 32, 16], strides: [512, 16, 1] : memref<?xf16> to memref<2x32x16xf16, strided<[512, 16, 1]>>
    %at_b = memref.alloc() : memref<2x32x16xf16>
    memref.copy %at_c, %at_b : memref<2x32x16xf16, strided<[512, 16, 1]>> to memref<2x32x16xf16>
    %at = bufferization.to_tensor %at_b restrict writable : memref<2x32x16xf16> to tensor<2x32x16xf16>
    %bt_c = memref.reinterpret_cast %b to offset: [0], sizes: [2, 16, 32], strides: [512, 32, 1] : memref<?xf16> to memref<2x16x32xf16, strided<[512, 32, 1]>>
    %bt_b = memref.alloc() : memref<2x16x32xf16>
    memref.copy %bt_c, %bt_b : memref<2x16x32xf16, strided<[512, 32, 1]>> to memref<2x16x32xf16>
    %bt = bufferization.to_tensor %bt_b restrict writable : memref<2x16x32xf16> to tensor<2x16x32xf16>
    %acc0_v = arith.constant 0.0 : f32
    %acc0_e = tensor.empty() : tensor<2x32x32xf32>
    %acc0 = linalg.fill ins(%acc0_v : f32) outs(%acc0_e : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
    %r = linalg.batch_matmul {input_precision = "ieee"} ins(%at, %bt : tensor<2x32x16xf16>, tensor<2x16x32xf16>) outs(%acc0 : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
    %r_d = memref.reinterpret_cast %c to offset: [0], sizes: [2, 32, 32], strides: [1024, 32, 1] : memref<?xf32> to memref<2x32x32xf32, strided<[1024, 32, 1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<2x32x32xf32>, memref<2x32x32xf32, strided<[1024, 32, 1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @batch_dot_f16_kernel(
