// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
// RUN: piton-opt %s --legalize-for-bisheng=family=a5 | FileCheck %s --check-prefix=A5
//
// Local memory whose rows the A2/A3 compiler pads to 32 bytes: a tensor that a loop fills is copied
// before it is reshaped, and a short last axis is repeated before arithmetic sees it.

// A5-NOT: linalg.copy

// CHECK-LABEL: func.func @filled_then_reshaped
func.func @filled_then_reshaped(%m: memref<32xi32>) -> tensor<8x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<32xi32>
  // CHECK: %[[FILLED:.*]] = scf.for
  %filled = scf.for %i = %c0 to %c32 step %c1 iter_args(%t = %empty) -> (tensor<32xi32>) {
    %v = memref.load %m[%i] : memref<32xi32>
    %n = tensor.insert %v into %t[%i] : tensor<32xi32>
    scf.yield %n : tensor<32xi32>
  }
  // CHECK: %[[COPY:.*]] = linalg.copy ins(%[[FILLED]] : tensor<32xi32>)
  // CHECK: tensor.reshape %[[COPY]](
  %shape = arith.constant dense<[4, 8]> : tensor<2xi64>
  %reshaped = tensor.reshape %filled(%shape) : (tensor<32xi32>, tensor<2xi64>) -> tensor<4x8xi32>
  %into = tensor.empty() : tensor<8x4xi32>
  %r = linalg.transpose ins(%reshaped : tensor<4x8xi32>) outs(%into : tensor<8x4xi32>) permutation = [1, 0]
  return %r : tensor<8x4xi32>
}

