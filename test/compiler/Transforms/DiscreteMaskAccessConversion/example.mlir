// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mask with a part from memory, in both forms.
// RUN: piton-opt %s -discrete-mask-access-conversion -cse | FileCheck %s
// RUN: piton-opt %s -discrete-mask-access-conversion=mask-form=documented -cse | FileCheck %s --check-prefix=BULK
// RUN: not piton-opt %s -discrete-mask-access-conversion=mask-form=other 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: mask-form 'other' is unknown; use exact or documented

// The box bounds the loop, the rest of the mask guards each lane.
// CHECK-LABEL: tt.func public @load
// CHECK: %[[HI:.*]] = arith.minsi
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[HI]] step %{{.*}} iter_args(%{{.*}} = %arg3)
// CHECK: %[[K:.*]] = tensor.extract %arg2[%[[I]]] {DiscreteMemAccess}
// CHECK: scf.if %[[K]] -> (f32)
// CHECK: tt.load %{{.*}} {DiscreteMemAccess} : !tt.ptr<f32>
// CHECK: } else {
// CHECK: tensor.extract %arg3[%[[I]]]
// CHECK: tensor.insert
// CHECK: {ExtractedLoadOrStore}
// BULK-LABEL: tt.func public @load
// BULK: %[[V:.*]] = tt.load %{{.*}}, %[[BOX:.*]], %arg3 : tensor<16x!tt.ptr<f32>>
// BULK: arith.select %{{.*}}, %[[V]], %arg3 : tensor<16xi1>, tensor<16xf32>
tt.func public @load(%p: tensor<16x!tt.ptr<f32>>, %n: i32, %keep: tensor<16xi1>, %other: tensor<16xf32>, %a: !tt.ptr<f32>) -> tensor<16xf32> {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<16xi32>
  %mask = arith.andi %m, %keep : tensor<16xi1>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %q, %mask, %other : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}

// CHECK-LABEL: tt.func public @store
// CHECK-NOT: tt.load
// CHECK: scf.if
// CHECK: tt.store %{{.*}} {DiscreteMemAccess} : !tt.ptr<f32>
// BULK-LABEL: tt.func public @store
// BULK: %[[OLD:.*]] = tt.load
// BULK: %[[NEW:.*]] = arith.select %arg1, %arg2, %[[OLD]]
// BULK: tt.store %{{.*}}, %[[NEW]] {DiscreteMask}
tt.func public @store(%a: !tt.ptr<f32>, %keep: tensor<16xi1>, %v: tensor<16xf32>) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %q, %v, %keep : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A lower triangle is a box in every row: rows stay vectors.
// CHECK-LABEL: tt.func public @triangle
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} {DiscreteMemAccess} : tensor<8x!tt.ptr<f32>>
tt.func public @triangle(%a: !tt.ptr<f32>, %v: tensor<8x8xf32>) {
  %c8 = arith.constant dense<8> : tensor<8x1xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %r8 = arith.muli %r, %c8 : tensor<8x1xi32>
  %rb = tt.broadcast %r8 : tensor<8x1xi32> -> tensor<8x8xi32>
  %cb = tt.broadcast %c : tensor<1x8xi32> -> tensor<8x8xi32>
  %o = arith.addi %rb, %cb : tensor<8x8xi32>
  %ri = tt.broadcast %r : tensor<8x1xi32> -> tensor<8x8xi32>
  %m = arith.cmpi sge, %ri, %cb : tensor<8x8xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %q = tt.addptr %as, %o : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  tt.store %q, %v, %m : tensor<8x8x!tt.ptr<f32>>
  tt.return
}

// The neutral value of each atomic; an exchange has none and goes lane by lane.
// BULK-LABEL: tt.func public @atomics
// BULK: %[[ONES:.*]] = arith.constant dense<-1> : tensor<16xi32>
// BULK: arith.select %arg1, %arg2, %[[ONES]]
// BULK: tt.atomic_rmw umin, acq_rel, gpu, %{{[0-9]+}}, %{{[0-9]+}} :
// BULK: %[[MIN:.*]] = arith.constant dense<-2147483648> : tensor<16xi32>
// BULK: arith.select %arg1, %arg2, %[[MIN]]
// BULK: tt.atomic_rmw max
// BULK: scf.for
// BULK: scf.if
// BULK: tt.atomic_rmw exch, {{.*}} (!tt.ptr<i32>, i32) -> i32
tt.func public @atomics(%a: !tt.ptr<i32>, %keep: tensor<16xi1>, %v: tensor<16xi32>) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %as = tt.splat %a : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %q = tt.addptr %as, %i : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %0 = tt.atomic_rmw umin, acq_rel, gpu, %q, %v, %keep : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
  %1 = tt.atomic_rmw max, acq_rel, gpu, %q, %v, %keep : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
  %2 = tt.atomic_rmw exch, acq_rel, gpu, %q, %v, %keep : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
  tt.return
}
