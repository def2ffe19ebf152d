// RUN: piton-opt %s --legalize-for-bisheng | FileCheck %s
//
// Padding in front of loaded data races with the load: it is selected afterwards.

// CHECK-LABEL: func.func @in_front
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<64xf32>, %[[LO:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
func.func @in_front(%x: memref<64xf32>, %lo: index, %n: index) -> tensor<64xf32> {
  // CHECK-NOT: linalg.fill {{.*}} memref
  // CHECK:     memref.copy
  // CHECK:     %[[T:.*]] = bufferization.to_tensor
  // CHECK:     arith.cmpi sge
  // CHECK:     arith.cmpi slt
  // CHECK:     %[[IN:.*]] = arith.andi
  // CHECK:     arith.select %[[IN]], %[[T]]
  %zero = arith.constant 5.0 : f32
  %c64 = arith.constant 64 : index
  %buf = memref.alloc() : memref<64xf32>
  %short = arith.cmpi slt, %n, %c64 : index
  scf.if %short {
    linalg.fill ins(%zero : f32) outs(%buf : memref<64xf32>)
  } {hivm.unlikely_condition}
  %s = memref.subview %x[%lo] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1], offset: ?>>
  %d = memref.subview %buf[%lo] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.copy %s, %d : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
  return %t : tensor<64xf32>
}

// Padding behind the data is right as it is.
// CHECK-LABEL: func.func @behind
func.func @behind(%x: memref<64xf32>, %n: index) -> tensor<64xf32> {
  // CHECK:     linalg.fill {{.*}} memref<64xf32>
  // CHECK:     memref.copy
  // CHECK-NOT: arith.select
  %zero = arith.constant 5.0 : f32
  %buf = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%buf : memref<64xf32>)
  %s = memref.subview %x[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  %d = memref.subview %buf[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  memref.copy %s, %d : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  %t = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
  return %t : tensor<64xf32>
}

// Elements that lie apart come without their padding.
// CHECK-LABEL: func.func @spread
func.func @spread(%x: memref<8x16xf32, strided<[1, 8]>>, %n: index) -> tensor<8x16xf32> {
  // CHECK-NOT: linalg.fill {{.*}} memref
  // CHECK:     memref.copy
  // CHECK:     %[[T:.*]] = bufferization.to_tensor
  // CHECK:     %[[IN:.*]] = arith.cmpi slt
  // CHECK:     arith.select %[[IN]], %[[T]]
  %zero = arith.constant 5.0 : f32
  %buf = memref.alloc() : memref<8x16xf32>
  linalg.fill ins(%zero : f32) outs(%buf : memref<8x16xf32>)
  %s = memref.subview %x[0, 0] [8, %n] [1, 1] : memref<8x16xf32, strided<[1, 8]>> to memref<8x?xf32, strided<[1, 8]>>
  %d = memref.subview %buf[0, 0] [8, %n] [1, 1] : memref<8x16xf32> to memref<8x?xf32, strided<[16, 1]>>
  memref.copy %s, %d : memref<8x?xf32, strided<[1, 8]>> to memref<8x?xf32, strided<[16, 1]>>
  %t = bufferization.to_tensor %buf restrict writable : memref<8x16xf32> to tensor<8x16xf32>
  return %t : tensor<8x16xf32>
}

// Rows of 16 bytes: loaded into rows of 32.
// CHECK-LABEL: func.func @partial_rows
func.func @partial_rows(%x: memref<8x4xf32, strided<[1, 8]>>) -> tensor<8x4xf32> {
  // CHECK: %[[WIDE:.*]] = memref.alloc() : memref<8x8xf32>
  // CHECK: %[[VIEW:.*]] = memref.subview %[[WIDE]][0, 0] [8, 4] [1, 1]
  // CHECK: memref.copy %arg0, %[[VIEW]]
  // CHECK: %[[ROWS:.*]] = bufferization.to_tensor %[[WIDE]]
  // CHECK: tensor.extract_slice %[[ROWS]][0, 0] [8, 4] [1, 1]
  %buf = memref.alloc() : memref<8x4xf32>
  memref.copy %x, %buf : memref<8x4xf32, strided<[1, 8]>> to memref<8x4xf32>
  %t = bufferization.to_tensor %buf restrict writable : memref<8x4xf32> to tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}
