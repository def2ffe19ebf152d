// an operand read transposed
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y_p: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %o_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %x_b = memref.alloc() : memref<32x32xf16>
    memref.copy %x_c, %x_b : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %x = bufferization.to_tensor %x_b restrict writable : memref<32x32xf16> to tensor<32x32xf16>
    %y_c = memref.reinterpret_cast %y_p to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %y_b = memref.alloc() : memref<32x32xf16>
    memref.copy %y_c, %y_b : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %y = bufferization.to_tensor %y_b restrict writable : memref<32x32xf16> to tensor<32x32xf16>
    %zf = arith.constant 0.0 : f32
    %ce = tensor.empty() : tensor<32x32xf32>
    %ci = linalg.fill ins(%zf : f32) outs(%ce : tensor<32x32xf32>) -> tensor<32x32xf32>
    %o = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %y : tensor<32x32xf16>, tensor<32x32xf16>) outs(%ci : tensor<32x32xf32>) -> tensor<32x32xf32>
    %o_d = memref.reinterpret_cast %o_p to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf32> to memref<32x32xf32, strided<[32, 1]>>
    bufferization.materialize_in_destination %o in writable %o_d : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
    return
  }
}
