// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sim-prepare: calls are inlined, hints go, atomics become LLVM atomics, prints become services.
// RUN: piton-opt %s --sim-prepare | FileCheck %s

module {
  func.func private @triton_print(tensor<4xi32>) attributes {hex = false, prefix = " x: "}
  func.func private @triton_cumsum(tensor<4xf32>, i32, i1) -> tensor<4xf32>
  func.func private @twice(%x: i32) -> i32 {
    %two = arith.constant 2 : i32
    %r = arith.muli %x, %two : i32
    return %r : i32
  }
  // CHECK: llvm.mlir.global internal constant @{{.*}}(" x: \00")
  // CHECK-NOT: @twice
  // CHECK-LABEL: func.func @kernel
  // CHECK-SAME: %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr {piton.context}
  // CHECK-SAME: piton.can_block
  // CHECK-SAME: piton.kernel
  func.func @kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32>, %n: i32, %t: tensor<4xi32>, %f: tensor<4xf32>, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
      attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local"} {
    // CHECK: arith.muli %{{.*}}, %{{.*}} : i32
    %m = func.call @twice(%n) : (i32) -> i32
    %one = memref.alloc() : memref<1xi32>
    // CHECK-NOT: annotation.mark
    annotation.mark %one {hivm.multi_buffer = 2 : i32} : memref<1xi32>
    %c0 = arith.constant 0 : index
    memref.store %m, %one[%c0] : memref<1xi32>
    %old = memref.alloc() : memref<1xi32>
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [1], strides: [1] : memref<?xi32> to memref<1xi32, strided<[1]>>
    // The wait: an atomic exchange until the old value is 0.
    // CHECK: scf.while
    // CHECK: llvm.atomicrmw xchg %{{.*}}, %{{.*}} acq_rel : !llvm.ptr, i32
    // CHECK: scf.condition
    // CHECK: llvm.load %[[CONTEXT]] : !llvm.ptr -> !llvm.ptr
    // CHECK: llvm.call
    scf.while : () -> () {
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%view, %one : memref<1xi32, strided<[1]>>, memref<1xi32>) outs(%view, %old : memref<1xi32, strided<[1]>>, memref<1xi32>) attrs = {GenericAtomicRMW = "exch", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
      ^bb0(%p: i32, %q: i32, %r: i32, %s: i32):
        linalg.yield %q, %p : i32, i32
      }
      %v = memref.load %old[%c0] : memref<1xi32>
      %zero = arith.constant 0 : i32
      %taken = arith.cmpi ne, %v, %zero : i32
      scf.condition(%taken)
    } do {
      scf.yield
    }
    // CHECK: bufferization.to_buffer %{{.*}} read_only
    // CHECK: llvm.call
    func.call @triton_print(%t) : (tensor<4xi32>) -> ()
    %axis = arith.constant 0 : i32
    %reverse = arith.constant false
    // CHECK: scf.for
    // CHECK: arith.addf
    // CHECK: bufferization.to_tensor
    %sum = func.call @triton_cumsum(%f, %axis, %reverse) : (tensor<4xf32>, i32, i1) -> tensor<4xf32>
    %out = memref.alloc() : memref<4xf32>
    bufferization.materialize_in_destination %sum in writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
    return
  }
  // CHECK-NOT: func.func private @triton
}
