// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers as data: loops, branches, select, memory.
// RUN: piton-opt %s -triton-to-unstructured -cse -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// Two pointers that a loop exchanges have no common base: addresses.
// CHECK-LABEL: tt.func public @exchange
// CHECK: scf.for {{.*}} -> (i64, i64)
// CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
// CHECK: scf.yield %{{.*}}, %{{.*}} : i64, i64
tt.func public @exchange(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    tt.store %p, %one : !tt.ptr<f32>
    scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
  }
  tt.return
}

// -----

// Lanes that move by different amounts: the sum of the steps is carried.
// CHECK-LABEL: tt.func public @strides
// CHECK: scf.for {{.*}} -> (tensor<8xi64>)
// CHECK-NOT: int_to_ptr
tt.func public @strides(%a: !tt.ptr<f32>, %n: i32, %step: tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %as) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// A table of pointers: loaded as i64, followed lane by lane.
// CHECK-LABEL: tt.func public @table
// CHECK: tt.load %{{.*}} : tensor<8x!tt.ptr<i64>>
// CHECK: scf.for
// CHECK: %[[A:.*]] = tensor.extract %{{.*}} : tensor<8xi64>
// CHECK: tt.int_to_ptr %[[A]] : i64 -> !tt.ptr<f32>
tt.func public @table(%a: !tt.ptr<!tt.ptr<f32>>) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %as = tt.splat %a : !tt.ptr<!tt.ptr<f32>> -> tensor<8x!tt.ptr<!tt.ptr<f32>>>
  %p = tt.addptr %as, %i : tensor<8x!tt.ptr<!tt.ptr<f32>>>, tensor<8xi32>
  %q = tt.load %p : tensor<8x!tt.ptr<!tt.ptr<f32>>>
  %v = tt.load %q : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// -----

// CHECK-LABEL: tt.func public @select
// CHECK: arith.select %arg2, %{{.*}}, %{{.*}} : i64
tt.func public @select(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i1) -> f32 {
  %p = arith.select %c, %a, %b : !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}

// -----

tt.func public @reduced(%p: tensor<8x!tt.ptr<f32>>) -> !tt.ptr<f32> {
  // expected-error @below {{'tt.reduce' over pointers is not supported; apply it to offsets instead}}
  %r = "tt.reduce"(%p) <{axis = 0 : i32}> ({
  ^bb0(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>):
    tt.reduce.return %a : !tt.ptr<f32>
  }) : (tensor<8x!tt.ptr<f32>>) -> !tt.ptr<f32>
  tt.return %r : !tt.ptr<f32>
}
