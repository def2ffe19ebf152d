// RUN: piton-opt %s -triton-loop-unroll -canonicalize | FileCheck %s

// Constant bounds that the factor divides need no second loop; factor 1 only loses the mark.
// CHECK-LABEL: tt.func @constant(
// CHECK:         scf.for
// CHECK-COUNT-4:   tt.store
// CHECK-NOT:     scf.for
// CHECK:         tt.return
tt.func @constant(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// CHECK-LABEL: tt.func @one(
// CHECK:         scf.for
// CHECK-NEXT:      tt.store
// CHECK-NEXT:    }
// CHECK-NEXT:    tt.return
tt.func @one(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return
}
