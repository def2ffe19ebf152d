// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// linalg.generic and linalg.map: arithmetic on tensors, else loops over scalars.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<8x16xf32>, %row: tensor<16xf32>, %t: tensor<16x8xf32>) -> tensor<8x16xf32> {
  // CHECK-NOT: linalg.generic
  // CHECK:     %[[ROW:.*]] = linalg.broadcast ins(%arg1
  // CHECK:     %[[T:.*]] = linalg.transpose ins(%arg2
  // CHECK:     %[[M:.*]] = arith.mulf %arg0, %{{.*}} : tensor<8x16xf32>
  // CHECK:     arith.addf %[[M]], %{{.*}} : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %t : tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %c : f32
      linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @arange
func.func @arange() -> tensor<16xi32> {
  // CHECK: linalg.generic
  // CHECK:   linalg.index 0
  %e = tensor.empty() : tensor<16xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<16xi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 0 : index
      %c = arith.index_cast %i : index to i32
      linalg.yield %c : i32
  } -> tensor<16xi32>
  return %r : tensor<16xi32>
}

// A contraction: its map drops a dimension, so scalars do it.
// CHECK-LABEL: func.func @contraction
func.func @contraction(%x: tensor<8x16xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: linalg.generic
  // CHECK:     scf.for
  // CHECK:       scf.for
  // CHECK:         tensor.extract %arg0
  // CHECK:         math.exp {{.*}} : f32
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%acc : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = math.exp %a : f32
      %s = arith.addf %m, %o : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func private @__hmf_sinh_fp32(f32) -> f32

// CHECK-LABEL: func.func @device_function
func.func @device_function(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: scf.for
  // CHECK:   %[[A:.*]] = tensor.extract %arg0
  // CHECK:   %[[R:.*]] = func.call @__hmf_sinh_fp32(%[[A]])
  // CHECK:   tensor.insert %[[R]]
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.map ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>)
    (%a: f32, %init: f32) {
      %v = func.call @__hmf_sinh_fp32(%a) : (f32) -> f32
      linalg.yield %v : f32
    }
  return %r : tensor<16xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-COUNT-4: tensor.insert
  // CHECK: arith.addi %arg0
  %c = arith.constant dense<[1, 2, 4, 8]> : tensor<4xi32>
  %r = arith.addi %x, %c : tensor<4xi32>
  return %r : tensor<4xi32>
}

// The shape of a reshape is read at compile time.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<64xi32>) -> tensor<4x16xi32> {
  // CHECK: arith.constant dense<[4, 16]>
  // CHECK: tensor.reshape
  %c = arith.constant dense<[4, 16]> : tensor<2xi64>
  %r = tensor.reshape %x(%c) : (tensor<64xi32>, tensor<2xi64>) -> tensor<4x16xi32>
  return %r : tensor<4x16xi32>
}

// The compiler folds this to the constant.
// CHECK-LABEL: func.func @elements
func.func @elements() -> tensor<2xi32> {
  // CHECK-NOT:     tensor.from_elements
  // CHECK-COUNT-2: tensor.insert
  %a = arith.constant 5 : i32
  %b = arith.constant 7 : i32
  %r = tensor.from_elements %a, %b : tensor<2xi32>
  return %r : tensor<2xi32>
}
