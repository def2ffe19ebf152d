// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// The compiler forgets what a relation says about NaN. Ordered relations and `une` are right, and
// the negation of an ordered relation is the opposite unordered one.

// CHECK-LABEL: func.func @ult
func.func @ult(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK: %[[GE:.*]] = arith.cmpf oge, %arg0, %arg1
  // CHECK: %[[TRUE:.*]] = arith.constant dense<true>
  // CHECK: arith.xori %[[GE]], %[[TRUE]]
  %r = arith.cmpf ult, %x, %y : tensor<64xf32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @one
func.func @one(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK-DAG: %[[LT:.*]] = arith.cmpf olt
  // CHECK-DAG: %[[GT:.*]] = arith.cmpf ogt
  // CHECK:     arith.ori %[[LT]], %[[GT]]
  %r = arith.cmpf one, %x, %y : tensor<64xf32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @ueq
func.func @ueq(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK: %[[ONE:.*]] = arith.ori
  // CHECK: arith.xori %[[ONE]]
  %r = arith.cmpf ueq, %x, %y : tensor<64xf32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @uno
func.func @uno(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK-DAG: arith.cmpf une, %arg0, %arg0
  // CHECK-DAG: arith.cmpf une, %arg1, %arg1
  // CHECK:     arith.ori
  %r = arith.cmpf uno, %x, %y : tensor<64xf32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @ord
func.func @ord(%x: tensor<64xf16>, %y: tensor<64xf16>) -> tensor<64xi1> {
  // CHECK-DAG: arith.cmpf oeq, %arg0, %arg0
  // CHECK-DAG: arith.cmpf oeq, %arg1, %arg1
  // CHECK:     arith.andi
  %r = arith.cmpf ord, %x, %y : tensor<64xf16>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK-NEXT: arith.cmpf une, %arg0, %arg1
  // CHECK-NEXT: return
  %r = arith.cmpf une, %x, %y : tensor<64xf32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @is_nan
func.func @is_nan(%x: tensor<64xf32>) -> tensor<64xi1> {
  // CHECK-NEXT: arith.cmpf une, %arg0, %arg0
  %r = math.isnan %x : tensor<64xf32>
  return %r : tensor<64xi1>
}

// The library's negation of computed i16 compares runs away.
// CHECK-LABEL: func.func @ne_i16
func.func @ne_i16(%x: tensor<64xi16>, %y: tensor<64xi16>) -> tensor<64xi1> {
  // CHECK-COUNT-2: arith.extsi
  // CHECK:         arith.cmpi ne, {{.*}} : tensor<64xi32>
  %r = arith.cmpi ne, %x, %y : tensor<64xi16>
  return %r : tensor<64xi1>
}
