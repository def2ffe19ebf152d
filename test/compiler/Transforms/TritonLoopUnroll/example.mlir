// RUN: piton-opt %s -triton-loop-unroll | FileCheck %s

// The bound is clamped first: a loop that would run zero times must not run backwards.
// CHECK-LABEL: tt.func @unroll(
// CHECK-SAME:    %[[P:.*]]: !tt.ptr<i32>, %[[LO:.*]]: i32, %[[HI:.*]]: i32
// CHECK:         arith.maxsi %[[LO]], %[[HI]] : i32
// CHECK:         scf.for
// CHECK-COUNT-2:   tt.store
// CHECK:         } {tt.num_stages = 3 : i32}
// CHECK:         scf.for
// CHECK:           tt.store
// CHECK-NOT:       tt.store
// CHECK:         } {tt.num_stages = 1 : i32}
tt.func @unroll(%p: !tt.ptr<i32>, %lo: i32, %hi: i32) {
  %c1 = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32}
  tt.return
}
