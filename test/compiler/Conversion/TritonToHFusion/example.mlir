// RUN: piton-opt %s -triton-to-hfusion | FileCheck %s

// CHECK-LABEL: tt.func @histogram(
// CHECK-SAME:    %[[X:.*]]: tensor<64xi32>
// CHECK:         %[[H:.*]] = hfusion.histogram %[[X]], 16 : tensor<64xi32> -> tensor<16xi32>
// CHECK:         tt.return %[[H]]
tt.func @histogram(%x: tensor<64xi32>) -> tensor<16xi32> {
  %h = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>
  tt.return %h : tensor<16xi32>
}

// Masked lanes go to bin 16, which is cut off.
// CHECK-LABEL: tt.func @masked(
// CHECK-SAME:    %[[X:.*]]: tensor<64xi32>, %[[M:.*]]: tensor<64xi1>
// CHECK:         %[[E:.*]] = arith.constant dense<16> : tensor<64xi32>
// CHECK:         %[[S:.*]] = arith.select %[[M]], %[[X]], %[[E]]
// CHECK:         %[[H:.*]] = hfusion.histogram %[[S]], 17 : tensor<64xi32> -> tensor<17xi32>
// CHECK:         %[[C:.*]] = tensor.extract_slice %[[H]][0] [16] [1] : tensor<17xi32> to tensor<16xi32>
// CHECK:         tt.return %[[C]]
tt.func @masked(%x: tensor<64xi32>, %m: tensor<64xi1>) -> tensor<16xi32> {
  %h = tt.histogram %x, %m : tensor<64xi32> -> tensor<16xi32>
  tt.return %h : tensor<16xi32>
}

// CHECK-LABEL: tt.func @toward_zero(
// CHECK:         hfusion.cast {round_mode = #hfusion.round_mode<trunc>} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf16>) -> tensor<8xf16>
tt.func @toward_zero(%x: tensor<8xf32>) -> tensor<8xf16> {
  %y = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  tt.return %y : tensor<8xf16>
}

// CHECK-LABEL: tt.func @mod(
// CHECK:         hfusion.elemwise_binary {fun = #hfusion.binary_fn<mod>} ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
tt.func @mod(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = ascend.mod %x, %y : tensor<8xf32>
  tt.return %z : tensor<8xf32>
}
