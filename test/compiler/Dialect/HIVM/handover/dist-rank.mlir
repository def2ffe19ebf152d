// RUN: piton-opt %s | piton-opt | FileCheck %s
// rank and number of ranks: pure custom ops with a scalar result
// accepted by 1.2.0 for: c220
module {
  func.func @dist_rank_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %r0 = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_my_pe"} "dist.aclshmem_my_pe" -> i32
    %n = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_n_pes"} "dist.aclshmem_n_pes" -> i32
    %s = arith.addi %r0, %n : i32
    %e = tensor.empty() : tensor<8xi32>
    %r = linalg.fill ins(%s : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<8xi32>, memref<8xi32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @dist_rank_kernel(
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
