// RUN: piton-opt %s -lift-control-flow -canonicalize | FileCheck %s

// A backward branch.
// CHECK-LABEL: tt.func @loop(
// CHECK:         %[[R:.*]]:2 = scf.while
// CHECK:           scf.condition
// CHECK:         tt.return %[[R]]#1 : i32
tt.func @loop(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0, %c0 : i32, i32)
^head(%i: i32, %sum: i32):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^exit
^body:
  %s = arith.addi %sum, %i : i32
  %j = arith.addi %i, %c1 : i32
  cf.br ^head(%j, %s : i32, i32)
^exit:
  tt.return %sum : i32
}

// Two returns with values.
// CHECK-LABEL: tt.func @values(
// CHECK-NOT:     {{ }}cf.
// CHECK:         tt.return
tt.func @values(%c: i1, %a: f32, %b: f32) -> f32 {
  cf.cond_br %c, ^x, ^y
^x:
  tt.return %a : f32
^y:
  %s = arith.addf %a, %b : f32
  tt.return %s : f32
}

// A loop without an exit never returns; the return is there for the verifier.
// CHECK-LABEL: tt.func @forever(
// CHECK:         scf.while
// CHECK:         tt.return
tt.func @forever(%p: !tt.ptr<i32>, %v: i32) {
  cf.br ^again
^again:
  tt.store %p, %v : !tt.ptr<i32>
  cf.br ^again
}

// The region of map_elementwise may have several blocks as well.
// CHECK-LABEL: tt.func @map(
// CHECK:         tt.map_elementwise
// CHECK-NOT:     cf.cond_br
// CHECK:         tt.map_elementwise.return
tt.func @map(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %neg = arith.cmpf olt, %e, %zero : f32
    cf.cond_br %neg, ^clip, ^keep
  ^clip:
    tt.map_elementwise.return %zero : f32
  ^keep:
    tt.map_elementwise.return %e : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return %r : tensor<8xf32>
}
