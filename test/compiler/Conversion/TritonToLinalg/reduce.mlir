// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Reductions: neutral elements of every kind, index reductions with the limits of their
// types, and general combine regions.

// CHECK-LABEL: func.func private @neutral
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:   %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG:   %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:   %[[ONES:.*]] = arith.constant -1 : i16
// CHECK-DAG:   %[[MIN:.*]] = arith.constant -32768 : i16
// CHECK-DAG:   %[[MAXU:.*]] = arith.constant 0 : i16
// CHECK:   %[[I0:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4xf32>)
// CHECK:   linalg.reduce { arith.addf } ins(%{{.*}} : tensor<4x8xf32>) outs(%[[I0]] : tensor<4xf32>) dimensions = [1]
// CHECK:   %[[I1:.*]] = linalg.fill ins(%[[NAN]]
// CHECK:   linalg.reduce { arith.maxnumf } {{.*}} outs(%[[I1]]
// CHECK:   %[[I2:.*]] = linalg.fill ins(%[[INF]]
// CHECK:   linalg.reduce { arith.minimumf } {{.*}} outs(%[[I2]]
// CHECK:   %[[I3:.*]] = linalg.fill ins(%[[ONES]] : i16) outs(%{{.*}} : tensor<i16>)
// CHECK:   %[[R3:.*]] = linalg.reduce { arith.andi } ins(%{{.*}} : tensor<8xi16>) outs(%[[I3]] : tensor<i16>) dimensions = [0]
// CHECK:   tensor.extract %[[R3]][] : tensor<i16>
// CHECK:   %[[I4:.*]] = linalg.fill ins(%[[MIN]]
// CHECK:   linalg.reduce { arith.maxsi } {{.*}} outs(%[[I4]]
// CHECK:   %[[I5:.*]] = linalg.fill ins(%[[MAXU]]
// CHECK:   linalg.reduce { arith.maxui } {{.*}} outs(%[[I5]]
tt.func private @neutral(%x: tensor<4x8xf32>, %y: tensor<8xi16>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i16, i16, i16) {
  %a = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %b = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.maxnumf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %c = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.minimumf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %d = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%l: i16, %r: i16):
    %t = arith.andi %l, %r : i16
    tt.reduce.return %t : i16
  }) : (tensor<8xi16>) -> i16
  %e = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%l: i16, %r: i16):
    %t = arith.maxsi %l, %r : i16
    tt.reduce.return %t : i16
  }) : (tensor<8xi16>) -> i16
  %f = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%l: i16, %r: i16):
    %t = arith.maxui %l, %r : i16
    tt.reduce.return %t : i16
  }) : (tensor<8xi16>) -> i16
  tt.return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i16, i16, i16
}

// -----

// The accumulator is the out argument; limits are the type's own (i8 here).
// CHECK-LABEL: func.func private @argmin
// CHECK-DAG:   %[[LOW:.*]] = arith.constant 127 : i8
// CHECK-DAG:   %[[IDX:.*]] = arith.constant 2147483647 : i32
// CHECK:   %[[V:.*]] = linalg.fill ins(%[[LOW]]
// CHECK:   %[[I:.*]] = linalg.fill ins(%[[IDX]]
// CHECK:   linalg.reduce ins(%{{.*}}, %{{.*}} : tensor<4x8xi8>, tensor<4x8xi32>) outs(%[[V]], %[[I]] : tensor<4xi8>, tensor<4xi32>) dimensions = [1] {reduce_mode = "min_with_index", tie_break_left = "true", unsigned_src = "false"}
// CHECK:     (%[[IN:.*]]: i8, %[[INI:.*]]: i32, %[[ACC:.*]]: i8, %[[ACCI:.*]]: i32) {
// CHECK:       arith.cmpi eq, %[[ACC]], %[[IN]] : i8
// CHECK:       arith.cmpi slt, %[[ACCI]], %[[INI]] : i32
// CHECK:       arith.cmpi slt, %[[ACC]], %[[IN]] : i8
tt.func private @argmin(%x: tensor<4x8xi8>, %k: tensor<4x8xi32>) -> (tensor<4xi8>, tensor<4xi32>) {
  %r:2 = "tt.reduce"(%x, %k) <{axis = 1 : i32}> ({
  ^bb0(%v: i8, %i: i32, %w: i8, %j: i32):
    %eq = arith.cmpi eq, %v, %w : i8
    %lt = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %eq, %lt : i1
    %less = arith.cmpi slt, %v, %w : i8
    %take = arith.ori %less, %tie : i1
    %a = arith.select %take, %v, %w : i8
    %b = arith.select %take, %i, %j : i32
    tt.reduce.return %a, %b : i8, i32
  }) : (tensor<4x8xi8>, tensor<4x8xi32>) -> (tensor<4xi8>, tensor<4xi32>)
  tt.return %r#0, %r#1 : tensor<4xi8>, tensor<4xi32>
}

