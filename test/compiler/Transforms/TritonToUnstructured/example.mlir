// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers: single lanes where the index is one, rows where a dimension is regular.
// RUN: piton-opt %s -triton-to-unstructured -cse | FileCheck %s
// RUN: piton-opt %s -triton-to-unstructure -cse | FileCheck %s

// CHECK-LABEL: tt.func public @lanes
// CHECK: scf.for %[[I:.*]] = %c0 to %c16 step %c1 iter_args(%[[T:.*]] = %{{.*}}) -> (tensor<16xf32>)
// CHECK: %[[X:.*]] = tensor.extract %arg1[%[[I]]] {DiscreteMemAccess} : tensor<16xi32>
// CHECK: %[[P:.*]] = tt.addptr %arg0, %[[X]] : !tt.ptr<f32>, i32
// CHECK: %[[V:.*]] = tt.load %[[P]] {DiscreteMemAccess} : !tt.ptr<f32>
// CHECK: %[[N:.*]] = tensor.insert %[[V]] into %[[T]][%[[I]]] {DiscreteMemAccess}
// CHECK: scf.yield {DiscreteMemAccess} %[[N]]
// CHECK: {ExtractedLoadOrStore}
tt.func public @lanes(%a: !tt.ptr<f32>, %index: tensor<16xi32>) -> tensor<16xf32> {
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %p = tt.addptr %as, %index : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %p : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}

// CHECK-LABEL: tt.func public @rows
// CHECK: scf.for %[[I:.*]] = %c0 to %c4
// CHECK-NOT: scf.for
// CHECK: tensor.extract %arg1[%[[I]]]
// CHECK: tt.load %{{.*}} {DiscreteMemAccess} : tensor<16x!tt.ptr<f32>>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[I]], 0] [1, 16] [1, 1] {DiscreteMemAccess}
tt.func public @rows(%a: !tt.ptr<f32>, %index: tensor<4xi32>, %w: i32) -> tensor<4x16xf32> {
  %e = tt.expand_dims %index {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ws = tt.splat %w : i32 -> tensor<4x1xi32>
  %r = arith.muli %e, %ws : tensor<4x1xi32>
  %rb = tt.broadcast %r : tensor<4x1xi32> -> tensor<4x16xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<4x16xi32>
  %o = arith.addi %rb, %cb : tensor<4x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %p = tt.addptr %as, %o : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  %v = tt.load %p : tensor<4x16x!tt.ptr<f32>>
  tt.return %v : tensor<4x16xf32>
}

// Lanes of one address write in order; a scalar access is guarded by its mask.
// CHECK-LABEL: tt.func public @alias
// CHECK: scf.for
// CHECK: tt.store {{.*}} : !tt.ptr<f32>
// CHECK: scf.if %arg2
// CHECK-NEXT: tt.store %arg0, %{{.*}} {DiscreteMemAccess} : !tt.ptr<f32>
tt.func public @alias(%a: !tt.ptr<f32>, %v: tensor<16xf32>, %c: i1) {
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  tt.store %as, %v : tensor<16x!tt.ptr<f32>>
  %one = arith.constant 1.0 : f32
  tt.store %a, %one, %c : !tt.ptr<f32>
  tt.return
}
