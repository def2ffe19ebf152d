// REQUIRES: distributed
// RUN: piton-opt %s -cse -canonicalize -loop-invariant-code-motion | FileCheck %s
// RUN: piton-compile %s --emit=ttir -o - | FileCheck %s
// What generic passes, and the whole stage ttir, may do to the ops.

// A wait survives: unused, twice, in a loop, with nothing but reads around it.
// CHECK-LABEL: @waits
// CHECK-COUNT-2: distributed.wait
// CHECK: scf.for
// CHECK: distributed.wait
// CHECK: distributed.wait
tt.func public @waits(%sig: !tt.ptr<i32>, %n: i32, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %1 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %2 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %3 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    scf.yield
  }
  tt.return
}

// A load is not taken for the load before the wait, and stays behind it in a loop.
// CHECK-LABEL: @loads
// CHECK: tt.load
// CHECK: distributed.wait
// CHECK: tt.load
// CHECK: scf.for
// CHECK: distributed.wait
// CHECK: tt.load
tt.func public @loads(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %sig: !tt.ptr<i32>, %n: i32, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.load %p : !tt.ptr<f32>
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %b = tt.load %p : !tt.ptr<f32>
  %z = arith.addf %a, %b : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> f32 : i32 {
    %2 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %c = tt.load %p : !tt.ptr<f32>
    %d = arith.addf %acc, %c : f32
    scf.yield %d : f32
  }
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}

// Unused consume_token, symm_at, ranks and pure calls go; equal ones become one.
// CHECK-LABEL: @dead
// CHECK-NOT: distributed
// CHECK: distributed.notify
// CHECK-NOT: distributed
// CHECK: distributed.extern_call {{.*}}pure = false
// CHECK-NEXT: distributed.extern_call {{.*}}pure = false
// CHECK-NOT: distributed
// CHECK: tt.return
tt.func public @dead(%p: !tt.ptr<i32>, %v: i64, %r: i32) {
  %0 = distributed.consume_token %p, %r, : !tt.ptr<i32>, i32 -> !tt.ptr<i32>
  %1 = distributed.symm_at %p, %r, : !tt.ptr<i32>
  %2 = distributed.get_rank %r : i32
  %3 = distributed.extern_call {libname = "l", libpath = "", pure = true, symbol = "f"} : () -> i32
  "distributed.notify"(%p, %v, %r) <{commScope = 1 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i64, i32) -> ()
  %4 = distributed.extern_call {libname = "l", libpath = "", pure = false, symbol = "f"} : () -> i32
  %5 = distributed.extern_call {libname = "l", libpath = "", pure = false, symbol = "f"} : () -> i32
  tt.return
}

// CHECK-LABEL: @ranks
// CHECK-COUNT-1: distributed.get_rank
// CHECK-NOT: distributed.get_rank
// CHECK: distributed.get_num_ranks
tt.func public @ranks(%q: !tt.ptr<i32>, %axis: i32) {
  %0 = distributed.get_rank %axis : i32
  %1 = distributed.get_rank %axis : i32
  %2 = distributed.get_num_ranks %axis : i32
  %3 = arith.addi %0, %1 : i32
  %4 = arith.addi %3, %2 : i32
  tt.store %q, %4 : !tt.ptr<i32>
  tt.return
}
