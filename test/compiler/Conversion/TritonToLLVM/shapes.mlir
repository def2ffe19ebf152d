// RUN: piton-opt %s -triton-to-llvm -split-input-file -verify-diagnostics | FileCheck %s

// Two results come back in a struct; rank 2 is walked row-major.
// CHECK-LABEL: tt.func @two_results(
// CHECK:         tt.reshape %{{.*}} : tensor<8x16xf32> -> tensor<128xf32>
// CHECK:         scf.for
// CHECK:           %[[R:.*]] = llvm.inline_asm asm_dialect = att "swz", "=r,=r,r,r" %{{.*}}, %{{.*}} : (f32, i32) -> !llvm.struct<(i32, f32)>
// CHECK:           llvm.extractvalue %[[R]][0]
// CHECK:           llvm.extractvalue %[[R]][1]
// CHECK:         tt.reshape %{{.*}} : tensor<128xi32> -> tensor<8x16xi32>
tt.func @two_results(%x: tensor<8x16xf32>, %s: i32) -> (tensor<8x16xi32>, tensor<8x16xf32>) {
  %y:2 = tt.elementwise_inline_asm "swz" {constraints = "=r,=r,r,r", packed_element = 1 : i32, pure = true} %x, %s : tensor<8x16xf32>, i32 -> tensor<8x16xi32>, tensor<8x16xf32>
  tt.return %y#0, %y#1 : tensor<8x16xi32>, tensor<8x16xf32>
}

// f16 pairs travel as their bits.
// CHECK-LABEL: tt.func @halves(
// CHECK:         arith.bitcast %{{.*}} : f16 to i16
// CHECK:         arith.extui %{{.*}} : i16 to i32
// CHECK:         llvm.inline_asm {{.*}} : (i32) -> i32
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK:         arith.bitcast %{{.*}} : i16 to f16
tt.func @halves(%x: tensor<2xf16>) -> tensor<2xf16> {
  %y = tt.elementwise_inline_asm "h" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %x : tensor<2xf16> -> tensor<2xf16>
  tt.return %y : tensor<2xf16>
}

// CHECK-LABEL: tt.func @scalars(
// CHECK:         llvm.inline_asm asm_dialect = att "mov $0, 1", "=r"  : () -> i32
// CHECK:         llvm.inline_asm {{.*}} : (i64) -> i64
tt.func @scalars(%x: i64) -> (i32, i64) {
  %y = tt.elementwise_inline_asm "mov $0, 1" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
  %z = tt.elementwise_inline_asm "q" {constraints = "=l,l", packed_element = 1 : i32, pure = true} %x : i64 -> i64
  tt.return %y, %z : i32, i64
}

// -----

tt.func @pointers(%x: tensor<8x!tt.ptr<f32>>) -> tensor<8xi64> {
  // expected-error @+1 {{takes integers and floats, not 'tensor<8x!tt.ptr<f32>>'; convert pointers with tt.ptr_to_int}}
  %y = tt.elementwise_inline_asm "p" {constraints = "=l,l", packed_element = 1 : i32, pure = true} %x : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  tt.return %y : tensor<8xi64>
}

// -----

tt.func @scalar_pack(%x: i16) -> i16 {
  // expected-error @+1 {{packs 2 elements, but its operands are scalars; use a pack of 1}}
  %y = tt.elementwise_inline_asm "p" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %x : i16 -> i16
  tt.return %y : i16
}
