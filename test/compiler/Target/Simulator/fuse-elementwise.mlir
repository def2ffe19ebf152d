// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-fuse-elementwise: exp is computed once, inside the sum that reads it; a transpose goes
// into the dot.
// RUN: piton-opt %s --pass-pipeline='builtin.module(func.func(sim-fuse-elementwise,canonicalize,cse))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @exp_and_sum
// CHECK: %[[BOTH:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK-NOT: math.exp
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
func.func @exp_and_sum(%x: tensor<4x64xf32>, %m: tensor<4xf32>) -> tensor<4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %mb = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x64xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<4x64xf32>
  %p = math.exp %d : tensor<4x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce ins(%p : tensor<4x64xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
    }
  %sb = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x64xf32>) dimensions = [1]
  %r = arith.divf %p, %sb : tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @transposed_operand
// CHECK-NOT: linalg.transpose
// CHECK: linalg.matmul indexing_maps = [{{.*}}, #[[SWAPPED]], {{.*}}]
func.func @transposed_operand(%a: tensor<8x4xf32>, %b: tensor<16x4xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %t = linalg.transpose ins(%b : tensor<16x4xf32>) outs(%e : tensor<4x16xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A scalar tile from outside of a loop goes into the op as a scalar, and a test on 1xN into its
// reader.
// CHECK-LABEL: func.func @scale_and_mask_in_loop
// CHECK: scf.for
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64xi32>, tensor<8x64xf32>)
// CHECK:   arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK:   arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:   arith.select
// CHECK-NOT: linalg.generic
// CHECK: scf.yield
func.func @scale_and_mask_in_loop(%x: tensor<8x64xf32>, %lanes: tensor<64xi32>, %n: i32, %f: f32, %to: index) -> tensor<8x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %e1 = tensor.empty() : tensor<1x64xi32>
  %eb = tensor.empty() : tensor<8x64xi1>
  %scale = linalg.fill ins(%f : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %low = linalg.fill ins(%inf : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %ends = linalg.fill ins(%n : i32) outs(%e1 : tensor<1x64xi32>) -> tensor<1x64xi32>
  %r = scf.for %i = %c0 to %to step %c1 iter_args(%a = %x) -> tensor<8x64xf32> {
    %m = arith.mulf %a, %scale : tensor<8x64xf32>
    %row = tensor.expand_shape %lanes [[0, 1]] output_shape [1, 64] : tensor<64xi32> into tensor<1x64xi32>
    %t = arith.cmpi slt, %row, %ends : tensor<1x64xi32>
    %flat = tensor.collapse_shape %t [[0, 1]] : tensor<1x64xi1> into tensor<64xi1>
    %all = linalg.broadcast ins(%flat : tensor<64xi1>) outs(%eb : tensor<8x64xi1>) dimensions = [0]
    %s = arith.select %all, %m, %low : tensor<8x64xi1>, tensor<8x64xf32>
    scf.yield %s : tensor<8x64xf32>
  }
  return %r : tensor<8x64xf32>
}

// -----

// exp, its sum and its cast in one loop: the wide result is never stored.
// CHECK-LABEL: func.func @cast_beside_sum
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4x64xf16>, tensor<4xf32>)
// CHECK:   %[[E:.*]] = math.exp
// CHECK:   %[[S:.*]] = arith.addf
// CHECK:   %[[T:.*]] = arith.truncf %[[E]] : f32 to f16
// CHECK:   linalg.yield %[[T]], %[[S]] : f16, f32
// CHECK-NOT: linalg.generic
func.func @cast_beside_sum(%x: tensor<4x64xf32>) -> (tensor<4x64xf16>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %p = math.exp %x : tensor<4x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<4x64xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %h = arith.truncf %p : tensor<4x64xf32> to tensor<4x64xf16>
  return %h, %s : tensor<4x64xf16>, tensor<4xf32>
}

// -----

// A reader that needs the sum itself stays behind it.
// CHECK-LABEL: func.func @reader_of_both
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: linalg.generic
// CHECK:   arith.divf
func.func @reader_of_both(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %e0 = tensor.empty() : tensor<f32>
  %p = math.exp %x : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<64xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %f = tensor.extract %s[] : tensor<f32>
  %b = linalg.fill ins(%f : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = arith.divf %p, %b : tensor<64xf32>
  return %r : tensor<64xf32>
}
