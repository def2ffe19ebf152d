// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analyses on the two shapes every kernel has: a masked row, and a masked tile.
// RUN: piton-opt %s -test-address-analysis -verify-diagnostics | FileCheck %s

tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c1024 = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %s = arith.muli %pid, %c1024 : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ss = tt.splat %s : i32 -> tensor<1024xi32>
  %offs = arith.addi %ss, %r : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %offs, %ns : tensor<1024xi32>
  %xp = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xa = tt.addptr %xp, %offs : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // expected-remark @below {{address: offset [?] strides [1]}}
  // expected-remark @below {{mask: lo [0] hi [?]}}
  %v = tt.load %xa, %m : tensor<1024x!tt.ptr<f32>>
  %yp = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %ya = tt.addptr %yp, %offs : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // expected-remark @below {{address: offset [?] strides [1]}}
  // expected-remark @below {{mask: lo [0] hi [?]}}
  tt.store %ya, %v, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
}
tt.func public @two(%x: !tt.ptr<f32>, %stride: i32, %M: i32, %N: i32) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %sp = tt.splat %stride : i32 -> tensor<16x1xi32>
  %rs = arith.muli %r1, %sp : tensor<16x1xi32>
  %xp = tt.splat %x : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  %xr = tt.addptr %xp, %rs : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  %xb = tt.broadcast %xr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  %cb = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<16x32xi32>
  %xa = tt.addptr %xb, %cb : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  %Ms = tt.splat %M : i32 -> tensor<16x1xi32>
  %Ns = tt.splat %N : i32 -> tensor<1x32xi32>
  %m0 = arith.cmpi slt, %r1, %Ms : tensor<16x1xi32>
  %m1 = arith.cmpi sgt, %Ns, %c1 : tensor<1x32xi32>
  %b0 = tt.broadcast %m0 : tensor<16x1xi1> -> tensor<16x32xi1>
  %b1 = tt.broadcast %m1 : tensor<1x32xi1> -> tensor<16x32xi1>
  %m = arith.andi %b0, %b1 : tensor<16x32xi1>
  // expected-remark @below {{address: offset [0] strides [?, 1]}}
  // expected-remark @below {{mask: lo [0, 0] hi [?, ?]}}
  %v = tt.load %xa, %m : tensor<16x32x!tt.ptr<f32>>
  // expected-remark @below {{address: offset [0] strides [?, 1]}}
  // expected-remark @below {{mask: lo [0, 0] hi [?, ?]}}
  tt.store %xa, %v, %m : tensor<16x32x!tt.ptr<f32>>
  tt.return
}

// The bound is n - start in 64 bits, clamped to [0, size].
// CHECK-LABEL: tt.func public @add
// CHECK: %[[S:.*]] = arith.muli %{{.*}}, %c1024_i32 : i32
// CHECK: %[[N:.*]] = arith.index_cast %arg2 : i32 to index
// CHECK: %[[SI:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK: %[[D:.*]] = arith.subi %[[N]], %[[SI]] : index
// CHECK: %[[P:.*]] = arith.maxsi %[[D]], %{{.*}} : index
// CHECK: arith.minsi %[[P]], %{{.*}} : index
