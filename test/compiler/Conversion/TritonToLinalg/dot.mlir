// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Dot products: rank 2 and 3, precision, accumulators narrower than f32, integers; and
// dot_scaled, decoded to bf16 or f32.

// CHECK-LABEL: func.func private @plain
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<16x32xf16>, %[[B:[a-z0-9]+]]: tensor<32x8xf16>, %[[C:[a-z0-9]+]]: tensor<16x8xf32>
// CHECK:   %[[D:.*]] = linalg.matmul {input_precision = "tf32"} ins(%[[A]], %[[B]] : tensor<16x32xf16>, tensor<32x8xf16>) outs(%[[C]] : tensor<16x8xf32>) -> tensor<16x8xf32>
// CHECK:   linalg.matmul {input_precision = "hf32"} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[D]] : tensor<16x8xf32>)
tt.func private @plain(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  %e = tt.dot %a, %b, %d {input_precision = "hf32"} : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  tt.return %e : tensor<16x8xf32>
}

// -----

// An f16 result is accumulated in f32 and rounded once.
// CHECK-LABEL: func.func private @narrow
// CHECK:   %[[W:.*]] = arith.extf %{{.*}} : tensor<2x16x8xf16> to tensor<2x16x8xf32>
// CHECK:   %[[D:.*]] = linalg.batch_matmul {input_precision = "ieee"} ins(%{{.*}}) outs(%[[W]] : tensor<2x16x8xf32>)
// CHECK:   arith.truncf %[[D]] {round_mode = #hfusion.round_mode<rint>} : tensor<2x16x8xf32> to tensor<2x16x8xf16>
tt.func private @narrow(%a: tensor<2x16x32xf16>, %b: tensor<2x32x8xf16>, %c: tensor<2x16x8xf16>) -> tensor<2x16x8xf16> {
  %d = tt.dot %a, %b, %c : tensor<2x16x32xf16> * tensor<2x32x8xf16> -> tensor<2x16x8xf16>
  tt.return %d : tensor<2x16x8xf16>
}

// -----

// CHECK-LABEL: func.func private @integers
// CHECK:   linalg.matmul {input_precision = "ieee"} ins(%{{.*}} : tensor<16x32xi8>, tensor<32x8xi8>) outs(%{{.*}} : tensor<16x8xi32>) -> tensor<16x8xi32>
tt.func private @integers(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) -> tensor<16x8xi32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xi32>
  tt.return %d : tensor<16x8xi32>
}

// -----

// e2m1 is unpacked (low half first) and scaled; bf16 stays as it is. The scale byte becomes
// bf16's exponent, 0 is 2^-127 and 255 NaN.
// CHECK-LABEL: func.func private @scaled
// CHECK-DAG:   %[[TINY:.*]] = arith.constant 64 : i16
// CHECK-DAG:   %[[NAN:.*]] = arith.constant 32704 : i16
// CHECK:   %[[LO:.*]] = arith.bitcast %{{.*}} : tensor<16x32xi16> to tensor<16x32xbf16>
// CHECK:   arith.shrui %{{.*}} : tensor<16x32xi16>
// CHECK:   %[[HI:.*]] = arith.bitcast %{{.*}} : tensor<16x32xi16> to tensor<16x32xbf16>
// CHECK:   %[[L:.*]] = tensor.insert_slice %[[LO]] into %{{.*}}[0, 0] [16, 32] [1, 2] : tensor<16x32xbf16> into tensor<16x64xbf16>
// CHECK:   %[[V:.*]] = tensor.insert_slice %[[HI]] into %[[L]][0, 1] [16, 32] [1, 2]
// CHECK:   linalg.fill ins(%[[TINY]]
// CHECK:   linalg.fill ins(%[[NAN]]
// CHECK:   %[[S:.*]] = linalg.broadcast ins(%{{.*}} : tensor<16x2xbf16>) outs(%{{.*}} : tensor<16x2x32xbf16>) dimensions = [2]
// CHECK:   %[[W:.*]] = tensor.reshape %[[S]](%{{.*}}) : (tensor<16x2x32xbf16>, tensor<2xi64>) -> tensor<16x64xbf16>
// CHECK:   %[[A:.*]] = arith.mulf %[[V]], %[[W]] : tensor<16x64xbf16>
// CHECK:   linalg.matmul {input_precision = "ieee"} ins(%[[A]], %{{.*}} : tensor<16x64xbf16>, tensor<64x8xbf16>)
tt.func private @scaled(%a: tensor<16x32xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  tt.return %d : tensor<16x8xf32>
}

// -----

// The right scale is N x K/32 and is turned over; an f16 side makes both f32.
// CHECK-LABEL: func.func private @right
// CHECK:   arith.extf %{{.*}} : tensor<16x32xf16> to tensor<16x32xf32>
// CHECK:   arith.bitcast %{{.*}} : tensor<32x8xi8> to tensor<32x8xf8E5M2>
// CHECK:   linalg.transpose ins(%{{.*}} : tensor<8x32xf32>) outs(%{{.*}} : tensor<32x8xf32>) permutation = [1, 0]
// CHECK:   linalg.matmul {input_precision = "ieee"} ins(%{{.*}} : tensor<16x32xf32>, tensor<32x8xf32>)
tt.func private @right(%a: tensor<16x32xf16>, %b: tensor<32x8xi8>, %s: tensor<8x1xi8>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = tt.dot_scaled %a, %b scale %s, %c lhs = fp16 rhs = e5m2 {fastMath = true} : tensor<16x32xf16> * tensor<32x8xi8>, tensor<8x1xi8> -> tensor<16x8xf32>
  tt.return %d : tensor<16x8xf32>
}