// -----

// Unsigned maximum, the higher index of equal ones.
// CHECK-LABEL: func.func private @argmax_right
// CHECK:   {reduce_mode = "max_with_index", tie_break_left = "false", unsigned_src = "true"}
tt.func private @argmax_right(%x: tensor<8xi32>, %k: tensor<8xi32>) -> (i32, i32) {
  %r:2 = "tt.reduce"(%x, %k) <{axis = 0 : i32}> ({
  ^bb0(%v: i32, %i: i32, %w: i32, %j: i32):
    %more = arith.cmpi ugt, %v, %w : i32
    %eq = arith.cmpi eq, %v, %w : i32
    %gt = arith.cmpi sgt, %i, %j : i32
    %tie = arith.andi %eq, %gt : i1
    %take = arith.ori %more, %tie : i1
    %a = arith.select %take, %v, %w : i32
    %b = arith.select %take, %i, %j : i32
    tt.reduce.return %a, %b : i32, i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)
  tt.return %r#0, %r#1 : i32, i32
}

// -----

// Selects that are not those of an index reduction: slice by slice, never misread.
// CHECK-LABEL: func.func private @not_argmax
// CHECK-NOT:   reduce_mode
// CHECK:   %[[V:.*]] = tensor.extract_slice %{{.*}}[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK:   %[[I:.*]] = tensor.extract_slice %{{.*}}[0, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<8xi32>
// CHECK:   scf.for %[[K:.*]] = %c1 to %c4 step %c1 iter_args(%[[A:.*]] = %[[V]], %[[B:.*]] = %[[I]])
// CHECK:     %[[W:.*]] = tensor.extract_slice %{{.*}}[%[[K]], 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK:     %[[G:.*]] = arith.cmpf ogt, %[[A]], %[[W]] : tensor<8xf32>
// CHECK:     arith.select %[[G]], %[[A]], %[[W]] : tensor<8xi1>, tensor<8xf32>
tt.func private @not_argmax(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %r:2 = "tt.reduce"(%x, %k) <{axis = 0 : i32}> ({
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %v, %w : f32
    %a = arith.select %more, %v, %w : f32
    %b = arith.select %more, %j, %i : i32
    tt.reduce.return %a, %b : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  tt.return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}

// -----

// A region with control flow cannot work on slices: linalg.reduce of the rest onto slice 0.
// CHECK-LABEL: func.func private @branchy
// CHECK:   %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0] [4, 1] [1, 1] : tensor<4x8xf32> to tensor<4xf32>
// CHECK:   %[[T:.*]] = tensor.extract_slice %{{.*}}[0, 1] [4, 7] [1, 1] : tensor<4x8xf32> to tensor<4x7xf32>
// CHECK:   linalg.reduce ins(%[[T]] : tensor<4x7xf32>) outs(%[[S]] : tensor<4xf32>) dimensions = [1]
// CHECK:     scf.if
tt.func private @branchy(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%v: f32, %w: f32):
    %more = arith.cmpf ogt, %v, %w : f32
    %a = scf.if %more -> (f32) {
      %d = arith.divf %v, %w : f32
      scf.yield %d : f32
    } else {
      scf.yield %w : f32
    }
    tt.reduce.return %a : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %r : tensor<4xf32>
}
