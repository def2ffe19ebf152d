// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-vectorize: loads and stores in the loop itself, no local copy; a masked loop for the
// rest of the row; a run-time test where the store may overlap the load.
// RUN: piton-opt %s --sim-vectorize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @masked_scale
// CHECK: memref.reinterpret_cast
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<100xf32>
// CHECK: %[[OUT:.*]] = memref.reinterpret_cast
// The copy is made only when the ranges overlap.
// CHECK: %[[FROM:.*]] = scf.if %{{.*}} -> (memref<100xf32, strided<[1], offset: ?>>)
// CHECK: } else {
// CHECK: memref.copy
// CHECK: memref.cast %[[BUFFER]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:   %[[V:.*]] = vector.load %[[FROM]][%[[I]]] : {{.*}}, vector<32xf32>
// CHECK:   %[[R:.*]] = arith.mulf %[[V]], %{{.*}} : vector<32xf32>
// One register at a time, in ascending order.
// CHECK:   %[[P:.*]] = vector.extract_strided_slice %[[R]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK:   vector.store %[[P]], %[[OUT]][%[[I]]]
// CHECK:   vector.extract_strided_slice %[[R]] {offsets = [8], sizes = [8], strides = [1]}
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:   vector.maskedload %[[FROM]][%[[J]]]
// CHECK:   vector.maskedstore %[[OUT]][%[[J]]]
// CHECK-NOT: memref.copy
func.func @masked_scale(%x: memref<?xf32>, %y: memref<?xf32>, %off: index, %len: index, %f: f32) attributes {piton.kernel} {
  %zero = arith.constant 0.0 : f32
  %c100 = arith.constant 100 : index
  %short = arith.cmpi slt, %len, %c100 : index
  %in = memref.reinterpret_cast %x to offset: [%off], sizes: [100], strides: [1] : memref<?xf32> to memref<100xf32, strided<[1], offset: ?>>
  %a = memref.alloc() : memref<100xf32>
  scf.if %short {
    linalg.fill ins(%zero : f32) outs(%a : memref<100xf32>)
  }
  %s = memref.subview %in[0] [%len] [1] : memref<100xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = memref.subview %a[0] [%len] [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
  memref.copy %s, %t : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
  %b = memref.alloc() : memref<100xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<100xf32>) outs(%b : memref<100xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %f : f32
    linalg.yield %r : f32
  }
  %out = memref.reinterpret_cast %y to offset: [%off], sizes: [100], strides: [1] : memref<?xf32> to memref<100xf32, strided<[1], offset: ?>>
  %u = memref.subview %b[0] [%len] [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
  %v = memref.subview %out[0] [%len] [1] : memref<100xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  memref.copy %u, %v : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// A sum: 32 accumulators, folded at the end of the row; the start value is added once.
// CHECK-LABEL: func.func @row_sum
// CHECK: %[[START:.*]] = arith.constant dense<-0.000000e+00> : vector<32xf32>
// CHECK: %[[MAIN:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// CHECK:   arith.addf %[[ACC]], %{{.*}} fastmath<reassoc> : vector<32xf32>
// CHECK: %[[TOTAL:.*]] = vector.reduction <add>, %{{.*}} fastmath<reassoc>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[TOTAL]] fastmath<reassoc> : f32
// CHECK: memref.store %[[SUM]]
func.func @row_sum(%a: memref<4x64xf32>, %s: memref<4xf32>) attributes {piton.kernel} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x64xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A write to memory between the load and its reader: the copy stays.
// CHECK-LABEL: func.func @write_between
// CHECK: memref.copy
// CHECK: memref.store
// CHECK: vector.load
func.func @write_between(%x: memref<?xf32>, %f: f32, %b: memref<64xf32>) attributes {piton.kernel} {
  %c0 = arith.constant 0 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
  %a = memref.alloc() : memref<64xf32>
  memref.copy %in, %a : memref<64xf32, strided<[1]>> to memref<64xf32>
  memref.store %f, %x[%c0] : memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %f : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A copy to memory between the load and its reader: tested before the load, whose copy is made
// only on overlap. The store's view moves up to the test.
// CHECK-LABEL: func.func @store_between
// CHECK: %[[IN:.*]] = memref.reinterpret_cast %arg0
// CHECK: %[[A:.*]] = memref.alloc() : memref<64xf32>
// CHECK: memref.reinterpret_cast %arg1
// CHECK: %[[FROM:.*]] = scf.if
// CHECK:   memref.cast %[[IN]]
// CHECK: } else {
// CHECK:   memref.copy
// CHECK:   memref.cast %[[A]]
// CHECK: }
// CHECK: memref.copy {{.*}} : memref<1xf32> to
// CHECK: vector.load %[[FROM]]
func.func @store_between(%x: memref<?xf32>, %m: memref<?xf32>, %at: index, %f: f32, %b: memref<64xf32>) attributes {piton.kernel} {
  %c0 = arith.constant 0 : index
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
  %a = memref.alloc() : memref<64xf32>
  memref.copy %in, %a : memref<64xf32, strided<[1]>> to memref<64xf32>
  %one = memref.alloc() : memref<1xf32>
  memref.store %f, %one[%c0] : memref<1xf32>
  %mean = memref.reinterpret_cast %m to offset: [%at], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
  memref.copy %one, %mean : memref<1xf32> to memref<1xf32, strided<[1], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %f : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Computed in place by bufferization: the last op still reads and writes memory, the buffer is
// what the op before left.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK:   vector.load %{{.*}} : memref<64xf32, strided<[1], offset: ?>>
// CHECK:   vector.store %{{.*}}, %[[BUFFER:alloc[_0-9]*]]
// CHECK: scf.for
// CHECK:   vector.load %[[BUFFER]]
// CHECK:   vector.store %{{.*}}, %reinterpret_cast
// CHECK-NOT: memref.copy %
func.func @in_place(%x: memref<?xf32>, %y: memref<?xf32>, %at: index, %f: f32) attributes {piton.kernel} {
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
  %a = memref.alloc() : memref<64xf32>
  memref.copy %in, %a : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.divf %p, %f : f32
    linalg.yield %r : f32
  }
  %out = memref.reinterpret_cast %y to offset: [%at], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
  memref.copy %a, %out : memref<64xf32> to memref<64xf32, strided<[1], offset: ?>>
  return
}

// -----

// A launch that moves more than the caches hold (4096 bytes a block) stores past them, from the
// first cache line of the row on.
// CHECK-LABEL: func.func @streamed
// CHECK: %[[LIMIT:.*]] = llvm.load
// CHECK: %[[STREAM:.*]] = arith.cmpi ugt, %{{.*}}, %[[LIMIT]] : i64
// CHECK: scf.if %{{.*}} -> (index) {
// CHECK:   scf.for
// CHECK:     vector.maskedstore
// CHECK:   scf.for
// CHECK:     vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
// CHECK: } else {
// CHECK:   vector.store
// CHECK-NOT: nontemporal
// CHECK: }
// CHECK: scf.for
// CHECK:   vector.maskedstore
func.func @streamed(%x: memref<?xf32>, %f: f32, %g0: i32, %g1: i32, %g2: i32, %p0: i32, %p1: i32, %p2: i32, %context: !llvm.ptr {piton.context}) attributes {piton.kernel} {
  %at = arith.index_cast %p0 : i32 to index
  %a = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<1024xf32>) {
  ^bb0(%q: f32):
    %r = math.sqrt %f : f32
    linalg.yield %r : f32
  }
  %out = memref.reinterpret_cast %x to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
  memref.copy %a, %out : memref<1024xf32> to memref<1024xf32, strided<[1], offset: ?>>
  return
}

// -----

// A dot whose columns may end early reads memory where the tile is whole, else a padded copy.
// CHECK-LABEL: func.func @dot_of_boxes
// CHECK: %[[B:.*]] = memref.alloc() : memref<4x64xf32>
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %arg3, %{{.*}} : index
// CHECK: %[[FROM:.*]] = scf.if
// CHECK:   memref.cast %reinterpret_cast
// CHECK: } else {
// CHECK:   linalg.fill {{.*}} outs(%[[B]] : memref<4x64xf32>)
// CHECK:   memref.copy
// CHECK:   memref.cast %[[B]]
// CHECK: }
// CHECK: linalg.matmul ins(%arg0, %[[FROM]] :
func.func @dot_of_boxes(%a: memref<8x4xf32>, %x: memref<?xf32>, %c: memref<8x64xf32>, %columns: index) attributes {piton.kernel} {
  %zero = arith.constant 0.0 : f32
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [4, 64], strides: [64, 1] : memref<?xf32> to memref<4x64xf32, strided<[64, 1]>>
  %b = memref.alloc() : memref<4x64xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<4x64xf32>)
  %s = memref.subview %in[0, 0] [4, %columns] [1, 1] : memref<4x64xf32, strided<[64, 1]>> to memref<4x?xf32, strided<[64, 1]>>
  %t = memref.subview %b[0, 0] [4, %columns] [1, 1] : memref<4x64xf32> to memref<4x?xf32, strided<[64, 1]>>
  memref.copy %s, %t : memref<4x?xf32, strided<[64, 1]>> to memref<4x?xf32, strided<[64, 1]>>
  linalg.matmul ins(%a, %b : memref<8x4xf32>, memref<4x64xf32>) outs(%c : memref<8x64xf32>)
  return
}

// -----

// argmax: lanes keep their best value and its index; halves are folded against each other.
// CHECK-LABEL: func.func @argmax
// CHECK: %[[V0:.*]] = memref.load %arg1[]
// CHECK: %[[VS:.*]] = vector.broadcast %[[V0]] : f32 to vector<32xf32>
// CHECK: %[[I0:.*]] = memref.load %arg2[]
// CHECK: %[[IS:.*]] = vector.broadcast %[[I0]] : i32 to vector<32xi32>
// CHECK: %[[BEST:.*]]:2 = scf.for {{.*}} iter_args(%[[V:.*]] = %[[VS]], %[[I:.*]] = %[[IS]])
// CHECK:   arith.cmpf ogt, %[[V]], %{{.*}} : vector<32xf32>
// CHECK:   arith.select %{{.*}}, %[[I]], %{{.*}} : vector<32xi1>, vector<32xi32>
// CHECK: vector.extract_strided_slice %[[BEST]]#0 {offsets = [0], sizes = [16], strides = [1]}
// CHECK: vector.extract_strided_slice %[[BEST]]#0 {offsets = [16], sizes = [16], strides = [1]}
// CHECK: arith.cmpf ogt, %{{.*}} : vector<1xf32>
// CHECK: memref.store %{{.*}}, %arg1[]
// CHECK: memref.store %{{.*}}, %arg2[]
func.func @argmax(%x: memref<64xf32>, %v: memref<f32>, %i: memref<i32>) attributes {piton.kernel} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<64xf32>) outs(%v, %i : memref<f32>, memref<i32>) {
  ^bb0(%in: f32, %best: f32, %at: i32):
    %n = linalg.index 0 : index
    %m = arith.index_cast %n : index to i32
    %same = arith.cmpf oeq, %best, %in : f32
    %left = arith.cmpi slt, %at, %m : i32
    %tie = arith.andi %same, %left : i1
    %more = arith.cmpf ogt, %best, %in : f32
    %keep = arith.ori %more, %tie : i1
    %r = arith.select %keep, %best, %in : f32
    %s = arith.select %keep, %at, %m : i32
    linalg.yield %r, %s : f32, i32
  }
  return
}

