// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// One op from its neutral value is reduced as it is; everything else becomes a loop over slices.

// CHECK-LABEL: func.func @start_value
func.func @start_value(%x: tensor<8x64xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]]
  // CHECK: %[[SUM:[a-z0-9_]+]] = linalg.reduce ins(%arg0 : tensor<8x64xf32>) outs(%[[INIT]]
  // CHECK: arith.addf %[[SUM]], %arg1
  %r = linalg.reduce ins(%x : tensor<8x64xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %s = arith.addf %in, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @unsigned_max
func.func @unsigned_max(%x: tensor<8x64xi32>) -> tensor<8xi32> {
  // CHECK: %[[X:.*]] = arith.xori %arg0
  // CHECK: arith.constant -2147483648 : i32
  // CHECK: %[[R:[a-z0-9_]+]] = linalg.reduce ins(%[[X]]
  // CHECK: arith.maxsi
  // CHECK: arith.xori %[[R]]
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %r = linalg.reduce ins(%x : tensor<8x64xi32>) outs(%init : tensor<8xi32>) dimensions = [1]
    (%in: i32, %acc: i32) {
      %s = arith.maxui %in, %acc : i32
      linalg.yield %s : i32
    }
  return %r : tensor<8xi32>
}

// Only the last op of this body would be compiled.
// CHECK-LABEL: func.func @several_ops
func.func @several_ops(%x: tensor<64x8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: linalg.reduce
  // CHECK:     %[[FIRST:.*]] = tensor.extract_slice %arg0[0, 0] [1, 8] [1, 1]
  // CHECK:     scf.for %[[K:.*]] = {{.*}} iter_args(%[[ACC:.*]] = {{.*}}) -> (tensor<8xf32>)
  // CHECK:       %[[IN:.*]] = tensor.extract_slice %arg0[%[[K]], 0]
  // CHECK:       %[[P:.*]] = arith.mulf %[[IN]], %[[ACC]] : tensor<8xf32>
  // CHECK:       arith.addf %[[P]], %[[IN]] : tensor<8xf32>
  %init = tensor.empty() : tensor<8xf32>
  %r = linalg.reduce ins(%x : tensor<64x8xf32>) outs(%init : tensor<8xf32>) dimensions = [0]
    (%in: f32, %acc: f32) {
      %p = arith.mulf %in, %acc : f32
      %s = arith.addf %p, %in : f32
      linalg.yield %s : f32
    }
  return %r : tensor<8xf32>
}

// Two results that are no position of an extremum.
// CHECK-LABEL: func.func @two_results
func.func @two_results(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NOT: linalg.reduce
  // CHECK:     scf.for {{.*}} -> (f32, f32)
  // CHECK:       arith.addf {{.*}} : f32
  // CHECK:       arith.maximumf {{.*}} : f32
  %a = tensor.empty() : tensor<f32>
  %b = tensor.empty() : tensor<f32>
  %r:2 = linalg.reduce ins(%x, %y : tensor<64xf32>, tensor<64xf32>)
      outs(%a, %b : tensor<f32>, tensor<f32>) dimensions = [0]
    (%in: f32, %in2: f32, %acc: f32, %acc2: f32) {
      %s = arith.addf %in, %acc : f32
      %m = arith.maximumf %in2, %acc2 : f32
      linalg.yield %s, %m : f32, f32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @argmax_bf16
func.func @argmax_bf16(%x: tensor<8x64xbf16>, %i: tensor<8x64xi32>) -> (tensor<8xbf16>, tensor<8xi32>) {
  // CHECK: %[[WIDE:.*]] = arith.extf %arg0
  // CHECK: %[[R:.*]]:2 = linalg.reduce ins(%[[WIDE]], %arg1
  // CHECK: reduce_mode = "max_with_index"
  // CHECK: arith.cmpf ogt, {{.*}} : f32
  // CHECK: arith.truncf %[[R]]#0
  %low = arith.constant 0xFF80 : bf16
  %none = arith.constant -1 : i32
  %e = tensor.empty() : tensor<8xbf16>
  %ei = tensor.empty() : tensor<8xi32>
  %v = linalg.fill ins(%low : bf16) outs(%e : tensor<8xbf16>) -> tensor<8xbf16>
  %vi = linalg.fill ins(%none : i32) outs(%ei : tensor<8xi32>) -> tensor<8xi32>
  %r:2 = linalg.reduce ins(%x, %i : tensor<8x64xbf16>, tensor<8x64xi32>)
      outs(%v, %vi : tensor<8xbf16>, tensor<8xi32>) dimensions = [1]
      {reduce_mode = "max_with_index", tie_break_left = "true"}
    (%in: bf16, %ini: i32, %acc: bf16, %acci: i32) {
      %g = arith.cmpf ogt, %in, %acc : bf16
      %eq = arith.cmpf oeq, %in, %acc : bf16
      %lt = arith.cmpi slt, %ini, %acci : i32
      %t = arith.andi %eq, %lt : i1
      %o = arith.ori %g, %t : i1
      %sv = arith.select %o, %in, %acc : bf16
      %si = arith.select %o, %ini, %acci : i32
      linalg.yield %sv, %si : bf16, i32
    }
  return %r#0, %r#1 : tensor<8xbf16>, tensor<8xi32>
}

// The library skips NaN.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  // CHECK:     arith.maxnumf
  // CHECK:     arith.cmpf une, %arg0, %arg0
  // CHECK:     arith.constant 0x7FC00000 : f32
  // CHECK:     arith.select
  // CHECK-NOT: arith.maximumf
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce ins(%x : tensor<8x64xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %s = arith.maximumf %in, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<8xf32>
}
