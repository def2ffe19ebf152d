// RUN: piton-opt %s --legalize-for-bisheng=family=c220 | FileCheck %s --check-prefixes=BOTH,C220
// RUN: piton-opt %s --legalize-for-bisheng=family=a5 | FileCheck %s --check-prefixes=BOTH,A5
//
// The pipes are drained before a signal; the 950 compiler gets no custom ops with results: ranks,
// teams and addresses are read from the device state, functions of the user are called.

// BOTH-LABEL: func.func @k
// BOTH-SAME: %[[SIG:[a-z0-9]+]]: memref<?xi32>
func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.tensor_kind = 2 : i32}, %sig: memref<?xi32> {tt.tensor_kind = 2 : i32}, %y: memref<?xi32> {tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %i0 = arith.constant 0 : index
  // C220: %[[ME:.*]] = hivm.hir.custom {{.*}}hivm.is_distributed{{.*}} "dist.aclshmem_my_pe" -> i32
  // A5: arith.constant 26387171835908 : i64
  // A5: %[[ME:.*]] = memref.load %{{.*}} : memref<1xi32>
  %me = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_my_pe"} "dist.aclshmem_my_pe" -> i32
  memref.store %me, %y[%i0] : memref<?xi32>
  // BOTH: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // C220-NEXT: hivm.hir.custom {{.*}}hivm.is_distributed{{.*}} "dist.aclshmemx_signal_op" ins(%[[SIG]],
  // A5-NOT: hivm.is_distributed
  // A5: hivm.hir.custom {{.*}} "dist.aclshmemx_signal_op" ins(%[[SIG]],
  hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %c1, %c0, %me : memref<?xi32>, i32, i32, i32)
  // C220: hivm.hir.custom {{.*}} "dist.aclshmem_wait_int32"
  // A5: hivm.hir.custom {{.*}} "dist.aclshmem_wait_int32" ins(%[[SIG]], {{.*}} : memref<?xi32>, i32, i32){{$}}
  %tok = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_wait_int32"} "dist.aclshmem_wait_int32" ins(%sig, %c1, %c1 : memref<?xi32>, i32, i32) -> i32
  // C220: hivm.hir.custom {{.*}} "dist.aclshmem_consume_token_float_ptr_1d"
  // A5-NOT: consume_token
  %p = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_consume_token_float_ptr_1d"} "dist.aclshmem_consume_token_float_ptr_1d" ins(%x, %tok : memref<?xf32>, i32) -> memref<?xf32>
  // C220: hivm.hir.custom {{.*}} "dist.aclshmem_ptr_float" {{.*}} -> memref<?xf32>
  // A5: memref.extract_aligned_pointer_as_index
  // A5: arith.constant 26387171835920 : i64
  // A5: hivm.hir.pointer_cast(%{{.*}}) : memref<1xi64>
  // A5: arith.constant 26387171835936 : i64
  // A5: hivm.hir.pointer_cast(%{{.*}}) [%{{.*}}] : memref<?xf32>
  %r = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_ptr_float"} "dist.aclshmem_ptr_float" ins(%p, %me : memref<?xf32>, i32) -> memref<?xf32>
  %v = memref.load %r[%i0] : memref<?xf32>
  memref.store %v, %x[%i0] : memref<?xf32>
  // BOTH: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // C220-NEXT: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmem_barrier_all"
  // A5-NEXT: hivm.hir.custom {{.*}}tcore_type<VECTOR>{{.*}} "dist.aclshmem_barrier_all"
  hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_barrier_all"} "dist.aclshmem_barrier_all"
  // C220: hivm.hir.custom {{.*}} "dist.aclshmem_team_n_pes" ins(%{{.*}} : i32) -> i32
  // A5: arith.cmpi sge
  // A5: memref.load %{{.*}} : memref<1xi64>
  // A5: %[[TEAM:.*]] = memref.load %{{.*}} : memref<1xi32>
  // A5: arith.select %{{.*}}, %[[TEAM]], %{{.*}} : i32
  %team = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_team_n_pes"} "dist.aclshmem_team_n_pes" ins(%c0 : i32) -> i32
  memref.store %team, %y[%i0] : memref<?xi32>
  // A wait for a signal gives the value seen: for 950 a wait, and a load of the word.
  // C220: hivm.hir.custom {{.*}} "dist.aclshmem_signal_wait_until" {{.*}} -> i32
  // A5: hivm.hir.custom {{.*}}symbol = "aclshmem_wait_until_int32"} "dist.aclshmem_wait_until_int32" ins(%[[SIG]], {{.*}} : memref<?xi32>, i32, i32){{$}}
  // A5: %[[SEEN:.*]] = memref.load %{{.*}} : memref<1xi32>
  // A5: memref.store %[[SEEN]]
  %seen = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_signal_wait_until"} "dist.aclshmem_signal_wait_until" ins(%sig, %c0, %c1 : memref<?xi32>, i32, i32) -> i32
  memref.store %seen, %y[%i0] : memref<?xi32>
  // The C prefix is the compiler's where memory is passed, but on 950 ours elsewhere.
  // C220: symbol = "aclshmem_fence"
  // A5: symbol = "_mlir_ciface_aclshmem_fence"
  hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_fence"} "dist.aclshmem_fence"
  // C220: hivm.hir.custom {{.*}} "dist.the_users" ins(%{{.*}} : i32) -> i32
  // A5: %[[USERS:.*]] = {{(func\.)?}}call @_mlir_ciface_the_users(%{{.*}}) : (i32) -> i32
  %users = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "the_users"} "dist.the_users" ins(%c0 : i32) -> i32
  memref.store %users, %y[%i0] : memref<?xi32>
  return
}
// A5: func.func private @_mlir_ciface_the_users(i32) -> i32 attributes {hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIV>}
