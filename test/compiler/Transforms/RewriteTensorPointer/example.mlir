// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block pointer that a loop advances: the loop carries one offset, the access is
// masked along the checked dimension only and padded with NaN.
// RUN: piton-opt %s -rewrite-tensor-pointer -cse | FileCheck %s

// CHECK-LABEL: tt.func public @rows
// CHECK-NOT: tt.ptr<tensor
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<4x8xf32>
// CHECK: %[[K:.*]] = arith.extsi %arg2 : i32 to i64
// CHECK: scf.for {{.*}} iter_args(%[[OFF:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[P:.*]] = tt.addptr %arg0, %[[OFF]] : !tt.ptr<f32>, i64
// CHECK: tt.splat %[[P]] : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
// CHECK: %[[D:.*]] = arith.subi %[[K]], %[[OFF]] : i64
// CHECK: arith.maxsi %[[D]]
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[NAN]] : tensor<4x8x!tt.ptr<f32>>
// CHECK: arith.addi %[[OFF]], %{{.*}} : i64
tt.func public @rows(%a: !tt.ptr<f32>, %o: !tt.ptr<f32>, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1_i64 = arith.constant 1 : i64
  %c4_i64 = arith.constant 4 : i64
  %kw = arith.extsi %k : i32 to i64
  %p = tt.make_tensor_ptr %a, [%c4_i64, %kw], [%kw, %c1_i64], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %q = tt.make_tensor_ptr %o, [%c4_i64, %kw], [%kw, %c1_i64], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %r = scf.for %i = %c0 to %k step %c8 iter_args(%b = %p) -> (!tt.ptr<tensor<4x8xf32>>) : i32 {
    %v = tt.load %b {boundaryCheck = array<i32: 1>, padding = 2 : i32} : !tt.ptr<tensor<4x8xf32>>
    tt.store %q, %v {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<4x8xf32>>
    %n = tt.advance %b, [%c0, %c8] : <tensor<4x8xf32>>
    scf.yield %n : !tt.ptr<tensor<4x8xf32>>
  }
  tt.return
}
