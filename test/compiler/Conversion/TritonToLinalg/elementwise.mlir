// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
// RUN: piton-opt %s --triton-to-linalg=named-ops=false --split-input-file | FileCheck %s --check-prefix=GENERIC
//
// Elementwise ops on tensors and scalars. arith and math stay on tensors.

// CHECK-LABEL: func.func private @floats
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<8xf32>
// GENERIC-LABEL: func.func private @floats
// GENERIC: linalg.generic
// GENERIC: arith.divf %{{.*}} : f32
tt.func private @floats(%x: tensor<8xf32>, %y: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) {
  // CHECK: %[[D:.*]] = arith.divf %[[X]], %[[Y]] : tensor<8xf32>
  %d = tt.precise_divf %x, %y : tensor<8xf32>
  // CHECK: %[[S:.*]] = math.sqrt %[[D]] : tensor<8xf32>
  %s = tt.precise_sqrt %d : tensor<8xf32>
  // CHECK: %[[L:.*]] = arith.maxnumf %[[X]], %[[Y]] : tensor<8xf32>
  // CHECK: arith.minnumf %[[L]], %[[S]] : tensor<8xf32>
  %c = tt.clampf %x, %y, %s, propagateNan = none : tensor<8xf32>
  // CHECK: %[[LN:.*]] = arith.maximumf %[[X]], %[[Y]] : tensor<8xf32>
  // CHECK: arith.minimumf %[[LN]], %[[S]] : tensor<8xf32>
  %cn = tt.clampf %x, %y, %s, propagateNan = all : tensor<8xf32>
  // CHECK: arith.bitcast %[[X]] : tensor<8xf32> to tensor<8xi32>
  %b = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  tt.return %s, %c, %cn, %d, %b : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>
}

// -----

// Widening, narrowing (marked), towards zero, and between two formats of one width.
// CHECK-LABEL: func.func private @formats
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[H:[a-z0-9]+]]: tensor<8xf16>, %[[S:[a-z0-9]+]]: f32
tt.func private @formats(%x: tensor<8xf32>, %h: tensor<8xf16>, %s: f32)
    -> (tensor<8xf8E5M2>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>, f16) {
  // CHECK-DAG: arith.truncf %[[X]] {round_mode = #hfusion.round_mode<rint>} : tensor<8xf32> to tensor<8xf8E5M2>
  %a = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  // CHECK-DAG: arith.truncf %[[X]] toward_zero : tensor<8xf32> to tensor<8xf16>
  %b = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  // CHECK-DAG: %[[W:.*]] = arith.extf %[[H]] : tensor<8xf16> to tensor<8xf32>
  %c = tt.fp_to_fp %h : tensor<8xf16> -> tensor<8xf32>
  // CHECK-DAG: arith.truncf %[[W]] {round_mode = #hfusion.round_mode<rint>} : tensor<8xf32> to tensor<8xbf16>
  %d = tt.fp_to_fp %h, rounding = rtne : tensor<8xf16> -> tensor<8xbf16>
  // CHECK-DAG: arith.truncf %[[S]] {round_mode = #hfusion.round_mode<rint>} : f32 to f16
  %e = tt.fp_to_fp %s, rounding = rtne : f32 -> f16
  tt.return %a, %b, %c, %d, %e : tensor<8xf8E5M2>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>, f16
}

// -----

// mulhiui is unsigned.
// CHECK-LABEL: func.func private @mulhi
// CHECK:   %{{.*}}, %[[HIGH:.*]] = arith.mului_extended %{{.*}} : tensor<8xi32>
// CHECK:   return %[[HIGH]]
tt.func private @mulhi(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %h = tt.mulhiui %x, %y : tensor<8xi32>
  tt.return %h : tensor<8xi32>
}

// -----

// Splat constants and splats are fills; other constants stay.
// CHECK-LABEL: func.func private @constants
// CHECK-SAME:    %[[S:[a-z0-9]+]]: f32
// CHECK-DAG:   %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:   %[[V:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:   linalg.fill ins(%[[V]] : f32) outs(%{{.*}} : tensor<2xf32>) -> tensor<2xf32>
// CHECK:   linalg.fill ins(%[[S]] : f32) outs(%{{.*}} : tensor<2xf32>) -> tensor<2xf32>
tt.func private @constants(%s: f32) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<3.0> : tensor<2xf32>
  %c = tt.splat %s : f32 -> tensor<2xf32>
  tt.return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
