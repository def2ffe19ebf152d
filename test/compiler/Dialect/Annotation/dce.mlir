// RUN: piton-opt %s -canonicalize -cse | FileCheck %s
// A mark counts as a write to its value: no clean-up drops or merges it.

// CHECK-LABEL: func.func @kept(
func.func @kept(%t: tensor<8xf32>) {
  // CHECK-COUNT-2: annotation.mark %{{.*}} {k} : tensor<8xf32>
  annotation.mark %t {k} : tensor<8xf32>
  annotation.mark %t {k} : tensor<8xf32>
  return
}
