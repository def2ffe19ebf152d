// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Atomic stores where the hardware has them; else load, compute, store under the lock of the kernel.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @add
func.func @add(%lock: memref<?xi8>, %m: memref<256xf32>, %x: tensor<256xf32>)
    attributes {SyncBlockLockArgIdx = 0 : i64} {
  // CHECK:      hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK-NEXT: hivm.hir.store ins(%arg2 : tensor<256xf32>) outs(%arg1 : memref<256xf32>) atomic = <add>
  // CHECK-NEXT: return
  %b = memref.alloc() : memref<256xf32>
  bufferization.materialize_in_destination %x in writable %b : (tensor<256xf32>, memref<256xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%m, %b : memref<256xf32>, memref<256xf32>) outs(%m : memref<256xf32>)
      attrs = {GenericAtomicRMW = "fadd", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
    ^bb0(%p: f32, %v: f32, %o: f32):
      %r = arith.addf %p, %v : f32
      linalg.yield %r : f32
  }
  return
}

// The old value and the update are one step: both under the lock.
// CHECK-LABEL: func.func @fetch_add
func.func @fetch_add(%lock: memref<?xi8>, %m: memref<256xi32>, %x: tensor<256xi32>) -> tensor<256xi32>
    attributes {SyncBlockLockArgIdx = 0 : i64} {
  // CHECK: %[[OLD:.*]] = memref.alloc()
  // CHECK: %[[L:.*]] = hivm.hir.create_sync_block_lock from %arg0
  // CHECK: hivm.hir.sync_block_lock lock_var(%[[L]]
  // CHECK: memref.copy %arg1, %[[OLD]]
  // CHECK: %[[T:.*]] = bufferization.to_tensor %[[OLD]]
  // CHECK: %[[NEW:.*]] = arith.addi %[[T]], %arg2
  // CHECK: bufferization.materialize_in_destination %[[NEW]] in writable %arg1
  // CHECK: hivm.hir.sync_block_unlock lock_var(%[[L]]
  %b = memref.alloc() : memref<256xi32>
  %old = memref.alloc() : memref<256xi32>
  bufferization.materialize_in_destination %x in writable %b : (tensor<256xi32>, memref<256xi32>) -> ()
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%m, %b : memref<256xi32>, memref<256xi32>) outs(%m, %old : memref<256xi32>, memref<256xi32>)
      attrs = {GenericAtomicRMW = "add", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
    ^bb0(%p: i32, %v: i32, %o: i32, %q: i32):
      %r = arith.addi %p, %v : i32
      linalg.yield %r, %p : i32, i32
  }
  %t = bufferization.to_tensor %old restrict writable : memref<256xi32> to tensor<256xi32>
  return %t : tensor<256xi32>
}

// A mutex: the failing attempt writes nothing. One lock from the loop to the release, since a block
// passes a lock once.
// CHECK-LABEL: func.func @mutex
func.func @mutex(%lock: memref<?xi8>, %m: memref<1xi32>)
    attributes {SyncBlockLockArgIdx = 0 : i64} {
  // CHECK: hivm.hir.sync_block_lock
  // CHECK: scf.while
  // CHECK:   scf.if
  // CHECK:     bufferization.materialize_in_destination
  // CHECK: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK: bufferization.materialize_in_destination %{{.*}} in writable %arg1
  // CHECK: hivm.hir.sync_block_unlock
  // CHECK-NOT: sync_block_lock
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  scf.while : () -> () {
    %cmp = memref.alloc() : memref<1xi32>
    %new = memref.alloc() : memref<1xi32>
    %old = memref.alloc() : memref<1xi32>
    memref.store %zero, %cmp[%c0] : memref<1xi32>
    memref.store %one, %new[%c0] : memref<1xi32>
    linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%m, %cmp, %new : memref<1xi32>, memref<1xi32>, memref<1xi32>) outs(%m, %old : memref<1xi32>, memref<1xi32>)
        attrs = {GenericAtomicRMW = "cas", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
      ^bb0(%p: i32, %c: i32, %v: i32, %o: i32, %q: i32):
        %e = arith.cmpi eq, %p, %c : i32
        %r = arith.select %e, %v, %p : i32
        linalg.yield %r, %p : i32, i32
    }
    %was = memref.load %old[%c0] : memref<1xi32>
    %again = arith.cmpi eq, %was, %one : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  %free = memref.alloc() : memref<1xi32>
  memref.store %zero, %free[%c0] : memref<1xi32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%m, %free : memref<1xi32>, memref<1xi32>) outs(%m : memref<1xi32>)
      attrs = {GenericAtomicRMW = "exch", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
    ^bb0(%p: i32, %v: i32, %o: i32):
      linalg.yield %v : i32
  }
  return
}
