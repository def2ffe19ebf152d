// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-assign-arena: buffers that do not live together share a range; small totals go to the
// stack; a size without a bound is an error.
// RUN: piton-opt %s --pass-pipeline='builtin.module(func.func(sim-assign-arena{stack-limit=0}))' --split-input-file --verify-diagnostics | FileCheck %s
// RUN: piton-opt %s --sim-assign-arena --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=STACK

// CHECK-LABEL: func.func @reuse
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<?xi8> {piton.arena}
// CHECK-SAME: piton.arena_bytes = 512 : i64
// CHECK-DAG: memref.view %[[ARENA]][%{{.*}}][] : memref<?xi8> to memref<64xf32>
// CHECK-DAG: memref.view %[[ARENA]][%{{.*}}][] : memref<?xi8> to memref<64xf32>
// CHECK-NOT: memref.alloc
// STACK-LABEL: func.func @reuse
// STACK-SAME: piton.arena_bytes = 0 : i64
// STACK: memref.alloca() {alignment = 64 : i64} : memref<64xf32>
func.func @reuse(%x: memref<64xf32>, %f: f32) attributes {piton.kernel} {
  // a and b live together, c starts after a has ended.
  %a = memref.alloc() : memref<64xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<64xf32>)
  %b = memref.alloc() : memref<64xf32>
  linalg.copy ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  %c = memref.alloc() : memref<64xf32>
  linalg.copy ins(%b : memref<64xf32>) outs(%c : memref<64xf32>)
  linalg.copy ins(%c : memref<64xf32>) outs(%x : memref<64xf32>)
  return
}

// -----

// A buffer made before a loop and read in it lives through all iterations: no sharing.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: piton.arena_bytes = 512 : i64
func.func @loop(%x: memref<64xf32>, %f: f32, %n: index) attributes {piton.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<64xf32>)
  scf.for %i = %c0 to %n step %c1 {
    linalg.copy ins(%a : memref<64xf32>) outs(%x : memref<64xf32>)
    %b = memref.alloc() : memref<64xf32>
    linalg.fill ins(%f : f32) outs(%b : memref<64xf32>)
    linalg.copy ins(%b : memref<64xf32>) outs(%x : memref<64xf32>)
  }
  return
}

// -----

func.func @unbounded(%n: index, %f: f32) attributes {piton.kernel} {
  // expected-error@+1 {{a local buffer of type 'memref<?xf32>' has no size that is known at compile time}}
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<?xf32>)
  return
}
