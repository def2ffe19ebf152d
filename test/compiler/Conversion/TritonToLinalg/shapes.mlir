// RUN: piton-opt %s --triton-to-linalg --cse --split-input-file | FileCheck %s
//
// Ops that make and rearrange tensors.

// CHECK-LABEL: func.func private @range
// CHECK:   %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xi32>) attrs =  {tt.from_make_range, tt.make_range_offset = 0 : index, tt.make_range_size = 8 : index}
// CHECK:     %[[I:.*]] = linalg.index 0 : index
// CHECK:     arith.index_cast %[[I]] : index to i32
// CHECK:   %[[START:.*]] = linalg.fill
// CHECK:   arith.addi %[[R]], %[[START]] : tensor<8xi32>
tt.func private @range() -> tensor<8xi32> {
  %r = tt.make_range {end = 5 : i32, start = -3 : i32} : tensor<8xi32>
  tt.return %r : tensor<8xi32>
}

// -----

// CHECK-LABEL: func.func private @dims
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<4x8xf32>
tt.func private @dims(%x: tensor<8xf32>, %y: tensor<4x8xf32>)
    -> (tensor<8x1xf32>, tensor<4x8xf32>, tensor<4x8x1xf32>, tensor<4x1x8xf32>) {
  // CHECK: tensor.expand_shape %[[X]] {{\[}}[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %a = tt.expand_dims %x {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  // CHECK: %[[E:.*]] = tensor.expand_shape %[[X]] {{\[}}[0, 1]] output_shape [1, 8]
  // CHECK: %[[C:.*]] = tensor.collapse_shape %[[E]] {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
  // CHECK: linalg.broadcast ins(%[[C]] : tensor<8xf32>) outs(%{{.*}} : tensor<4x8xf32>) dimensions = [0]
  %e = tt.expand_dims %x {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %b = tt.broadcast %e : tensor<1x8xf32> -> tensor<4x8xf32>
  // CHECK: tensor.expand_shape %[[Y]] {{\[}}[0], [1, 2]] output_shape [4, 8, 1]
  %c = tt.expand_dims %y {axis = 2 : i32} : tensor<4x8xf32> -> tensor<4x8x1xf32>
  // CHECK: tensor.expand_shape %[[Y]] {{\[}}[0], [1, 2]] output_shape [4, 1, 8]
  %d = tt.expand_dims %y {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4x1x8xf32>
  tt.return %a, %b, %c, %d : tensor<8x1xf32>, tensor<4x8xf32>, tensor<4x8x1xf32>, tensor<4x1x8xf32>
}

// -----

// All dimensions widened: through rank 0.
// CHECK-LABEL: func.func private @widen
// CHECK:   %[[C:.*]] = tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
// CHECK:   linalg.broadcast ins(%[[C]] : tensor<f32>) outs(%{{.*}} : tensor<4x8xf32>) dimensions = [0, 1]
tt.func private @widen(%x: tensor<1x1xf32>) -> tensor<4x8xf32> {
  %b = tt.broadcast %x : tensor<1x1xf32> -> tensor<4x8xf32>
  tt.return %b : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func private @moves
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[Z:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[U:[a-z0-9]+]]: tensor<1x1xf32>
tt.func private @moves(%x: tensor<4x8xf32>, %z: tensor<2x3x4xf32>, %u: tensor<1x1xf32>)
    -> (tensor<2x16xf32>, tensor<4x2x3xf32>, f32) {
  // CHECK: %[[S:.*]] = arith.constant dense<[2, 16]> : tensor<2xi64>
  // CHECK: tensor.reshape %[[X]](%[[S]]) : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2x16xf32>
  %r = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: linalg.transpose ins(%[[Z]] : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  %t = tt.trans %z {order = array<i32: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  // CHECK: tensor.extract %[[U]]
  %s = tt.unsplat %u : tensor<1x1xf32>
  tt.return %r, %t, %s : tensor<2x16xf32>, tensor<4x2x3xf32>, f32
}

// -----

// The stride of 2 marks an interleave.
// CHECK-LABEL: func.func private @pairs
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:   %[[J0:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0, 0] [4, 8, 1] [1, 1, 2]
// CHECK:   %[[J:.*]] = tensor.insert_slice %[[B]] into %[[J0]][0, 0, 1] [4, 8, 1] [1, 1, 2] : tensor<4x8xf32> into tensor<4x8x2xf32>
// CHECK:   tensor.extract_slice %[[J]][0, 0, 0] [4, 8, 1] [1, 1, 2] : tensor<4x8x2xf32> to tensor<4x8xf32>
// CHECK:   tensor.extract_slice %[[J]][0, 0, 1] [4, 8, 1] [1, 1, 2]
// CHECK:   %[[C:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
// CHECK:   tensor.insert_slice %[[B]] into %[[C]][4, 0] [4, 8] [1, 1]
tt.func private @pairs(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) {
  %j = tt.join %a, %b : tensor<4x8xf32> -> tensor<4x8x2xf32>
  %l, %r = tt.split %j : tensor<4x8x2xf32> -> tensor<4x8xf32>
  %c = tt.cat %a, %b : tensor<4x8xf32> -> tensor<8x8xf32>
  tt.return %l, %r, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>
}
