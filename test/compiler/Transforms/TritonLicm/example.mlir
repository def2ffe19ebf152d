// RUN: piton-opt %s -triton-licm | FileCheck %s

// CHECK-LABEL: tt.func @sum(
// CHECK-SAME:    %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[M:.*]]: tensor<8xi1>, %[[LO:.*]]: i32, %[[HI:.*]]: i32
// CHECK:         %[[RUNS:.*]] = arith.cmpi slt, %[[LO]], %[[HI]] : i32
// CHECK:         %[[ALL:.*]] = tt.splat %[[RUNS]] : i1 -> tensor<8xi1>
// CHECK:         %[[AND:.*]] = arith.andi %[[M]], %[[ALL]] : tensor<8xi1>
// CHECK:         %[[L:.*]] = tt.load %[[P]], %[[AND]]
// CHECK:         %[[E:.*]] = math.exp %[[L]]
// CHECK:         scf.for
// CHECK-NEXT:      arith.addf %{{.*}}, %[[E]]
tt.func @sum(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %lo: i32, %hi: i32) -> tensor<8xf32> {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %zero) -> (tensor<8xf32>) : i32 {
    %l = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
    %e = math.exp %l : tensor<8xf32>
    %s = arith.addf %acc, %e : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  tt.return %r : tensor<8xf32>
}
