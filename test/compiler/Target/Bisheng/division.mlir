// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Integer division of tensors: 24 bits and fewer are exact as f32 divisions, the rest is not.

// CHECK-LABEL: func.func @signed
func.func @signed(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  // CHECK: %[[Q:.*]] = arith.divsi {{.*}} : tensor<64xi64>
  // CHECK: arith.trunci %[[Q]] : tensor<64xi64> to tensor<64xi32>
  %r = arith.divsi %x, %y : tensor<64xi32>
  return %r : tensor<64xi32>
}

// CHECK-LABEL: func.func @short
func.func @short(%x: tensor<64xi16>, %y: tensor<64xi16>) -> tensor<64xi16> {
  // CHECK-NEXT: arith.divsi %arg0, %arg1 : tensor<64xi16>
  %r = arith.divsi %x, %y : tensor<64xi16>
  return %r : tensor<64xi16>
}

// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  // CHECK-NOT: arith.{{div|rem}}ui
  // CHECK-DAG: arith.divsi {{.*}} : tensor<64xi64>
  // CHECK-DAG: arith.remsi {{.*}} : tensor<64xi64>
  %q = arith.divui %x, %y : tensor<64xi32>
  %r = arith.remui %x, %y : tensor<64xi32>
  return %q, %r : tensor<64xi32>, tensor<64xi32>
}

// No wider type holds these: element by element.
// CHECK-LABEL: func.func @unsigned_long
func.func @unsigned_long(%x: tensor<4x16xi64>, %y: tensor<4x16xi64>) -> tensor<4x16xi64> {
  // CHECK: scf.for
  // CHECK:   scf.for
  // CHECK:     tensor.extract %arg0
  // CHECK:     tensor.extract %arg1
  // CHECK:     arith.divui {{.*}} : i64
  // CHECK:     tensor.insert
  %r = arith.divui %x, %y : tensor<4x16xi64>
  return %r : tensor<4x16xi64>
}

// CHECK-LABEL: func.func @high_half
func.func @high_half(%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  // CHECK-DAG: %[[LOW:.*]] = arith.muli %arg0, %arg1
  // CHECK-DAG: %{{.*}}, %[[HIGH:.*]] = arith.mului_extended %arg0, %arg1
  // CHECK:     return %[[LOW]], %[[HIGH]]
  %low, %high = arith.mului_extended %x, %y : tensor<64xi32>
  return %low, %high : tensor<64xi32>, tensor<64xi32>
}
