// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Atomics: the documented generic with its attributes, a second output when the old value is
// wanted, box masks, lanes that share an element, scalars, compare-and-swap by bits.

// CHECK-LABEL: @add
// CHECK:   %[[VAL:.*]] = memref.alloc() : memref<32xf32>
// CHECK:   bufferization.materialize_in_destination %{{.*}} in writable %[[VAL]]
// CHECK:   %[[OLD:.*]] = memref.alloc() : memref<32xf32>
// CHECK:   linalg.fill ins(%cst : f32) outs(%[[OLD]]
// CHECK:   %[[D:.*]] = memref.subview %{{.*}}[0] [%[[N:.*]]] [1]
// CHECK:   %[[V:.*]] = memref.subview %[[VAL]][0] [%[[N]]] [1]
// CHECK:   %[[O:.*]] = memref.subview %[[OLD]][0] [%[[N]]] [1]
// CHECK:   linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%[[D]], %[[V]] : {{.*}}) outs(%[[D]], %[[O]] : {{.*}}) attrs =  {GenericAtomicRMW = "fadd", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
// CHECK:   ^bb0(%[[OLDV:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK:     %[[S:.*]] = arith.addf %[[OLDV]], %[[X]] : f32
// CHECK:     linalg.yield %[[S]], %[[OLDV]] : f32, f32
// CHECK:   %[[T:.*]] = bufferization.to_tensor %[[OLD]] restrict writable
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %f: f32) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %v = tt.splat %f : f32 -> tensor<32xf32>
  %o = tt.atomic_rmw fadd, acq_rel, gpu, %xp, %v, %m : (tensor<32x!tt.ptr<f32>>, tensor<32xf32>, tensor<32xi1>) -> tensor<32xf32>
  tt.store %yp, %o : tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

// Every lane adds to one element: one after the other. No hardware form for xor.
// CHECK-LABEL: @sharing
// CHECK:   %[[VAL:.*]] = memref.alloc() : memref<32xi32>
// CHECK:   %[[D:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1], strides: [1]
// CHECK:   scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:     %[[V:.*]] = memref.subview %[[VAL]][%[[I]]] [1] [1]
// CHECK:     linalg.generic {{.*}} ins(%[[D]], %[[V]] : {{.*}}) outs(%[[D]] : {{.*}}) attrs =  {GenericAtomicRMW = "xor", MemSemantic = "relaxed", MemSyncScope = "sys", Software}
tt.func public @sharing(%x: !tt.ptr<i32>, %n: i32) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %o = tt.atomic_rmw xor, relaxed, sys, %xs, %i, %m : (tensor<32x!tt.ptr<i32>>, tensor<32xi32>, tensor<32xi1>) -> tensor<32xi32>
  tt.return
}

// -----

// CHECK-LABEL: @scalar
// CHECK-SAME:    %[[N:[a-z0-9]+]]: i32, %[[M:[a-z0-9]+]]: i1
// CHECK:   %[[R:.*]] = scf.if %[[M]] -> (i32) {
// CHECK:     memref.store %[[N]], %[[V:.*]][%c0] : memref<1xi32>
// CHECK:     linalg.generic {{.*}} attrs =  {GenericAtomicRMW = "umax", MemSemantic = "acquire", MemSyncScope = "cta", Software}
// CHECK:       arith.maxui
// CHECK:     %[[O:.*]] = memref.load
// CHECK:     scf.yield %[[O]]
// CHECK:   } else {
// CHECK:     scf.yield %c0_i32
tt.func public @scalar(%x: !tt.ptr<i32>, %n: i32, %m: i1) {
  %o = tt.atomic_rmw umax, acquire, cta, %x, %n, %m : (!tt.ptr<i32>, i32, i1) -> i32
  %p = tt.addptr %x, %n : !tt.ptr<i32>, i32
  %true = arith.constant true
  %q = tt.atomic_rmw exch, release, gpu, %p, %o, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// -----

// Floats compare by bits.
// CHECK-LABEL: @cas
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {tt.tensor_kind = 2 : i32}
// CHECK:   %[[I:.*]] = arith.bitcast %[[X]] : memref<?xf32> to memref<?xi32>
// CHECK:   linalg.generic {{.*}} attrs =  {GenericAtomicRMW = "cas", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
// CHECK:   ^bb0(%[[OLD:.*]]: i32, %[[CMP:.*]]: i32, %[[NEW:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:     %[[E:.*]] = arith.cmpi eq, %[[OLD]], %[[CMP]] : i32
// CHECK:     %[[S:.*]] = arith.select %[[E]], %[[NEW]], %[[OLD]] : i32
// CHECK:     linalg.yield %[[S]], %[[OLD]]
// CHECK:   arith.bitcast %{{.*}} : i32 to f32
tt.func public @cas(%x: !tt.ptr<f32>, %c: f32, %v: f32) {
  %o = tt.atomic_cas acq_rel, gpu, %x, %c, %v : (!tt.ptr<f32>, f32, f32) -> f32
  tt.store %x, %o : !tt.ptr<f32>
  tt.return
}
