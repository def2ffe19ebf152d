// RUN: piton-opt %s -lift-control-flow | FileCheck %s
// An early return: what follows it becomes the other arm.

// CHECK-LABEL: tt.func public @early(
// CHECK:         %[[DONE:.*]] = arith.cmpi sge
// CHECK:         scf.if %[[DONE]] {
// CHECK-NEXT:    } else {
// CHECK-NEXT:      tt.store
// CHECK-NEXT:    }
// CHECK-NEXT:    tt.return
// CHECK-NOT:   ^
tt.func public @early(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
  %pid = tt.get_program_id x : i32
  %done = arith.cmpi sge, %pid, %n : i32
  cf.cond_br %done, ^out, ^work
^out:
  tt.return
^work:
  tt.store %p, %pid : !tt.ptr<i32>
  tt.return
^dead:  // no predecessors
  tt.return
}
