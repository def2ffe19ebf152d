// RUN: piton-opt %s -triton-reorder-broadcast | FileCheck %s

// CHECK-LABEL: tt.func @splats(
// CHECK-SAME:    %[[A:.*]]: f32
// CHECK:         %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         %[[M:.*]] = arith.mulf %[[A]], %[[C]] : f32
// CHECK:         tt.splat %[[M]] : f32 -> tensor<128xf32>
tt.func @splats(%a: f32) -> tensor<128xf32> {
  %s = tt.splat %a : f32 -> tensor<128xf32>
  %c = arith.constant dense<2.0> : tensor<128xf32>
  %m = arith.mulf %s, %c : tensor<128xf32>
  tt.return %m : tensor<128xf32>
}

// CHECK-LABEL: tt.func @broadcasts(
// CHECK-SAME:    %[[A:.*]]: tensor<64x1xf32>, %[[S:.*]]: f32
// CHECK:         %[[T:.*]] = tt.splat %[[S]] : f32 -> tensor<64x1xf32>
// CHECK:         %[[M:.*]] = arith.mulf %[[A]], %[[T]] : tensor<64x1xf32>
// CHECK:         tt.broadcast %[[M]] : tensor<64x1xf32> -> tensor<64x32xf32>
tt.func @broadcasts(%a: tensor<64x1xf32>, %s: f32) -> tensor<64x32xf32> {
  %x = tt.broadcast %a : tensor<64x1xf32> -> tensor<64x32xf32>
  %y = tt.splat %s : f32 -> tensor<64x32xf32>
  %m = arith.mulf %x, %y : tensor<64x32xf32>
  tt.return %m : tensor<64x32xf32>
}

// Comparisons, pointers and scalar conditions move as well.
// CHECK-LABEL: tt.func @kinds(
// CHECK:         arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK:         tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<f32>, i32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
tt.func @kinds(%p: !tt.ptr<f32>, %i: i32, %j: i32, %c: i1) -> (tensor<8xi1>, tensor<8x!tt.ptr<f32>>, tensor<8xi32>) {
  %a = tt.splat %i : i32 -> tensor<8xi32>
  %b = tt.splat %j : i32 -> tensor<8xi32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %0 = arith.cmpi slt, %a, %b : tensor<8xi32>
  %1 = tt.addptr %q, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %2 = arith.select %c, %a, %b : tensor<8xi32>
  tt.return %0, %1, %2 : tensor<8xi1>, tensor<8x!tt.ptr<f32>>, tensor<8xi32>
}
