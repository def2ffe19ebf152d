// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page's example: p + x / 8 * 32 + x % 8 over 64 lanes is an 8 x 8 box with
// strides 32 and 1, and so is its mask.
// RUN: piton-opt %s -triton-to-structured -cse -canonicalize | FileCheck %s
// RUN: piton-opt %s -triton-to-structured=enable-linearize=false | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: tt.func public @split
// CHECK-NOT: arith.divsi
// CHECK-NOT: arith.remsi
// CHECK: tt.addptr %{{.*}} : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi64>
// CHECK: %[[M:.*]] = arith.andi %{{.*}} : tensor<8x8xi1>
// CHECK: %[[V:.*]] = tt.load %{{.*}}, %[[M]] : tensor<8x8x!tt.ptr<f32>>
// CHECK: tt.reshape %[[V]] : tensor<8x8xf32> -> tensor<64xf32>
// OFF: arith.divsi
// OFF: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>>
tt.func public @split(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %c8 = arith.constant dense<8> : tensor<64xi32>
  %c6 = arith.constant dense<6> : tensor<64xi32>
  %c32 = arith.constant dense<32> : tensor<64xi32>
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %d = arith.divsi %x, %c8 : tensor<64xi32>
  %s = arith.muli %d, %c32 : tensor<64xi32>
  %r = arith.remsi %x, %c8 : tensor<64xi32>
  %off = arith.addi %s, %r : tensor<64xi32>
  %m0 = arith.cmpi slt, %d, %c6 : tensor<64xi32>
  %m1 = arith.cmpi slt, %r, %c6 : tensor<64xi32>
  %m = arith.andi %m0, %m1 : tensor<64xi1>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %off : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %pp, %m : tensor<64x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %op = tt.addptr %os, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %op, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