// CHECK-LABEL: func.func @short_rows
func.func @short_rows(%x: tensor<4x2xf32>, %y: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %e = tensor.empty() : tensor<4x2x3xf32>
  // CHECK: %[[SPREAD:.*]] = linalg.broadcast
  // CHECK: %[[COPY:.*]] = linalg.copy ins(%[[SPREAD]] : tensor<4x2x3xf32>)
  // CHECK: arith.addf %arg1, %[[COPY]]
  %b = linalg.broadcast ins(%x : tensor<4x2xf32>) outs(%e : tensor<4x2x3xf32>) dimensions = [2]
  %r = arith.addf %y, %b : tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

// Arithmetic into one row of a tensor: operands of two ranks are refused.
// CHECK-LABEL: func.func @row_of_arithmetic
func.func @row_of_arithmetic(%x: tensor<4xf32>, %y: tensor<8x4xf32>, %z: tensor<8x1x4xf32>, %i: index)
    -> (tensor<8x4xf32>, tensor<8x1x4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[SUM:.*]] = arith.addf
  %s = arith.addf %x, %x : tensor<4xf32>
  // CHECK: %[[ROW:.*]] = tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]] output_shape [1, 4]
  // CHECK: tensor.insert_slice %[[ROW]] into %{{.*}}[%{{.*}}, 0] [1, 4] [1, 1] : tensor<1x4xf32>
  %0 = tensor.insert_slice %s into %y[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  // CHECK: tensor.insert_slice %{{.*}} : tensor<1x1x4xf32> into tensor<8x1x4xf32>
  %1 = tensor.insert_slice %s into %z[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<8x1x4xf32>
  // CHECK: tensor.insert_slice %arg0 into
  %2 = tensor.insert_slice %x into %y[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<8x1x4xf32>, tensor<8x4xf32>
}

// A column goes in element by element.
// CHECK-LABEL: func.func @column_of_arithmetic
func.func @column_of_arithmetic(%x: tensor<8xf32>, %y: tensor<8x4xf32>, %i: index) -> tensor<8x4xf32> {
  // CHECK: %[[SUM:.*]] = arith.addf
  %s = arith.addf %x, %x : tensor<8xf32>
  // CHECK: scf.for %[[ROW:.*]] = %{{.*}} iter_args(%[[INTO:.*]] = %arg1)
  // CHECK: %[[ELEMENT:.*]] = tensor.extract %[[SUM]][%[[ROW]]]
  // CHECK: tensor.insert %[[ELEMENT]] into %[[INTO]][%{{.*}}, %arg2]
  %0 = tensor.insert_slice %s into %y[0, %i] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// 64-bit values are selected by bytes, masks of comparisons are bits.
// CHECK-LABEL: func.func @select_by_bytes
func.func @select_by_bytes(%c: tensor<8xi1>, %x: tensor<8xi64>, %y: tensor<8xi64>, %z: tensor<8xi32>)
    -> (tensor<8xi64>, tensor<8xi32>) {
  // CHECK: %[[BYTES:.*]] = arith.extui %arg0 : tensor<8xi1> to tensor<8xi8>
  // CHECK: %[[MASK:.*]] = arith.cmpi ne, %[[BYTES]], %{{.*}} : tensor<8xi8>
  // CHECK: arith.select %[[MASK]], %arg1, %arg2
  %0 = arith.select %c, %x, %y : tensor<8xi1>, tensor<8xi64>
  // CHECK: arith.select %arg0, %arg3, %arg3
  %1 = arith.select %c, %z, %z : tensor<8xi1>, tensor<8xi32>
  return %0, %1 : tensor<8xi64>, tensor<8xi32>
}

// Rows of full blocks, other axes and two axes are right as they are.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @left_alone(%x: tensor<4x2xf32>, %y: tensor<4xf32>, %z: tensor<8x4xi32>)
    -> (tensor<4x2x8xf32>, tensor<3x4x2xf32>, tensor<4x2xf32>, tensor<32xi32>) {
  %e0 = tensor.empty() : tensor<4x2x8xf32>
  %0 = linalg.broadcast ins(%x : tensor<4x2xf32>) outs(%e0 : tensor<4x2x8xf32>) dimensions = [2]
  %e1 = tensor.empty() : tensor<3x4x2xf32>
  %1 = linalg.broadcast ins(%x : tensor<4x2xf32>) outs(%e1 : tensor<3x4x2xf32>) dimensions = [0]
  %e2 = tensor.empty() : tensor<4x2xf32>
  %2 = linalg.broadcast ins(%y : tensor<4xf32>) outs(%e2 : tensor<4x2xf32>) dimensions = [1]
  %3 = tensor.collapse_shape %z [[0, 1]] : tensor<8x4xi32> into tensor<32xi32>
  return %0, %1, %2, %3 : tensor<4x2x8xf32>, tensor<3x4x2xf32>, tensor<4x2xf32>, tensor<32xi32>
}

// Counts that become rows: moved up to the count, the reshape makes the library race with itself.
// CHECK-LABEL: func.func @rows_of_counts
func.func @rows_of_counts(%n: i32) -> (tensor<4x8xi32>, tensor<32x1xi32>) {
  %e = tensor.empty() : tensor<32xi32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<32xi32>) {
  ^bb0(%o: i32):
    %k = linalg.index 0 : index
    %v = arith.index_cast %k : index to i32
    linalg.yield %v : i32
  } -> tensor<32xi32>
  %f = linalg.fill ins(%n : i32) outs(%e : tensor<32xi32>) -> tensor<32xi32>
  // CHECK: %[[SUM:.*]] = arith.addi
  %s = arith.addi %f, %i : tensor<32xi32>
  // CHECK: %[[COPY:.*]] = linalg.copy ins(%[[SUM]] : tensor<32xi32>)
  // CHECK: tensor.reshape %[[COPY]](
  %shape = arith.constant dense<[4, 8]> : tensor<2xi64>
  %r = tensor.reshape %s(%shape) : (tensor<32xi32>, tensor<2xi64>) -> tensor<4x8xi32>
  // One column is no rows of counts.
  // CHECK: tensor.expand_shape %[[SUM]]
  %c = tensor.expand_shape %s [[0, 1]] output_shape [32, 1] : tensor<32xi32> into tensor<32x1xi32>
  return %r, %c : tensor<4x8xi32>, tensor<32x1xi32>
}
