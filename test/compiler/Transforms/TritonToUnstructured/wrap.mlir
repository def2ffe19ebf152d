// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// (start + range) % size, as the matrix product of the tutorials writes it: where no lane
// wraps, the access is the plain strided one; the loop is for the block that does.
// RUN: piton-opt %s -triton-to-unstructured -cse -canonicalize | FileCheck %s

// CHECK-LABEL: tt.func public @rows
// CHECK: %[[OK:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %[[OK]] -> (tensor<8xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[V:.*]] = tt.load %{{.*}} : tensor<8x!tt.ptr<f32>>
// CHECK: scf.yield %[[V]]
// CHECK: } else {
// CHECK: scf.for
// CHECK: tt.load %{{.*}} : !tt.ptr<f32>
tt.func public @rows(%a: !tt.ptr<f32>, %start: i32, %size: i32) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ss = tt.splat %start : i32 -> tensor<8xi32>
  %x = arith.addi %ss, %i : tensor<8xi32>
  %ns = tt.splat %size : i32 -> tensor<8xi32>
  %r = arith.remsi %x, %ns : tensor<8xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %as, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}
