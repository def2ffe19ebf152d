// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every descriptor op, a descriptor argument, and what is refused.
// RUN: piton-opt %s -rewrite-tensor-pointer -cse -split-input-file -verify-diagnostics | FileCheck %s

// The argument becomes the base; sizes and strides are the arguments behind it.
// CHECK-LABEL: tt.func public @argument(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i64, %arg5: i32)
// CHECK-NOT: tensordesc
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16x!tt.ptr<f16>>
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16x!tt.ptr<f16>>
tt.func public @argument(%d: !tt.tensordesc<tensor<8x16xf16>>, %m: i32, %n: i32, %s0: i64, %s1: i64, %i: i32) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}

// -----

// Unsigned elements reduce with the unsigned atomic; floats by the order of their bits.
// CHECK-LABEL: tt.func public @reduce
// CHECK: tt.atomic_rmw umax, relaxed, gpu, {{.*}} tensor<16xi32>
// CHECK: tt.atomic_rmw fadd, relaxed, gpu, {{.*}} tensor<16xf32>
// CHECK: tt.bitcast %{{.*}} : tensor<16xf32> -> tensor<16xi32>
// CHECK: tt.atomic_rmw max
// CHECK: tt.atomic_rmw umin
tt.func public @reduce(%a: !tt.ptr<i32>, %b: !tt.ptr<f32>, %n: i32, %x: tensor<16xi32>, %y: tensor<16xf32>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %a, [%n], [%c1] : <i32>, <tensor<16xui32>>
  tt.descriptor_reduce max, %d[%n], %x : !tt.tensordesc<tensor<16xui32>>, tensor<16xi32>
  %e = tt.make_tensor_descriptor %b, [%n], [%c1] : <f32>, <tensor<16xf32>>
  tt.descriptor_reduce add, %e[%n], %y : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.descriptor_reduce max, %e[%n], %y : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.return
}

// -----

// Rows of a gather have a bound each; the padding of the descriptor is the other value.
// CHECK-LABEL: tt.func public @gather
// CHECK-DAG: arith.constant dense<0x7FC00000> : tensor<8x16xf32>
// CHECK: arith.cmpi sge, %{{.*}} : tensor<8xi64>
// CHECK: arith.cmpi slt, %{{.*}} : tensor<8xi64>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16x!tt.ptr<f32>>
// CHECK: tt.store %{{.*}} : tensor<8x16x!tt.ptr<f32>>
tt.func public @gather(%a: !tt.ptr<f32>, %n: i32, %rows: tensor<8xi32>) {
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %d = tt.make_tensor_descriptor %a, [%n, %n], [%c16, %c1] {padding = 2 : i32} : <f32>, <tensor<1x16xf32>>
  %v = tt.descriptor_gather %d[%rows, %n] : (!tt.tensordesc<tensor<1x16xf32>>, tensor<8xi32>, i32) -> tensor<8x16xf32>
  tt.descriptor_scatter %d[%rows, %n], %v : !tt.tensordesc<tensor<1x16xf32>>, tensor<8xi32>, i32, tensor<8x16xf32>
  tt.return
}

// -----

// expected-error @below {{argument 0 is a descriptor of rank 1 and must be followed by 1 i32 sizes and 1 i64 strides}}
tt.func public @alone(%d: !tt.tensordesc<tensor<16xf32>>) {
  tt.return
}

// -----

tt.func public @wrap(%a: !tt.ptr<i32>, %n: i32, %x: tensor<16xi32>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %a, [%n], [%c1] : <i32>, <tensor<16xi32>>
  // expected-error @below {{descriptor reduction 'inc' has no atomic of its kind}}
  // expected-error @below {{failed to legalize}}
  tt.descriptor_reduce inc, %d[%n], %x : !tt.tensordesc<tensor<16xi32>>, tensor<16xi32>
  tt.return
}
