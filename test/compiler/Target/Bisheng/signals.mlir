// RUN: piton-opt %s --legalize-for-bisheng=family=c220 | FileCheck %s --check-prefixes=BOTH,C220
// RUN: piton-opt %s --legalize-for-bisheng=family=a5 | FileCheck %s --check-prefixes=BOTH,A5
//
// In a kernel for both kinds of cores one half raises a signal: the one that stored last, after the
// other one if that stored as well.

// BOTH-LABEL: func.func @k
// BOTH-SAME: %[[SIG:[a-z0-9]+]]: memref<?xi32>
func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: memref<?xf16> {tt.tensor_kind = 0 : i32}, %c: memref<?xf32> {tt.tensor_kind = 1 : i32}, %sig: memref<?xi32> {tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i4 = arith.constant 4 : index
  %c0_i64 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %view = memref.reinterpret_cast %a to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf16> to memref<32x32xf16, strided<[32, 1]>>
  %buffer = memref.alloc() : memref<32x32xf16>
  memref.copy %view, %buffer : memref<32x32xf16, strided<[32, 1]>> to memref<32x32xf16>
  %x = bufferization.to_tensor %buffer restrict writable : memref<32x32xf16> to tensor<32x32xf16>
  %e = tensor.empty() : tensor<32x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = scf.for %i = %i0 to %i4 step %i1 iter_args(%sum = %z) -> tensor<32x32xf32> {
    %m = linalg.matmul ins(%x, %x : tensor<32x32xf16>, tensor<32x32xf16>) outs(%sum : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %m : tensor<32x32xf32>
  }
  %d = memref.reinterpret_cast %c to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<?xf32> to memref<32x32xf32, strided<[32, 1]>>
  bufferization.materialize_in_destination %p in writable %d : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
  // The product is the cube core's, no vector core has stored anything.
  // BOTH: bufferization.materialize_in_destination
  // BOTH-NOT: sync_block
  // C220: hivm.hir.custom {{.*}}tcore_type<CUBE>{{.*}}symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op"
  // A5: hivm.hir.custom {{.*}}tcore_type<CUBE>{{.*}}symbol = "aclshmemx_signal_op.cube"} "dist.aclshmemx_signal_op"
  // BOTH-NOT: "dist.aclshmemx_signal_op"
  hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %c1, %c1, %c0 : memref<?xi32>, i32, i32, i32)
  %s = math.exp %p : tensor<32x32xf32>
  bufferization.materialize_in_destination %s in writable %d : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
  // Now both have: the vector cores, which were last, wait for the cube core and for each other;
  // the first of them raises it.
  // BOTH: bufferization.materialize_in_destination
  // BOTH: hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_S>] flag = 14
  // BOTH: hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_S>] flag = 14
  // BOTH: hivm.hir.sync_block[<ALL_SUB_VECTOR>, 15 : i16] tvector_pipe = <PIPE_MTE3>
  // BOTH: %[[NUMBER:.*]] = hivm.hir.get_sub_block_idx
  // BOTH: %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]],
  // BOTH: scf.if %[[FIRST]]
  // BOTH-NEXT: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // BOTH-NEXT: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmem_int32_p"
  hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_int32_p"} "dist.aclshmem_int32_p" ins(%sig, %c1, %c0 : memref<?xi32>, i32, i32)
  // Data that the vector cores send may be the cube core's.
  // BOTH: hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_S>] flag = 14
  // BOTH: hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_S>] flag = 14
  // BOTH: hivm.hir.sync_block[<ALL_SUB_VECTOR>, 15 : i16] tvector_pipe = <PIPE_MTE3>
  // BOTH: %[[NUMBER:.*]] = hivm.hir.get_sub_block_idx
  // BOTH: %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]],
  // BOTH: scf.if %[[FIRST]]
  // BOTH-NEXT: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // BOTH-NEXT: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmem_float_putmem"
  // BOTH: hivm.hir.sync_block[<ALL_SUB_VECTOR>, 15 : i16] tvector_pipe = <PIPE_MTE3>
  hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_float_putmem"} "dist.aclshmem_float_putmem" ins(%c, %c, %c1, %c0 : memref<?xf32>, memref<?xf32>, i32, i32)
  // On one vector core alone: that one, without flags, which take both.
  %sub = hivm.hir.get_sub_block_idx -> i64
  %first = arith.cmpi eq, %sub, %c0_i64 : i64
  // BOTH: scf.if
  // BOTH-NOT: sync_block
  // BOTH: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmemx_signal_op"
  scf.if %first {
    hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %c1, %c1, %c0 : memref<?xi32>, i32, i32, i32)
  }
  // The barrier joins all cores, on both of which it stays; nothing was stored since.
  // C220: hivm.hir.custom {{.*}}tcore_type<CUBE_AND_VECTOR>{{.*}} "dist.aclshmem_barrier_all"
  // A5: hivm.hir.custom {{.*}}tcore_type<CUBE>{{.*}}symbol = "_mlir_ciface_aclshmem_barrier_all.cube"}
  // A5: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}}symbol = "_mlir_ciface_aclshmem_barrier_all.vector"}
  hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_barrier_all"} "dist.aclshmem_barrier_all"
  // BOTH-NOT: sync_block_set
  // BOTH: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmemx_signal_op"
  hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %c1, %c1, %c0 : memref<?xi32>, i32, i32, i32)
  return
}
