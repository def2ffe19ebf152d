// RUN: piton-opt %s | piton-opt | FileCheck %s
// store, pipe barrier, then notify: the tool itself orders nothing between a store and a scalar-pipe custom op on another argument
// accepted by 1.2.0 for: c220, a5
module {
  func.func @dist_notify_drained_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %sig: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1_i64 = arith.constant 1 : i64
    %c1_i32 = arith.constant 1 : i32
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[1]>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %a_d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
    hivm.hir.pipe_barrier[<PIPE_ALL>]
    hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_int64_p"} "dist.aclshmem_int64_p" ins(%sig, %c1_i64, %c1_i32 : memref<?xi64>, i64, i32)
    return
  }
}

// CHECK-LABEL: func.func @dist_notify_drained_kernel(
// CHECK: hivm.hir.pipe_barrier
// CHECK: hivm.hir.custom
