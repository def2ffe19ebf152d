// RUN: piton-opt %s | piton-opt | FileCheck %s
// row gather: scf.for with one row copy per index
// accepted by 1.2.0 for: c220, a5
module {
  func.func @gather_loop_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %ix: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %i_c = memref.reinterpret_cast %ix to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    %i_b = memref.alloc() : memref<8xi32>
    memref.copy %i_c, %i_b : memref<8xi32, strided<[1]>> to memref<8xi32>
    %i = bufferization.to_tensor %i_b restrict writable : memref<8xi32> to tensor<8xi32>
    %o = memref.alloc() : memref<8x64xf32>
    scf.for %k = %c0 to %c8 step %c1 {
      %v = tensor.extract %i[%k] : tensor<8xi32>
      %vi = arith.index_cast %v : i32 to index
      %ro = arith.muli %vi, %c64 : index
      %s = memref.reinterpret_cast %x to offset: [%ro], sizes: [1, 64], strides: [64, 1] : memref<?xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
      %d = memref.subview %o[%k, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
      memref.copy %s, %d : memref<1x64xf32, strided<[64, 1], offset: ?>> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    } {ExtractedLoadOrStore, hivm.parallel_loop}
    %r = bufferization.to_tensor %o restrict writable : memref<8x64xf32> to tensor<8x64xf32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [8, 64], strides: [64, 1] : memref<?xf32> to memref<8x64xf32, strided<[64, 1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<8x64xf32>, memref<8x64xf32, strided<[64, 1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @gather_loop_kernel(
