// RUN: piton-opt %s | piton-opt | FileCheck %s
// put, fence, quiet, vector barrier and full barrier in a vector kernel
// accepted by 1.2.0 for: c220
module {
  func.func @dist_putmem_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1024_i32 = arith.constant 1024 : i32
    %c1_i32 = arith.constant 1 : i32
    hivm.hir.custom {gm_addr_args_indices = array<i32: 0, 1>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_float_putmem_nbi"} "dist.aclshmem_float_putmem_nbi" ins(%y, %x, %c1024_i32, %c1_i32 : memref<?xf32>, memref<?xf32>, i32, i32)
    hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_fence"} "dist.aclshmem_fence"
    hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_quiet"} "dist.aclshmem_quiet"
    hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_barrier_all_vec"} "dist.aclshmemx_barrier_all_vec"
    hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_barrier_all"} "dist.aclshmem_barrier_all"
    return
  }
}

// CHECK-LABEL: func.func @dist_putmem_kernel(
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
