// RUN: piton-opt %s -triton-reorder-broadcast | FileCheck %s

// CHECK-LABEL: tt.func @declined(
// Broadcasts of different shapes.
// CHECK:         arith.addf %{{.*}}, %{{.*}} : tensor<8x8xf32>
// Effects, and packing that depends on the shape.
// CHECK:         tt.extern_elementwise {{.*}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK:         tt.elementwise_inline_asm {{.*}} : tensor<8xf32> -> tensor<8xf32>
tt.func @declined(%x: tensor<8x1xf32>, %y: tensor<1x8xf32>, %s: f32) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x8xf32>
  %b = tt.broadcast %y : tensor<1x8xf32> -> tensor<8x8xf32>
  %0 = arith.addf %a, %b : tensor<8x8xf32>
  %c = tt.splat %s : f32 -> tensor<8xf32>
  %1 = tt.extern_elementwise %c {libname = "", libpath = "", pure = false, symbol = "f"} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %c : tensor<8xf32> -> tensor<8xf32>
  tt.return %0, %1, %2 : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}
