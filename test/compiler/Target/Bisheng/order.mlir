// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
// RUN: piton-opt %s --legalize-for-bisheng=family=a5 | FileCheck %s
//
// Two pointer arguments may be one buffer, which the Ascend compiler does not consider: a load
// through one waits for stores through the other.

// CHECK-LABEL: func.func @two_names
func.func @two_names(%x: memref<8xi32>, %y: memref<8xi32>, %o: memref<8xi32>, %t: tensor<8xi32>)
    -> tensor<8xi32> {
  %a = memref.alloc() : memref<8xi32>
  // CHECK-NOT: pipe_barrier
  // CHECK: memref.copy %arg0
  memref.copy %x, %a : memref<8xi32> to memref<8xi32>
  // CHECK: bufferization.materialize_in_destination
  bufferization.materialize_in_destination %t in writable %y : (tensor<8xi32>, memref<8xi32>) -> ()
  // CHECK: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK-NEXT: memref.copy %arg0
  %b = memref.alloc() : memref<8xi32>
  memref.copy %x, %b : memref<8xi32> to memref<8xi32>
  %v = bufferization.to_tensor %b restrict writable : memref<8xi32> to tensor<8xi32>
  // Stores wait for nothing, and the barrier holds for later loads too.
  // CHECK-NOT: pipe_barrier
  // CHECK: memref.copy %arg1
  %c = memref.alloc() : memref<8xi32>
  memref.copy %y, %c : memref<8xi32> to memref<8xi32>
  bufferization.materialize_in_destination %v in writable %o : (tensor<8xi32>, memref<8xi32>) -> ()
  %w = bufferization.to_tensor %c restrict writable : memref<8xi32> to tensor<8xi32>
  // CHECK: return
  return %w : tensor<8xi32>
}

// One name is ordered by the compiler; a loop that loads waits in front of it, once.
// CHECK-LABEL: func.func @one_name_and_a_loop
func.func @one_name_and_a_loop(%x: memref<8xi32>, %y: memref<8xi32>, %t: tensor<8xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: bufferization.materialize_in_destination
  bufferization.materialize_in_destination %t in writable %x : (tensor<8xi32>, memref<8xi32>) -> ()
  // CHECK-NOT: pipe_barrier
  // CHECK: memref.load %arg0
  %s = memref.load %x[%c0] : memref<8xi32>
  // CHECK: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK-NEXT: scf.for
  // CHECK-NOT: pipe_barrier
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %y[%i] : memref<8xi32>
    %v = arith.addi %u, %s : i32
    memref.store %v, %x[%i] : memref<8xi32>
  }
  return
}

// A loop that only reads would be dropped; the barrier keeps it.

// CHECK-LABEL: func.func @polled
func.func @polled(%p: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  // CHECK: scf.while
  scf.while : () -> () {
    // CHECK: memref.load %arg0[%{{.*}}] {volatile}
    // CHECK-NEXT: hivm.hir.pipe_barrier[<PIPE_S>]
    // CHECK-NOT: annotation.mark
    %v = memref.load %p[%c0] {volatile} : memref<1xi32>
    annotation.mark %v {volatile} : i32
    %c = arith.cmpi eq, %v, %zero : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}
