// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Unsigned arithmetic of 16 bits and more: signed ops around a flipped sign bit or a mask.

// CHECK-LABEL: func.func @shift_by_constant
func.func @shift_by_constant(%x: tensor<64xi32>) -> tensor<64xi32> {
  // CHECK-NOT: arith.shrui
  // CHECK:     %[[S:.*]] = arith.shrsi
  // CHECK:     %[[MASK:.*]] = arith.constant 536870911 : i32
  // CHECK:     %[[FILL:.*]] = linalg.fill ins(%[[MASK]]
  // CHECK:     arith.andi %[[S]], %[[FILL]]
  %k = arith.constant dense<3> : tensor<64xi32>
  %r = arith.shrui %x, %k : tensor<64xi32>
  return %r : tensor<64xi32>
}

// CHECK-LABEL: func.func @shift_by_tensor
func.func @shift_by_tensor(%x: tensor<64xi16>, %s: tensor<64xi16>) -> tensor<64xi16> {
  // CHECK-NOT: arith.shrui
  // CHECK:     %[[S:.*]] = arith.shrsi %arg0, %arg1
  // CHECK:     arith.constant 32767 : i16
  // CHECK:     %[[M:.*]] = arith.shrsi %{{.*}}, %arg1
  // CHECK:     %[[D:.*]] = arith.shli %[[M]]
  // CHECK:     %[[O:.*]] = arith.ori %[[D]]
  // CHECK:     arith.andi %[[S]], %[[O]]
  %r = arith.shrui %x, %s : tensor<64xi16>
  return %r : tensor<64xi16>
}

// CHECK-LABEL: func.func @extrema
func.func @extrema(%x: tensor<64xi64>, %y: tensor<64xi64>) -> (tensor<64xi64>, tensor<64xi64>) {
  // CHECK-NOT: arith.minui
  // CHECK-NOT: arith.maxui
  // CHECK:     arith.constant -9223372036854775808 : i64
  // CHECK:     %[[X:.*]] = arith.xori %arg0
  // CHECK:     %[[Y:.*]] = arith.xori %arg1
  // CHECK:     %[[M:.*]] = arith.m{{ax|in}}si %[[X]], %[[Y]]
  // CHECK:     arith.xori %[[M]]
  %a = arith.maxui %x, %y : tensor<64xi64>
  %b = arith.minui %x, %y : tensor<64xi64>
  return %a, %b : tensor<64xi64>, tensor<64xi64>
}

// Bytes are widened by the compiler itself, rightly.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: tensor<64xi8>, %y: tensor<64xi8>) -> tensor<64xi8> {
  // CHECK: arith.maxui
  // CHECK: arith.shrui
  %a = arith.maxui %x, %y : tensor<64xi8>
  %b = arith.shrui %a, %y : tensor<64xi8>
  return %b : tensor<64xi8>
}

// CHECK-LABEL: func.func @compare
func.func @compare(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi1> {
  // CHECK: %[[X:.*]] = arith.xori %arg0
  // CHECK: %[[Y:.*]] = arith.xori %arg1
  // CHECK: arith.cmpi slt, %[[X]], %[[Y]]
  %r = arith.cmpi ult, %x, %y : tensor<64xi32>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @extend
func.func @extend(%x: tensor<64xi32>) -> tensor<64xi64> {
  // CHECK-NOT: arith.extui
  // CHECK:     arith.extsi %arg0
  // CHECK:     arith.constant 4294967295 : i64
  // CHECK:     arith.andi
  %r = arith.extui %x : tensor<64xi32> to tensor<64xi64>
  return %r : tensor<64xi64>
}

// CHECK-LABEL: func.func @to_float
func.func @to_float(%x: tensor<64xi32>) -> tensor<64xf32> {
  // CHECK-NOT: arith.uitofp
  // CHECK:     arith.extsi %arg0 : tensor<64xi32> to tensor<64xi64>
  // CHECK:     %[[W:.*]] = arith.andi
  // CHECK:     arith.sitofp %[[W]] : tensor<64xi64> to tensor<64xf32>
  %r = arith.uitofp %x : tensor<64xi32> to tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @from_float
func.func @from_float(%x: tensor<64xf32>) -> tensor<64xi16> {
  // CHECK: %[[W:.*]] = arith.fptosi %arg0 : tensor<64xf32> to tensor<64xi32>
  // CHECK: arith.trunci %[[W]] : tensor<64xi32> to tensor<64xi16>
  %r = arith.fptoui %x : tensor<64xf32> to tensor<64xi16>
  return %r : tensor<64xi16>
}
