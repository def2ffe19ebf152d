// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches carry a number for a tensor whose lanes move together.
// RUN: piton-opt %s -triton-to-structured -cse -canonicalize | FileCheck %s

// A step known at run time only, bounds too; the pointer is used after the loop.
// CHECK-LABEL: tt.func public @for
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %c0_i64, %{{.*}} = %{{.*}}) -> (i64, tensor<16xf32>)
// CHECK: tt.splat %{{.*}} : i64 -> tensor<16xi64>
// CHECK: tt.load
// CHECK: %[[S:.*]] = tt.splat %[[R]]#0 : i64 -> tensor<16xi64>
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[S]]
// CHECK: tt.store %[[P]]
tt.func public @for(%a: !tt.ptr<f32>, %n: i32, %s: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %p = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %p, %acc = %z) -> (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) : i32 {
    %v = tt.load %q : tensor<16x!tt.ptr<f32>>
    %sum = arith.addf %acc, %v : tensor<16xf32>
    %ss = tt.splat %s : i32 -> tensor<16xi32>
    %t = tt.addptr %q, %ss : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %t, %sum : tensor<16x!tt.ptr<f32>>, tensor<16xf32>
  }
  tt.store %r#0, %r#1 : tensor<16x!tt.ptr<f32>>
  tt.return
}

// The pointer is computed anew in each round: the same lanes, another offset.
// CHECK-LABEL: tt.func public @anew
// CHECK: scf.for {{.*}} -> (i64)
tt.func public @anew(%a: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %as, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = scf.for %k = %c0 to %n step %c8 iter_args(%q = %p) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %q, %one : tensor<8x!tt.ptr<f32>>
    %next = arith.addi %k, %c8 : i32
    %b = tt.addptr %a, %next : !tt.ptr<f32>, i32
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %t = tt.addptr %bs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %t : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// Offsets in a while loop, as a number of their own width; the mask stays a comparison of a range.
// CHECK-LABEL: tt.func public @while
// CHECK: scf.while (%{{.*}} = %c0_i32, %{{.*}} = %c0_i32) : (i32, i32) -> (i32, i32)
// CHECK: %[[O:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<16xi32>
// CHECK: arith.cmpi slt, %[[O]]
tt.func public @while(%a: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16xi32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %r:2 = scf.while (%o = %i, %k = %c0) : (tensor<16xi32>, i32) -> (tensor<16xi32>, i32) {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %o, %k : tensor<16xi32>, i32
  } do {
  ^bb0(%o: tensor<16xi32>, %k: i32):
    %m = arith.cmpi slt, %o, %ns : tensor<16xi32>
    %p = tt.addptr %as, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %p, %one, %m : tensor<16x!tt.ptr<f32>>
    %o1 = arith.addi %o, %c16 : tensor<16xi32>
    %k1 = arith.addi %k, %c1 : i32
    scf.yield %o1, %k1 : tensor<16xi32>, i32
  }
  tt.return
}

// Two bases: the branch chooses an address, the lanes are added behind it.
// CHECK-LABEL: tt.func public @branch
// CHECK: %[[A:.*]] = scf.if %{{.*}} -> (i64)
// CHECK: %[[B:.*]] = tt.int_to_ptr %[[A]] : i64 -> !tt.ptr<f32>
// CHECK: tt.splat %[[B]]
tt.func public @branch(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i1) {
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %p = scf.if %c -> (tensor<16x!tt.ptr<f32>>) {
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %x = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %x : tensor<16x!tt.ptr<f32>>
  } else {
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %x = tt.addptr %bs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %x : tensor<16x!tt.ptr<f32>>
  }
  tt.store %p, %one : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A repeated row is loaded once; the splats of scalars are computed once.
// CHECK-LABEL: tt.func public @repeat
// CHECK: arith.muli %arg1, %arg1 : i32
// CHECK: %[[V:.*]] = tt.load %{{.*}} : tensor<8x!tt.ptr<f32>>
// CHECK: %[[E:.*]] = tt.expand_dims %[[V]] {axis = 0 : i32}
// CHECK: tt.broadcast %[[E]] : tensor<1x8xf32> -> tensor<4x8xf32>
tt.func public @repeat(%a: !tt.ptr<f32>, %n: i32) -> tensor<4x8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %nn = arith.muli %ns, %ns : tensor<8xi32>
  %o = arith.addi %nn, %i : tensor<8xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %as, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %e = tt.expand_dims %p {axis = 0 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<1x8x!tt.ptr<f32>>
  %b = tt.broadcast %e : tensor<1x8x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  %v = tt.load %b : tensor<4x8x!tt.ptr<f32>>
  tt.return %v : tensor<4x8xf32>
}
