// RUN: piton-opt %s -triton-to-hfusion | FileCheck %s

// i8 cannot hold the number of the extra bin.
// CHECK-LABEL: tt.func @narrow(
// CHECK:         arith.extui %{{.*}} : tensor<64xi8> to tensor<64xi32>
// CHECK:         arith.constant dense<256> : tensor<64xi32>
// CHECK:         hfusion.histogram %{{.*}}, 257 : tensor<64xi32> -> tensor<257xi32>
tt.func @narrow(%x: tensor<64xi8>, %m: tensor<64xi1>) -> tensor<256xi32> {
  %h = tt.histogram %x, %m : tensor<64xi8> -> tensor<256xi32>
  tt.return %h : tensor<256xi32>
}

// Scalars go through a tensor of one element.
// CHECK-LABEL: tt.func @scalar(
// CHECK:         tensor.from_elements %{{.*}} : tensor<1xf32>
// CHECK:         hfusion.cast {round_mode = #hfusion.round_mode<trunc>}
// CHECK:         tensor.extract
tt.func @scalar(%x: f32) -> bf16 {
  %y = tt.fp_to_fp %x, rounding = rtz : f32 -> bf16
  tt.return %y : bf16
}

// Rounding to nearest, and widening, are not this pass's work.
// CHECK-LABEL: tt.func @left(
// CHECK:         tt.fp_to_fp %{{.*}}, rounding = rtne
// CHECK:         tt.fp_to_fp %{{.*}} : tensor<8xf16> -> tensor<8xf32>
tt.func @left(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf16>
  %z = tt.fp_to_fp %y : tensor<8xf16> -> tensor<8xf32>
  tt.return %z : tensor<8xf32>
}
