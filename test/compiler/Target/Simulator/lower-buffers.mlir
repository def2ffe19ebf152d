// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-lower-buffers: copies are loops, a dot is one call through the block context.
// RUN: piton-opt %s --sim-lower-buffers | FileCheck %s

// CHECK-LABEL: func.func @copy_rows
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<4x100xf32>, vector<32xf32>
// CHECK: vector.store
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @copy_rows(%a: memref<4x100xf32>, %b: memref<4x100xf32>) attributes {piton.kernel} {
  memref.copy %a, %b : memref<4x100xf32> to memref<4x100xf32>
  return
}

// The fill with zero becomes a flag of the request (1), the type is F32 (11).
// CHECK-LABEL: func.func @dot
// CHECK-SAME: %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK-NOT: linalg.
// CHECK-DAG: arith.constant 11 : i32
// CHECK-DAG: arith.constant 1 : i32
// CHECK: llvm.load %[[CONTEXT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.call %{{.*}}(%[[CONTEXT]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> ()
func.func @dot(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %c: memref<8x16xf32>, %context: !llvm.ptr {piton.context}) attributes {piton.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x16xf32>)
  linalg.matmul ins(%a, %b : memref<8x4xf32>, memref<4x16xf32>) outs(%c : memref<8x16xf32>)
  return
}

// A type that the service lacks stays.
// CHECK-LABEL: func.func @wide_dot
// CHECK: linalg.matmul
func.func @wide_dot(%a: memref<8x4xi64>, %b: memref<4x16xi64>, %c: memref<8x16xi64>, %context: !llvm.ptr {piton.context}) attributes {piton.kernel} {
  linalg.matmul ins(%a, %b : memref<8x4xi64>, memref<4x16xi64>) outs(%c : memref<8x16xi64>)
  return
}
