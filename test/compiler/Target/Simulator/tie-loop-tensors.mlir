// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-tie-loop-tensors: a loop-carried tensor is computed in its own buffer, or copied there;
// without the pass, bufferization refuses the second and third loop.
// RUN: piton-opt %s --sim-tie-loop-tensors --split-input-file | FileCheck %s
// RUN: piton-opt %s --pass-pipeline='builtin.module(func.func(sim-tie-loop-tensors),one-shot-bufferize)' --split-input-file | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func.func @scaled
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: linalg.generic {{.*}} outs(%[[ACC]] : tensor<8xf32>)
// BUFFERS-LABEL: func.func @scaled
// BUFFERS: scf.for
// BUFFERS-NOT: memref.alloc
// BUFFERS: return
func.func @scaled(%out: memref<8xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<8xf32>) {
    %fresh = tensor.empty() : tensor<8xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%acc : tensor<8xf32>) outs(%fresh : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.mulf %a, %f : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// Arguments that trade places are read before the first is overwritten.
// CHECK-LABEL: func.func @swapped
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-DAG: %[[OLDB:.*]] = linalg.copy ins(%[[B]] : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>)
// CHECK-DAG: %[[OLDA:.*]] = linalg.copy ins(%[[A]] : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[NEWA:.*]] = linalg.copy ins(%[[OLDB]] : tensor<8xf32>) outs(%[[A]] : tensor<8xf32>)
// CHECK: %[[NEWB:.*]] = linalg.copy ins(%[[OLDA]] : tensor<8xf32>) outs(%[[B]] : tensor<8xf32>)
// CHECK: scf.yield %[[NEWA]], %[[NEWB]]
// BUFFERS-LABEL: func.func @swapped
// BUFFERS: scf.for
func.func @swapped(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %b0 = bufferization.to_tensor %y restrict : memref<8xf32> to tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#0 in writable %x : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// A while loop that forwards another value than its argument gets equal lists.
// CHECK-LABEL: func.func @while_forwards
// CHECK: scf.while (%[[T:.*]] = %{{.*}}, %[[X:.*]] = %{{.*}}) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[SUM:.*]] = linalg.add ins(%[[T]], %[[T]]
// CHECK: linalg.copy ins(%[[SUM]] : tensor<8xf32>) outs(%[[X]] : tensor<8xf32>)
// CHECK: scf.condition
// BUFFERS-LABEL: func.func @while_forwards
// BUFFERS: scf.while
func.func @while_forwards(%out: memref<8xf32>, %limit: f32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.while (%t = %init) : (tensor<8xf32>) -> tensor<8xf32> {
    %fresh = tensor.empty() : tensor<8xf32>
    %s = linalg.add ins(%t, %t : tensor<8xf32>, tensor<8xf32>) outs(%fresh : tensor<8xf32>) -> tensor<8xf32>
    %v = tensor.extract %s[%c0] : tensor<8xf32>
    %more = arith.cmpf olt, %v, %limit : f32
    scf.condition(%more) %s : tensor<8xf32>
  } do {
  ^bb0(%u: tensor<8xf32>):
    scf.yield %u : tensor<8xf32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// The accumulator is scaled in place, and the dot adds to it there: no copy.
// CHECK-LABEL: func.func @scaled_accumulator
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%[[ACC]] : {{.*}}) outs(%[[ACC]] : {{.*}})
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[START]] : {{.*}})
// CHECK-NOT: linalg.copy
// CHECK: scf.yield %[[SUM]]
func.func @scaled_accumulator(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x16xf32>, %f: f32, %n: index) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> tensor<8x16xf32> {
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %f : f32
      linalg.yield %m : f32
    } -> tensor<8x16xf32>
    %d = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%s : tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.yield %d : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}