// -----

// A choice that does not compare with the accumulator depends on the order: it stays.
// CHECK-LABEL: func.func @last_nonzero
// CHECK: linalg.generic
func.func @last_nonzero(%x: memref<64xf32>, %v: memref<f32>, %i: memref<i32>) attributes {piton.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<64xf32>) outs(%v, %i : memref<f32>, memref<i32>) {
  ^bb0(%in: f32, %best: f32, %at: i32):
    %n = linalg.index 0 : index
    %m = arith.index_cast %n : index to i32
    %take = arith.cmpf une, %in, %zero : f32
    %r = arith.select %take, %in, %best : f32
    %s = arith.select %take, %m, %at : i32
    linalg.yield %r, %s : f32, i32
  }
  return
}

// -----

// A maximum of numbers: halves against each other, each NaN missing from the result.
// CHECK-LABEL: func.func @row_max
// CHECK: %[[M:.*]] = scf.for
// CHECK: %[[L:.*]] = vector.extract_strided_slice %[[M]] {offsets = [0], sizes = [16], strides = [1]}
// CHECK: %[[H:.*]] = vector.extract_strided_slice %[[M]] {offsets = [16], sizes = [16], strides = [1]}
// CHECK: arith.maxnumf %[[L]], %[[H]] : vector<16xf32>
// CHECK: %[[ONE:.*]] = arith.maxnumf %{{.*}} : vector<1xf32>
// CHECK: vector.extract %[[ONE]][0]
// CHECK-NOT: vector.reduction
func.func @row_max(%a: memref<64xf32>, %s: memref<f32>) attributes {piton.kernel} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : memref<64xf32>) outs(%s : memref<f32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maxnumf %q, %p : f32
    linalg.yield %r : f32
  }
  return
}
