// RUN: piton-compile %s --emit=ttir --g=false | FileCheck %s
// A helper with an early return, called in a loop, is inlined once its blocks are lifted.

// CHECK-LABEL: tt.func public @kernel(
// CHECK:         scf.for
// CHECK-NOT:     tt.call
// CHECK:           scf.if
// CHECK-NOT:   tt.func private
tt.func private @helper(%p: !tt.ptr<i32>, %i: i32) attributes {noinline = false} {
  %c4 = arith.constant 4 : i32
  %big = arith.cmpi sgt, %i, %c4 : i32
  cf.cond_br %big, ^out, ^work
^out:
  tt.return
^work:
  tt.store %p, %i : !tt.ptr<i32>
  tt.return
}
tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.call @helper(%p, %i) : (!tt.ptr<i32>, i32) -> ()
  }
  tt.return
}
