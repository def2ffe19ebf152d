// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Scans and map_elementwise.

// CHECK-LABEL: func.func private @sums
// CHECK-DAG:   %[[A1:.*]] = arith.constant 1 : i32
// CHECK-DAG:   %[[T:.*]] = arith.constant true
// CHECK-DAG:   %[[F:.*]] = arith.constant false
// CHECK:   call @triton_cumsum(%{{.*}}, %[[A1]], %[[T]]) : (tensor<4x8xf32>, i32, i1) -> tensor<4x8xf32>
// CHECK:   call @triton_cumsum_0(%{{.*}}, %[[A1]], %[[F]])
// CHECK:   call @triton_cumprod(
// CHECK:   func.func private @triton_cumsum(tensor<4x8xf32>, i32, i1) -> tensor<4x8xf32>
// CHECK:   func.func private @triton_cumsum_0(
// CHECK:   func.func private @triton_cumprod(
tt.func private @sums(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = "tt.scan"(%b) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.mulf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return %c : tensor<4x8xf32>
}

// -----

// Any other region carries a slice along the axis, from the end when reverse.
// CHECK-LABEL: func.func private @general
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:   %[[LAST:.*]] = tensor.extract_slice %[[X]][3, 0] [1, 8] [1, 1]
// CHECK:   %[[OUT:.*]] = tensor.insert_slice %[[LAST]] into %{{.*}}[3, 0] [1, 8] [1, 1]
// CHECK:   %[[R:.*]]:2 = scf.for %[[K:.*]] = %c1 to %c4 step %c1 iter_args(%[[O:.*]] = %[[OUT]], %[[C:.*]] = %[[LAST]])
// CHECK:     %[[LANE:.*]] = arith.subi %c3, %[[K]] : index
// CHECK:     %[[V:.*]] = tensor.extract_slice %[[X]][%[[LANE]], 0] [1, 8] [1, 1]
// CHECK:     %[[M:.*]] = arith.maxnumf %[[C]], %[[V]] : tensor<8xf32>
// CHECK:     %[[N:.*]] = tensor.insert_slice %[[M]] into %[[O]][%[[LANE]], 0] [1, 8] [1, 1]
// CHECK:     scf.yield %[[N]], %[[M]]
// CHECK:   return %[[R]]#0
tt.func private @general(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.maxnumf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return %a : tensor<4x8xf32>
}

// -----

// A region with control flow goes element by element.
// CHECK-LABEL: func.func private @branchy
// CHECK:   scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK:     scf.for %{{.*}} = %c1 to %c8 step %c1 iter_args(%{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8xf32>, f32) {
// CHECK:       scf.if
tt.func private @branchy(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %more = arith.cmpf ogt, %l, %r : f32
    %t = scf.if %more -> (f32) {
      %d = arith.divf %l, %r : f32
      scf.yield %d : f32
    } else {
      scf.yield %r : f32
    }
    tt.scan.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return %a : tensor<4x8xf32>
}

// -----

// Per-element regions become tensor ops; packs and branches a loop.
// CHECK-LABEL: func.func private @maps
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:   %[[D:.*]] = arith.mulf %[[X]], %[[X]] : tensor<4x8xf32>
// CHECK:   scf.for %[[I:.*]] = %c0 to %c32 step %c2
// CHECK:     %[[J:.*]] = arith.addi %[[I]], %c1 : index
// CHECK:     %[[A:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<32xf32>
// CHECK:     %[[B:.*]] = tensor.extract %{{.*}}[%[[J]]] : tensor<32xf32>
// CHECK:     %[[S0:.*]] = tensor.insert %[[B]] into %{{.*}}[%[[I]]]
// CHECK:     tensor.insert %[[A]] into %[[S0]][%[[J]]]
// CHECK:   scf.for
// CHECK:     scf.if
tt.func private @maps(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%v: f32):
    %t = arith.mulf %v, %v : f32
    tt.map_elementwise.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = "tt.map_elementwise"(%a) <{pack = 2 : i32}> ({
  ^bb0(%v: f32, %w: f32):
    tt.map_elementwise.return %w, %v : f32, f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = "tt.map_elementwise"(%b) <{pack = 1 : i32}> ({
  ^bb0(%v: f32):
    %zero = arith.constant 0.0 : f32
    %neg = arith.cmpf olt, %v, %zero : f32
    cf.cond_br %neg, ^bb1, ^bb2
  ^bb1:
    %m = arith.divf %zero, %v : f32
    tt.map_elementwise.return %m : f32
  ^bb2:
    tt.map_elementwise.return %v : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return %c : tensor<4x8xf32>
}
