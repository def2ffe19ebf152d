// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Stores: scalars, bools, and lanes that share an element, where the last admitted one wins.

// CHECK-LABEL: @scalar
// CHECK:   scf.if %{{.*}} {
// CHECK:     %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [1]
// CHECK:     %[[T:.*]] = tensor.from_elements %{{.*}} : tensor<1xf32>
// CHECK:     bufferization.materialize_in_destination %[[T]] in writable %[[V]]
tt.func public @scalar(%y: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %m = arith.cmpi sgt, %n, %c0 : i32
  %p = tt.addptr %y, %n : !tt.ptr<f32>, i32
  tt.store %p, %v, %m : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK-LABEL: @bools
// CHECK:   %[[E:.*]] = arith.extui %{{.*}} : tensor<16xi1> to tensor<16xi8>
// CHECK:   bufferization.materialize_in_destination %[[E]] in writable %{{.*}} : (tensor<16xi8>, memref<16xi8, strided<[1]>>)
tt.func public @bools(%y: !tt.ptr<i1>, %n: i32) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %v = arith.cmpi slt, %i, %ns : tensor<16xi32>
  %ys = tt.splat %y : !tt.ptr<i1> -> tensor<16x!tt.ptr<i1>>
  %yp = tt.addptr %ys, %i : tensor<16x!tt.ptr<i1>>, tensor<16xi32>
  tt.store %yp, %v : tensor<16x!tt.ptr<i1>>
  tt.return
}

// -----

// Rows of 8 x 16 lanes fall on one row of memory: row n - 1 is stored, and nothing when n <= 0.
// CHECK-LABEL: @sharing
// CHECK:   %[[SOME:.*]] = arith.cmpi sgt, %[[N:.*]], %c0 : index
// CHECK:   %[[EXT:.*]] = arith.select %[[SOME]], %c16, %c0 : index
// CHECK:   %[[LAST:.*]] = arith.subi %[[N]], %c1 : index
// CHECK:   %[[ROW:.*]] = arith.maxsi %[[LAST]], %c0 : index
// CHECK:   %[[S:.*]] = tensor.extract_slice %{{.*}}[%[[ROW]], 0] [1, %[[EXT]]] [1, 1] : tensor<8x16xf32> to tensor<?xf32>
// CHECK:   bufferization.materialize_in_destination %[[S]] in writable
tt.func public @sharing(%y: !tt.ptr<f32>, %n: i32, %f: f32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ns = tt.splat %n : i32 -> tensor<8x1xi32>
  %m1 = arith.cmpi slt, %re, %ns : tensor<8x1xi32>
  %m = tt.broadcast %m1 : tensor<8x1xi1> -> tensor<8x16xi1>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>>
  %yp1 = tt.addptr %ys, %ce : tensor<1x16x!tt.ptr<f32>>, tensor<1x16xi32>
  %yp = tt.broadcast %yp1 : tensor<1x16x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
  %rb = tt.broadcast %re : tensor<8x1xi32> -> tensor<8x16xi32>
  %v = arith.sitofp %rb : tensor<8x16xi32> to tensor<8x16xf32>
  tt.store %yp, %v, %m : tensor<8x16x!tt.ptr<f32>>
  tt.return
}

// -----

// All lanes on one element: the last lane's value.
// CHECK-LABEL: @one
// CHECK:   %[[L:.*]] = tensor.extract %{{.*}}[%c15] : tensor<16xi32>
// CHECK:   tensor.from_elements %[[L]] : tensor<1xi32>
tt.func public @one(%y: !tt.ptr<i32>) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  tt.store %ys, %i : tensor<16x!tt.ptr<i32>>
  tt.return
}
