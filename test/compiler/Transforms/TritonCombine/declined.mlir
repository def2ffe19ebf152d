// RUN: piton-opt %s -triton-combine | FileCheck %s
// What must stay as it is.

// A sum of products does not become a dot of lower precision.
// CHECK-LABEL: tt.func @sum_of_products(
// CHECK-NOT:     tt.dot
// CHECK:         tt.reduce
tt.func @sum_of_products(%x: tensor<16x16x1xf32>, %y: tensor<1x16x16xf32>) -> tensor<16x16xf32> {
  %a = tt.broadcast %x : tensor<16x16x1xf32> -> tensor<16x16x16xf32>
  %b = tt.broadcast %y : tensor<1x16x16xf32> -> tensor<16x16x16xf32>
  %p = arith.mulf %a, %b : tensor<16x16x16xf32>
  %r = "tt.reduce"(%p) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %m: f32):
    %s = arith.addf %l, %m : f32
    tt.reduce.return %s : f32
  }) : (tensor<16x16x16xf32>) -> tensor<16x16xf32>
  tt.return %r : tensor<16x16xf32>
}

// 32-bit offsets that are not constant: the sum might wrap where the pointers do not.
// CHECK-LABEL: tt.func @might_wrap(
// CHECK-COUNT-2: tt.addptr
tt.func @might_wrap(%p: !tt.ptr<f32>, %i: i32, %j: i32) -> !tt.ptr<f32> {
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %r = tt.addptr %q, %j : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}

// Constants whose sum wraps.
// CHECK-LABEL: tt.func @wraps(
// CHECK-COUNT-2: tt.addptr
tt.func @wraps(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %c = arith.constant 2147483647 : i32
  %q = tt.addptr %p, %c : !tt.ptr<f32>, i32
  %r = tt.addptr %q, %c : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}

// A dot with another use, and one that may round on its way.
// CHECK-LABEL: tt.func @dots(
// CHECK-COUNT-2: arith.addf
tt.func @dots(%a: tensor<16x32xf8E5M2>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %zero : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %e = arith.addf %d, %c : tensor<16x16xf32>
  %f = tt.dot %a, %b, %zero {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %g = arith.addf %f, %c : tensor<16x16xf32>
  tt.return %d, %e, %g : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// The false value does not exist yet where the load stands.
// CHECK-LABEL: tt.func @late_value(
// CHECK:         arith.select
tt.func @late_value(%p: !tt.ptr<f32>, %c: i1) -> f32 {
  %l = tt.load %p, %c : !tt.ptr<f32>
  %v = math.exp %l : f32
  %w = arith.addf %v, %v : f32
  %s = arith.select %c, %l, %w : f32
  tt.return %s : f32
}

// Three elements do not change places; the exclusive or along another dimension is no exchange.
// CHECK-LABEL: tt.func @no_exchange(
// CHECK-NOT:     ascend.flip
tt.func @no_exchange(%x: tensor<3x2xi32>, %y: tensor<2x2xi32>) -> (tensor<3x2xi32>, tensor<2x2xi32>) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<3x2xi32>) -> tensor<2xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %2 = tt.broadcast %1 : tensor<1x2xi32> -> tensor<3x2xi32>
  %3 = arith.xori %x, %2 : tensor<3x2xi32>
  %4 = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<2x2xi32>) -> tensor<2xi32>
  %5 = tt.expand_dims %4 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %6 = tt.broadcast %5 : tensor<2x1xi32> -> tensor<2x2xi32>
  %7 = arith.xori %y, %6 : tensor<2x2xi32>
  tt.return %3, %7 : tensor<3x2xi32>, tensor<2x2xi32>
}
