// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Conversions from and to i1 and i8, and roundings that the compiler does not have.

// CHECK-LABEL: func.func @to_bool
func.func @to_bool(%x: tensor<64xi32>) -> tensor<64xi1> {
  // CHECK: %[[LOW:.*]] = arith.andi %arg0
  // CHECK: arith.cmpi eq, %[[LOW]]
  %r = arith.trunci %x : tensor<64xi32> to tensor<64xi1>
  return %r : tensor<64xi1>
}

// CHECK-LABEL: func.func @sign_of_bool
func.func @sign_of_bool(%x: tensor<64xi1>) -> (tensor<64xi32>, tensor<64xf32>) {
  // CHECK-DAG: arith.constant -1 : i32
  // CHECK-DAG: arith.select %arg0, {{.*}} : tensor<64xi1>, tensor<64xi32>
  // CHECK-DAG: arith.constant -1.000000e+00 : f32
  // CHECK-DAG: arith.select %arg0, {{.*}} : tensor<64xi1>, tensor<64xf32>
  %r = arith.extsi %x : tensor<64xi1> to tensor<64xi32>
  %f = arith.sitofp %x : tensor<64xi1> to tensor<64xf32>
  return %r, %f : tensor<64xi32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @half_to_byte
func.func @half_to_byte(%x: tensor<64xf16>) -> tensor<64xi8> {
  // CHECK: %[[F:.*]] = arith.extf %arg0 : tensor<64xf16> to tensor<64xf32>
  // CHECK: %[[I:.*]] = arith.fptosi %[[F]] : tensor<64xf32> to tensor<64xi32>
  // CHECK: arith.trunci %[[I]] : tensor<64xi32> to tensor<64xi8>
  %r = arith.fptosi %x : tensor<64xf16> to tensor<64xi8>
  return %r : tensor<64xi8>
}

// CHECK-LABEL: func.func @toward_zero
func.func @toward_zero(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xbf16>) {
  // CHECK-DAG: math.ceil
  // CHECK-DAG: math.floor
  // CHECK-DAG: arith.bitcast %arg0 : tensor<64xf32> to tensor<64xi32>
  // CHECK-DAG: arith.constant -65536 : i32
  // CHECK:     arith.truncf %{{[^ ]+}} : tensor<64xf32> to tensor<64xbf16>
  // CHECK-NOT: math.trunc
  %r = math.trunc %x : tensor<64xf32>
  %b = arith.truncf %x toward_zero : tensor<64xf32> to tensor<64xbf16>
  return %r, %b : tensor<64xf32>, tensor<64xbf16>
}

// CHECK-LABEL: func.func @roundings
func.func @roundings(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK-NOT: math.round
  // CHECK:     return
  %r = math.round %x : tensor<64xf32>
  %e = math.roundeven %x : tensor<64xf32>
  return %r, %e : tensor<64xf32>, tensor<64xf32>
}

// i1 tensors are packed: an element is read as a byte.
// CHECK-LABEL: func.func @bool_element
func.func @bool_element(%x: tensor<64xi1>, %i: index) -> (i1, tensor<64xi1>) {
  // CHECK: %[[B:.*]] = arith.extui %arg0 : tensor<64xi1> to tensor<64xi8>
  // CHECK: tensor.extract %{{.*}} : tensor<64xi8>
  // CHECK: arith.cmpi ne, {{.*}} : i8
  // CHECK: tensor.insert %{{.*}} : tensor<64xi8>
  // CHECK: arith.cmpi ne, {{.*}} : tensor<64xi8>
  %e = tensor.extract %x[%i] : tensor<64xi1>
  %r = tensor.insert %e into %x[%i] : tensor<64xi1>
  return %e, %r : i1, tensor<64xi1>
}
