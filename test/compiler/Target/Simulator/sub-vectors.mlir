// RUN: piton-opt %s --sim-prepare --canonicalize -split-input-file | FileCheck %s
//
// What depends on the vector core happens for both, the rest once; a barrier in a loop is met once a
// round although the loop also holds work of one side.

// CHECK-LABEL: func.func @branch
// CHECK: scf.for
// CHECK:   call @_mlir_ciface_aclshmem_barrier_all.vector
// CHECK-NOT: aclshmem_barrier_all
// CHECK:   memref.store %{{.*}}, %[[X:.*]][%c0]
// CHECK-NOT: memref.store
// CHECK: return
func.func @branch(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32>, %n: index, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "mix"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %id = hivm.hir.get_sub_block_idx -> i64
  %first = arith.cmpi eq, %id, %zero : i64
  scf.for %i = %c0 to %n step %c1 {
    hivm.hir.custom {hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, symbol = "aclshmem_barrier_all"} "dist.aclshmem_barrier_all"
    scf.if %first {
      memref.store %a, %x[%c0] : memref<?xi32>
    }
  }
  return
}

// -----

// A loop that carries a value of each side carries two.
// CHECK-LABEL: func.func @carried
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xi64>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %c0_i64, %[[B:.*]] = %c1_i64) -> (i64, i64)
// CHECK:   arith.addi %[[B]], %[[B]]
// CHECK: memref.store %{{.*}}, %[[X]][%c0]
// CHECK: memref.store %[[R]]#1, %[[X]][%c1]
func.func @carried(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi64>, %n: index, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "mix"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %id = hivm.hir.get_sub_block_idx -> i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %id) -> i64 {
    %w = arith.addi %v, %v : i64
    scf.yield %w : i64
  }
  %at = arith.index_cast %id : i64 to index
  memref.store %r, %x[%at] : memref<?xi64>
  return
}

// -----

// A while loop that both sides share: what is done once in it stays once.
// CHECK-LABEL: func.func @shared_while
// CHECK: scf.while (%{{.*}} = %c0_i32, %{{.*}} = %c0_i64, %{{.*}} = %c1_i64)
// CHECK: do
// CHECK-COUNT-1: call @_mlir_ciface_aclshmemx_signal_op
// CHECK-NOT: call @_mlir_ciface_aclshmemx_signal_op
// CHECK: return
func.func @shared_while(%lock: memref<?xi8>, %ws: memref<?xi8>, %sig: memref<?xi32>, %out: memref<?xi64>, %n: i32, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "aiv"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %seven = arith.constant 7 : i64
  %id = hivm.hir.get_sub_block_idx -> i64
  %r:2 = scf.while (%i = %c0, %v = %id) : (i32, i64) -> (i32, i64) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %v : i32, i64
  } do {
  ^bb0(%i: i32, %v: i64):
    hivm.hir.custom {hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %i, %c0, %c1 : memref<?xi32>, i32, i32, i32)
    %next = arith.addi %i, %c1 : i32
    %w = arith.addi %v, %seven : i64
    scf.yield %next, %w : i32, i64
  }
  %at = arith.index_cast %id : i64 to index
  memref.store %r#1, %out[%at] : memref<?xi64>
  return
}

// -----

// Side 0 may wait for what side 1 sends: two programs. What is done once, the store, is in that of
// side 0, between two meetings of both; side 1 hears the loaded value, which it needs.
// CHECK-LABEL: func.func @waits
// CHECK-SAME: piton.can_block
// CHECK-SAME: piton.shared_bytes = 128
// CHECK: %[[SHARED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: scf.if
// CHECK:   call @_mlir_ciface_aclshmem_wait_int32
// CHECK:   call @_mlir_ciface_piton_meet_sides()
// CHECK:   %[[V:.*]] = memref.load
// CHECK:   memref.store %[[V]]
// CHECK:   llvm.store %[[V]], %{{.*}} : i32, !llvm.ptr
// CHECK:   call @_mlir_ciface_piton_meet_sides()
// CHECK:   memref.store
// CHECK: } else {
// CHECK-NOT: aclshmem_wait
// CHECK:   call @_mlir_ciface_aclshmemx_signal_op
// CHECK-NOT: memref.load
// CHECK-NOT: memref.store
// CHECK:   call @_mlir_ciface_piton_meet_sides()
// CHECK-NEXT: call @_mlir_ciface_piton_meet_sides()
// CHECK:   llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK-NOT: memref.load
// CHECK:   memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @waits(%lock: memref<?xi8>, %ws: memref<?xi8>, %sig: memref<?xi32>, %x: memref<?xi32>, %y: memref<?xi32>, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "aiv"} {
  %c0 = arith.constant 0 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %id = hivm.hir.get_sub_block_idx -> i64
  %first = arith.cmpi eq, %id, %zero : i64
  scf.if %first {
    %t = hivm.hir.custom {hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "aclshmem_wait_int32"} "dist.aclshmem_wait_int32" ins(%sig, %i1, %i1 : memref<?xi32>, i32, i32) -> i32
  } else {
    hivm.hir.custom {hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %i1, %i0, %i0 : memref<?xi32>, i32, i32, i32)
  }
  %v = memref.load %x[%c0] : memref<?xi32>
  memref.store %v, %y[%c0] : memref<?xi32>
  %at = arith.index_cast %id : i64 to index
  memref.store %v, %x[%at] : memref<?xi32>
  return
}
