// RUN: piton-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @marks(
func.func @marks(%t: tensor<8xf32>, %m: memref<8xf32>, %p: f32) {
  // CHECK: annotation.mark %{{.*}} {hivm.multi_buffer = 2 : i32, mayDiscretememaccess} : tensor<8xf32>
  annotation.mark %t {hivm.multi_buffer = 2 : i32, mayDiscretememaccess} : tensor<8xf32>
  // CHECK: annotation.mark %{{.*}} keys = ["pad_const"] values = [%{{.*}} : f32] : memref<8xf32>
  annotation.mark %m keys = ["pad_const"] values = [%p : f32] : memref<8xf32>
  // CHECK: annotation.mark %{{.*}} {effects = ["write", "read"], k = 1 : i64} : memref<8xf32>
  annotation.mark %m {effects = ["write", "read"], k = 1 : i64} : memref<8xf32>
  return
}

// -----

// C1
func.func @keys(%t: tensor<8xf32>, %p: f32) {
  // expected-error @+1 {{needs one key a value, but has 1 keys and 2 values}}
  annotation.mark %t keys = ["a"] values = [%p, %p : f32, f32] : tensor<8xf32>
  return
}

// -----

// C2
func.func @effect(%t: tensor<8xf32>) {
  // expected-error @+1 {{effect 'free' is neither read nor write}}
  annotation.mark %t {effects = ["free"]} : tensor<8xf32>
  return
}
