// RUN: piton-opt %s -triton-combine | FileCheck %s

// CHECK-LABEL: tt.func @dot(
// CHECK-SAME:    %[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x16xf16>, %[[C:.*]]: tensor<16x16xf32>
// CHECK:         %[[D:.*]] = tt.dot %[[A]], %[[B]], %[[C]], inputPrecision = tf32
// CHECK:         tt.return %[[D]]
tt.func @dot(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %e = arith.addf %d, %c : tensor<16x16xf32>
  tt.return %e : tensor<16x16xf32>
}

// CHECK-LABEL: tt.func @pointers(
// CHECK-SAME:    %[[P:.*]]: !tt.ptr<f32>, %[[I:.*]]: i64, %[[J:.*]]: i64
// CHECK:         %[[S:.*]] = arith.addi %[[I]], %[[J]] : i64
// CHECK:         tt.addptr %[[P]], %[[S]] {tt.divisibility = dense<16> : tensor<1xi32>} : !tt.ptr<f32>, i64
tt.func @pointers(%p: !tt.ptr<f32>, %i: i64, %j: i64) -> !tt.ptr<f32> {
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i64
  %r = tt.addptr %q, %j {tt.divisibility = dense<16> : tensor<1xi32>} : !tt.ptr<f32>, i64
  tt.return %r : !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @select(
// CHECK-SAME:    %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[V:.*]]: tensor<8xf32>, %[[C:.*]]: i1
// CHECK:         %[[M:.*]] = tt.splat %[[C]]
// CHECK:         %[[L:.*]] = tt.load %[[P]], %[[M]], %[[V]]
// CHECK-NOT:     arith.select
// CHECK:         tt.return %[[L]]
tt.func @select(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %l = tt.load %p, %m, %zero : tensor<8x!tt.ptr<f32>>
  %s = arith.select %c, %l, %v : tensor<8xf32>
  tt.return %s : tensor<8xf32>
}

// CHECK-LABEL: tt.func @descriptor(
// CHECK:         tt.descriptor_load %{{.*}} : !tt.tensordesc<tensor<1x8x16xf32>> -> tensor<8x16xf32>
// CHECK-NOT:     tt.reshape
tt.func @descriptor(%d: !tt.tensordesc<tensor<1x8x16xf32>>, %i: i32) -> tensor<8x16xf32> {
  %l = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf32>> -> tensor<1x8x16xf32>
  %r = tt.reshape %l : tensor<1x8x16xf32> -> tensor<8x16xf32>
  tt.return %r : tensor<8x16xf32>
}

// What tl.flip of a row of four becomes.
// CHECK-LABEL: tt.func @flip(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4xi32>
// CHECK-NEXT:    %[[F:.*]] = ascend.flip %[[X]] {dim = 1 : i64} : tensor<3x4xi32>
// CHECK-NEXT:    tt.return %[[F]]
tt.func @flip(%x: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %0 = tt.reshape %x : tensor<3x4xi32> -> tensor<3x2x2xi32>
  %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<3x2x2xi32>) -> tensor<3x2xi32>
  %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<3x2xi32> -> tensor<3x1x2xi32>
  %3 = tt.broadcast %2 : tensor<3x1x2xi32> -> tensor<3x2x2xi32>
  %4 = arith.xori %0, %3 : tensor<3x2x2xi32>
  %5 = "tt.reduce"(%4) <{axis = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %b, %a : i32
    tt.reduce.return %c : i32
  }) : (tensor<3x2x2xi32>) -> tensor<3x2xi32>
  %6 = tt.expand_dims %5 {axis = 2 : i32} : tensor<3x2xi32> -> tensor<3x2x1xi32>
  %7 = tt.broadcast %6 : tensor<3x2x1xi32> -> tensor<3x2x2xi32>
  %8 = arith.xori %7, %4 : tensor<3x2x2xi32>
  %9 = tt.reshape %8 : tensor<3x2x2xi32> -> tensor<3x4xi32>
  tt.return %9 : tensor<3x4xi32>
}
