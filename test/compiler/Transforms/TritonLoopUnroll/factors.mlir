// RUN: piton-opt %s -triton-loop-unroll -canonicalize -verify-diagnostics | FileCheck %s

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

// More than there are iterations means all of them; far too much is a warning.
// CHECK-LABEL: tt.func @many(
// CHECK-COUNT-3: tt.store
// CHECK:         scf.for
// CHECK-NEXT:      tt.store
// CHECK-NEXT:    }
tt.func @many(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  scf.for %i = %c0 to %c3 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 100 : i32}
  // expected-warning @+1 {{loop_unroll_factor 2147483647 would make 2147483647 x 2 operations, above the limit of 100000; the loop is not unrolled}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2147483647 : i32}
  tt.return
}
