// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Matrix products: indexing maps are lost on the way to MLIR 19, half accumulators do not exist.

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: %[[T:.*]] = linalg.transpose ins(%arg0 : tensor<32x32xf16>) {{.*}} permutation = [1, 0]
  // CHECK: linalg.matmul {input_precision = "ieee"} ins(%{{.*}}, %arg1
  // CHECK-NOT: indexing_maps
  %r = linalg.matmul indexing_maps = [#a, #b, #c] {input_precision = "ieee"}
      ins(%a, %b : tensor<32x32xf16>, tensor<32x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @half_accumulator
func.func @half_accumulator(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf16>) -> tensor<32x32xf16> {
  // CHECK: %[[C:.*]] = arith.extf %arg2
  // CHECK: %[[R:.*]] = linalg.matmul ins(%arg0, %arg1 {{.*}}) outs(%[[C]] : tensor<32x32xf32>)
  // CHECK: arith.truncf %[[R]]
  %r = linalg.matmul ins(%a, %b : tensor<32x32xf16>, tensor<32x32xf16>) outs(%c : tensor<32x32xf16>) -> tensor<32x32xf16>
  return %r : tensor<32x32xf16>
}
