// REQUIRES: distributed
// RUN: piton-opt %s --convert-triton-distributed-to-hivm --cse --canonicalize --loop-invariant-code-motion | FileCheck %s
// RUN: piton-compile %s --emit=ttadapter -o - | FileCheck %s
//
// After the conversion, and through the whole stage, two equal waits stay two, and stay in their
// loop; equal queries of the rank become one.

// CHECK-LABEL: @waits
// CHECK-COUNT-1: "dist.aclshmem_my_pe"
// CHECK-NOT: "dist.aclshmem_my_pe"
// CHECK-COUNT-2: "dist.aclshmem_wait_int32"
// CHECK: scf.for
// CHECK-COUNT-2: "dist.aclshmem_wait_int32"
// CHECK: }
tt.func public @waits(%sig: !tt.ptr<i32>, %n: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m0 = distributed.get_rank %n : i32
  %m1 = distributed.get_rank %n : i32
  %m = arith.addi %m0, %m1 : i32
  tt.store %out, %m : !tt.ptr<i32>
  %0 = distributed.wait %sig, %n, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %1 = distributed.wait %sig, %n, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %2 = distributed.wait %sig, %n, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %3 = distributed.wait %sig, %n, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    scf.yield
  }
  tt.return
}
