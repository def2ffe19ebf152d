// RUN: piton-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @scopes(
func.func @scopes(%t: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: scope.scope : () -> () {
  // CHECK:   scope.return
  // CHECK: } {hivm.tcore_type = #hivm.tcore_type<CUBE>}
  scope.scope : () -> () {
    hivm.hir.pipe_barrier[<PIPE_ALL>]
    scope.return
  } {hivm.tcore_type = #hivm.tcore_type<CUBE>}
  // CHECK: %[[R:.*]] = scope.scope : () -> (tensor<8xf32>) {
  // CHECK:   scope.return %{{.*}} : tensor<8xf32>
  // CHECK: } {hivm.tcore_type = #hivm.tcore_type<VECTOR>, no_inline}
  %r = scope.scope : () -> (tensor<8xf32>) {
    %0 = math.exp %t : tensor<8xf32>
    scope.return %0 : tensor<8xf32>
  } {hivm.tcore_type = #hivm.tcore_type<VECTOR>, no_inline}
  // CHECK: return %[[R]]
  return %r : tensor<8xf32>
}

// -----

// C1
func.func @arguments() {
  // expected-error @+1 {{region has 1 arguments, expected none}}
  "scope.scope"() ({
  ^bb0(%x: f32):
    scope.return
  }) : () -> ()
  return
}

// -----

// C2
func.func @types(%x: f32) {
  // expected-error @+1 {{successor operand type #0 'f32' should match successor input type #0 'i32'}}
  %r = scope.scope : () -> (i32) {
    // expected-note @+1 {{region branch point}}
    scope.return %x : f32
  }
  return
}

