// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extracted lane is computed instead of the tensor.
// RUN: piton-opt %s -bubble-up-operation -cse -canonicalize | FileCheck %s
// RUN: piton-opt %s -bubble-up-operation=enable-aggressive-mode=false -cse | FileCheck %s --check-prefix=SINGLE

// CHECK-LABEL: tt.func public @lane
// CHECK: %[[I:.*]] = arith.index_cast %arg1 : index to i32
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[I]], %c3_i32 : i32
// CHECK-NEXT: %[[R:.*]] = arith.xori %[[S]], %arg0 : i32
// CHECK-NEXT: tt.return %[[R]]
tt.func public @lane(%a: i32, %i: index) -> i32 {
  %r = tt.make_range {end = 35 : i32, start = 3 : i32} : tensor<32xi32>
  %as = tt.splat %a : i32 -> tensor<32xi32>
  %x = arith.xori %r, %as : tensor<32xi32>
  %e = tensor.extract %x[%i] {DiscreteMemAccess} : tensor<32xi32>
  tt.return %e : i32
}

// A row of an outer sum, and a lane of a strided slice.
// CHECK-LABEL: tt.func public @slices
// CHECK-NOT: tensor<4x8xi32>
// CHECK: %[[E:.*]] = tensor.extract %arg0[%arg2]
// CHECK: tt.splat %[[E]] : i32 -> tensor<8xi32>
// CHECK: arith.addi %{{.*}} : tensor<8xi32>
// CHECK: %[[T:.*]] = arith.muli %arg2, %c2 : index
// CHECK: %[[O:.*]] = arith.addi %[[T]], %c1 : index
// CHECK: tensor.extract %arg1[%[[O]]]
tt.func public @slices(%r: tensor<4xi32>, %c: tensor<8xi32>, %i: index) -> (tensor<8xi32>, i32) {
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %rb = tt.broadcast %re : tensor<4x1xi32> -> tensor<4x8xi32>
  %cb = tt.broadcast %ce : tensor<1x8xi32> -> tensor<4x8xi32>
  %s = arith.addi %rb, %cb : tensor<4x8xi32>
  %row = tensor.extract_slice %s[%i, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<8xi32>
  %odd = tensor.extract_slice %c[1] [4] [2] : tensor<8xi32> to tensor<4xi32>
  %e = tensor.extract %odd[%i] : tensor<4xi32>
  tt.return %row, %e : tensor<8xi32>, i32
}

// SINGLE-LABEL: tt.func public @shared
// SINGLE: %[[X:.*]] = arith.addi %{{.*}} : tensor<8xi32>
// SINGLE: tensor.extract %[[X]]
// Float arithmetic outside a loop is not repeated inside it.
// CHECK-LABEL: tt.func public @shared
// CHECK: %[[F:.*]] = arith.mulf %arg1, %arg1 : tensor<8xf32>
// CHECK: scf.for
// CHECK: tensor.extract %[[F]]
tt.func public @shared(%a: tensor<8xi32>, %f: tensor<8xf32>, %n: index, %p: !tt.ptr<f32>) -> (tensor<8xi32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.addi %a, %a : tensor<8xi32>
  %e = tensor.extract %x[%n] : tensor<8xi32>
  %y = arith.mulf %f, %f : tensor<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = tensor.extract %y[%i] : tensor<8xf32>
    tt.store %p, %v : !tt.ptr<f32>
  }
  tt.return %x, %e : tensor<8xi32>, i32
}
