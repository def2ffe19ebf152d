// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-lower-scalars: exp without a call, bf16 as integers, other math as libm or libmvec
// calls, division that does not trap.
// RUN: piton-opt %s --pass-pipeline='builtin.module(func.func(sim-lower-scalars))' | FileCheck %s

// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK: math.roundeven
// CHECK: math.fma
// CHECK: arith.shli
// CHECK-NOT: call
func.func @exp(%x: vector<32xf32>) -> vector<32xf32> {
  %r = math.exp %x : vector<32xf32>
  return %r : vector<32xf32>
}

// CHECK-LABEL: func.func @tanh
// CHECK-COUNT-4: call @_ZGVdN8v_tanhf(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
// CHECK: call @tanhf(%{{.*}}) : (f32) -> f32
func.func @tanh(%x: vector<32xf32>, %y: f32) -> (vector<32xf32>, f32) {
  %r = math.tanh %x : vector<32xf32>
  %s = math.tanh %y : f32
  return %r, %s : vector<32xf32>, f32
}

// CHECK-LABEL: func.func @bf16
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: arith.shli
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @bf16(%x: f32, %y: bf16) -> (bf16, f32) {
  %r = arith.truncf %x : f32 to bf16
  %s = arith.extf %y : bf16 to f32
  return %r, %s : bf16, f32
}

// CHECK-LABEL: func.func @float8
// CHECK: call @piton_widen_f8E4M3FN
// CHECK: call @piton_narrow_f8E5M2
func.func @float8(%x: f8E4M3FN) -> f8E5M2 {
  %w = arith.extf %x : f8E4M3FN to f32
  %r = arith.truncf %w : f32 to f8E5M2
  return %r : f8E5M2
}

// CHECK-LABEL: func.func @division
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: arith.divsi %{{.*}}, %[[SAFE]] {piton.guarded} : i32
// CHECK: arith.remui %{{.*}}, %{{.*}} : i32
func.func @division(%x: i32, %y: i32) -> (i32, i32) {
  %seven = arith.constant 7 : i32
  %r = arith.divsi %x, %y : i32
  %s = arith.remui %x, %seven : i32
  return %r, %s : i32, i32
}
