// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
// RUN: piton-opt %s --legalize-for-bisheng=family=a5 | FileCheck %s
//
// Bitcasts of memory that the compilers find no place for.

// CHECK-LABEL: func.func @argument
func.func @argument(%x: memref<?xf32>) -> memref<8xi32, strided<[1]>> {
  // CHECK: %[[AT:.*]] = memref.extract_aligned_pointer_as_index %arg0
  // CHECK: %[[ADDRESS:.*]] = arith.index_cast %[[AT]] : index to i64
  // CHECK: %[[MEMORY:.*]] = hivm.hir.pointer_cast(%[[ADDRESS]]) [%{{.*}}] : memref<?xi32>
  // CHECK: annotation.mark %[[MEMORY]] {address_space = #hivm.address_space<gm>}
  // CHECK: memref.reinterpret_cast %[[MEMORY]]
  %0 = arith.bitcast %x : memref<?xf32> to memref<?xi32>
  %1 = memref.reinterpret_cast %0 to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
  return %1 : memref<8xi32, strided<[1]>>
}

// CHECK-LABEL: func.func @element
func.func @element(%x: tensor<8xf32>, %i: index) -> i32 {
  // CHECK: %[[ELEMENT:.*]] = tensor.extract %arg0[%arg1]
  // CHECK: arith.bitcast %[[ELEMENT]] : f32 to i32
  %0 = arith.bitcast %x : tensor<8xf32> to tensor<8xi32>
  %1 = tensor.extract %0[%i] : tensor<8xi32>
  return %1 : i32
}
