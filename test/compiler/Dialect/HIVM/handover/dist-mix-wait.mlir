// RUN: piton-opt %s | piton-opt | FileCheck %s
// wait in front of a matmul: kept on both halves
// accepted by 1.2.0 for: c220
module {
  func.func @dist_mix_wait_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %b: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %c: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %sig: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %c1_i32 = arith.constant 1 : i32
    %tok = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_wait_int32"} "dist.aclshmem_wait_int32" ins(%sig, %c1_i32, %c1_i32 : memref<?xi32>, i32, i32) -> i32
    %a2 = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_consume_token_half_ptr_1d"} "dist.aclshmem_consume_token_half_ptr_1d" ins(%a, %tok : memref<?xf16>, i32) -> memref<?xf16>
    %at_c = memref.reinterpret_cast %a2 to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %at_b = memref.alloc() : memref<32x32xf16>
    memref.copy %at_c, %at_b : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %at = bufferization.to_tensor %at_b restrict writable : memref<32x32xf16> to tensor<32x32xf16>
    %bt_c = memref.reinterpret_cast %b to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
    %bt_b = memref.alloc() : memref<32x32xf16>
    memref.copy %bt_c, %bt_b : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
    %bt = bufferization.to_tensor %bt_b restrict writable : memref<32x32xf16> to tensor<32x32xf16>
    %acc0_v = arith.constant 0.0 : f32
    %acc0_e = tensor.empty() : tensor<32x32xf32>
    %acc0 = linalg.fill ins(%acc0_v : f32) outs(%acc0_e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %m = linalg.matmul {input_precision = "ieee"} ins(%at, %bt : tensor<32x32xf16>, tensor<32x32xf16>) outs(%acc0 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %m_d = memref.reinterpret_cast %c to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf32> to memref<32x32xf32, strided<[32, 1]>>
    bufferization.materialize_in_destination %m in writable %m_d : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @dist_mix_wait_kernel(
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
