// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every predicate, both operand orders, constants and what is no box. Bounds that are
// known at compile time show in the remark; all are clamped to the tensor.
// RUN: piton-opt %s -test-address-analysis -verify-diagnostics -o /dev/null

tt.func public @constants(%p: tensor<8x!tt.ptr<f32>>, %keep: tensor<8xi1>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %c0 = arith.constant dense<0> : tensor<8xi32>
  %m5 = arith.constant dense<-5> : tensor<8xi32>
  %c99 = arith.constant dense<99> : tensor<8xi32>
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  %run = arith.constant dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>
  %holes = arith.constant dense<[true, false, true, false, false, false, false, false]> : tensor<8xi1>
  %slt = arith.cmpi slt, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [3]}}
  %0 = tt.load %p, %slt : tensor<8x!tt.ptr<f32>>
  %sle = arith.cmpi sle, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [4]}}
  %1 = tt.load %p, %sle : tensor<8x!tt.ptr<f32>>
  %sgt = arith.cmpi sgt, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [4] hi [8]}}
  %2 = tt.load %p, %sgt : tensor<8x!tt.ptr<f32>>
  %sge = arith.cmpi sge, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [3] hi [8]}}
  %3 = tt.load %p, %sge : tensor<8x!tt.ptr<f32>>
  %eq = arith.cmpi eq, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [3] hi [4]}}
  %4 = tt.load %p, %eq : tensor<8x!tt.ptr<f32>>
  // A lane that does not exist: empty, not outside.
  %far = arith.cmpi eq, %i, %c99 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [8] hi [8]}}
  %5 = tt.load %p, %far : tensor<8x!tt.ptr<f32>>
  %before = arith.cmpi slt, %i, %m5 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [0]}}
  %6 = tt.load %p, %before : tensor<8x!tt.ptr<f32>>
  // Not equal is a box at an edge only.
  %ne0 = arith.cmpi ne, %i, %c0 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [1] hi [8]}}
  %7 = tt.load %p, %ne0 : tensor<8x!tt.ptr<f32>>
  %ne3 = arith.cmpi ne, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [8] residual}}
  %8 = tt.load %p, %ne3 : tensor<8x!tt.ptr<f32>>
  // The scalar on the left; unsigned, where the sign is known.
  %left = arith.cmpi sgt, %c3, %i : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [3]}}
  %9 = tt.load %p, %left : tensor<8x!tt.ptr<f32>>
  %ult = arith.cmpi ult, %i, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [3]}}
  %10 = tt.load %p, %ult : tensor<8x!tt.ptr<f32>>
  // i - 2 wraps below 2: x <u 3 means 0 <= x < 3.
  %j = arith.subi %i, %c2 : tensor<8xi32>
  %wrap = arith.cmpi ult, %j, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [2] hi [5]}}
  %11 = tt.load %p, %wrap : tensor<8x!tt.ptr<f32>>
  // -5 read as unsigned is beyond every lane.
  %huge = arith.cmpi ult, %i, %m5 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [8] full}}
  %12 = tt.load %p, %huge : tensor<8x!tt.ptr<f32>>
  // Steps of two, from either side.
  %twice = arith.muli %i, %c2 : tensor<8xi32>
  %s2 = arith.cmpi slt, %twice, %c3 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [2]}}
  %13 = tt.load %p, %s2 : tensor<8x!tt.ptr<f32>>
  %down = arith.subi %c3, %i : tensor<8xi32>
  %s3 = arith.cmpi slt, %down, %c2 : tensor<8xi32>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [2] hi [8]}}
  %14 = tt.load %p, %s3 : tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [8] full}}
  %15 = tt.load %p, %true : tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [0]}}
  %16 = tt.load %p, %false : tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [1] hi [3]}}
  %17 = tt.load %p, %run : tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [8] residual}}
  %18 = tt.load %p, %holes : tensor<8x!tt.ptr<f32>>
  // Two conditions on one dimension, a negation, a union, an intersection that is empty.
  %both = arith.andi %sge, %s2 : tensor<8xi1>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [3] hi [3]}}
  %19 = tt.load %p, %both : tensor<8x!tt.ptr<f32>>
  %not = arith.xori %slt, %true : tensor<8xi1>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [3] hi [8]}}
  %20 = tt.load %p, %not : tensor<8x!tt.ptr<f32>>
  %or = arith.ori %slt, %s2 : tensor<8xi1>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [3]}}
  %21 = tt.load %p, %or : tensor<8x!tt.ptr<f32>>
  %apart = arith.ori %s2, %sgt : tensor<8xi1>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [8] residual}}
  %22 = tt.load %p, %apart : tensor<8x!tt.ptr<f32>>
  %part = arith.andi %slt, %keep : tensor<8xi1>
  // expected-remark @below {{not structured}}
  // expected-remark @below {{mask: lo [0] hi [3] residual}}
  %23 = tt.load %p, %part : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Bounds known at run time: the arithmetic is 64 bits wide.
tt.func public @dynamic(%a: !tt.ptr<f32>, %n: i32, %wide: i64, %c: i1) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %iw = arith.extsi %i : tensor<8xi32> to tensor<8xi64>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %as, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %ws = tt.splat %wide : i64 -> tensor<8xi64>
  %cs = tt.splat %c : i1 -> tensor<8xi1>
  %m0 = arith.cmpi slt, %i, %ns : tensor<8xi32>
  // expected-remark @below {{address: offset [0] strides [1]}}
  // expected-remark @below {{mask: lo [0] hi [?]}}
  %0 = tt.load %p, %m0 : tensor<8x!tt.ptr<f32>>
  %m1 = arith.cmpi sge, %iw, %ws : tensor<8xi64>
  // expected-remark @below {{address: offset [0] strides [1]}}
  // expected-remark @below {{mask: lo [?] hi [8]}}
  %1 = tt.load %p, %m1 : tensor<8x!tt.ptr<f32>>
  // One condition for all lanes: everything or nothing.
  // expected-remark @below {{address: offset [0] strides [1]}}
  // expected-remark @below {{mask: lo [0] hi [?]}}
  %2 = tt.load %p, %cs : tensor<8x!tt.ptr<f32>>
  tt.return
}
