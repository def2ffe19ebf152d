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
