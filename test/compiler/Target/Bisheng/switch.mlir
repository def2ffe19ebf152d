// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// The compiler orders pipes across scf.if, not across the cases of a switch.

// CHECK-LABEL: func.func @effects
func.func @effects(%c: index, %x: tensor<8xf32>, %m: memref<8xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[IS0:.*]] = arith.cmpi eq, %arg0, %[[ZERO]]
  // CHECK: scf.if %[[IS0]] {
  // CHECK:   bufferization.materialize_in_destination
  // CHECK: } else {
  // CHECK:   arith.cmpi eq
  // CHECK:   scf.if
  // CHECK:     arith.addf
  // CHECK-NOT: scf.index_switch
  scf.index_switch %c
  case 0 {
    bufferization.materialize_in_destination %x in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
    scf.yield
  }
  case 5 {
    %s = arith.addf %x, %x : tensor<8xf32>
    bufferization.materialize_in_destination %s in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
    scf.yield
  }
  default {
  }
  return
}

// CHECK-LABEL: func.func @values
func.func @values(%c: index, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = scf.if {{.*}} -> (tensor<8xf32>) {
  // CHECK:   scf.yield %arg1
  // CHECK: } else {
  // CHECK:   %[[N:.*]] = scf.if {{.*}} -> (tensor<8xf32>) {
  // CHECK:     scf.yield %arg2
  // CHECK:   } else {
  // CHECK:     arith.addf
  // CHECK:   }
  // CHECK:   scf.yield %[[N]]
  // CHECK: }
  // CHECK: return %[[R]]
  %r = scf.index_switch %c -> tensor<8xf32>
  case 0 {
    scf.yield %x : tensor<8xf32>
  }
  case 5 {
    scf.yield %y : tensor<8xf32>
  }
  default {
    %s = arith.addf %x, %y : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
