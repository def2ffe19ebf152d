// RUN: piton-opt %s -triton-to-llvm=unroll-limit=2 | FileCheck %s

// Two packs are written out.
// CHECK-LABEL: tt.func @unrolled(
// CHECK:         %[[A:.*]] = tensor.extract %{{.*}}[%c0] : tensor<2xf32>
// CHECK:         llvm.inline_asm asm_dialect = att "op $0, $1;", "=r,r" %[[A]] : (f32) -> i32
// CHECK:         %[[B:.*]] = tensor.extract %{{.*}}[%c1] : tensor<2xf32>
// CHECK:         llvm.inline_asm asm_dialect = att "op $0, $1;", "=r,r" %[[B]] : (f32) -> i32
// CHECK:         tensor.from_elements
tt.func @unrolled(%x: tensor<2xf32>) -> tensor<2xi32> {
  %y = tt.elementwise_inline_asm "op $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<2xf32> -> tensor<2xi32>
  tt.return %y : tensor<2xi32>
}

// More run in a loop: four i8 share a register.
// CHECK-LABEL: tt.func @packed(
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK:           tensor.extract %{{.*}}[%[[I]]] : tensor<64xi8>
// CHECK:           arith.extui %{{.*}} : i8 to i32
// CHECK:           arith.shli
// CHECK:           arith.ori
// CHECK:           llvm.inline_asm has_side_effects asm_dialect = att "pk $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
// CHECK-COUNT-4:   arith.trunci %{{.*}} : i32 to i8
// CHECK-COUNT-4:   tensor.insert
// CHECK:           scf.yield
tt.func @packed(%x: tensor<64xi8>) -> tensor<64xi8> {
  %y = tt.elementwise_inline_asm "pk $0, $1;" {constraints = "=r,r", packed_element = 4 : i32, pure = false} %x : tensor<64xi8> -> tensor<64xi8>
  tt.return %y : tensor<64xi8>
}
