// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-make-entry: the argument block at the offsets of the ABI, grid and ids from the context.
// RUN: piton-opt %s --sim-make-entry | FileCheck %s

module {
  // CHECK-LABEL: func.func private @k
  // CHECK-SAME: (%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[X:.*]]: !llvm.ptr
  // CHECK-SAME: piton.arena
  // CHECK-SAME: piton.arg_bytes = 24 : i64
  // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32>
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32>, %n: i32, %h: f16, %b: i1, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32, %context: !llvm.ptr {piton.context}, %arena: memref<?xi8> {piton.arena})
      attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, piton.kernel} {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<?xf32>
    memref.store %v, %x[%c0] : memref<?xf32>
    return
  }
  // CHECK-LABEL: func.func @piton_entry_k
  // CHECK-SAME: (%[[ARGS:.*]]: !llvm.ptr, %[[CONTEXT:.*]]: !llvm.ptr)
  // CHECK: llvm.getelementptr %[[CONTEXT]][40]
  // CHECK: llvm.getelementptr %[[CONTEXT]][48]
  // CHECK: llvm.getelementptr %[[ARGS]][0]
  // CHECK: llvm.getelementptr %[[ARGS]][8]
  // CHECK: llvm.getelementptr %[[ARGS]][12]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: llvm.getelementptr %[[ARGS]][16]
  // CHECK: arith.trunci %{{.*}} : i32 to i1
  // CHECK: llvm.getelementptr %[[CONTEXT]][8]
  // CHECK: llvm.getelementptr %[[CONTEXT]][20]
  // CHECK: llvm.getelementptr %[[CONTEXT]][32]
  // CHECK: call @k(
}
