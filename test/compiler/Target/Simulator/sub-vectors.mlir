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
