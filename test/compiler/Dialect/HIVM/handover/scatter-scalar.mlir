// RUN: piton-opt %s | piton-opt | FileCheck %s
// element scatter under a scalar condition: scf.if + tensor<1> store
// accepted by 1.2.0 for: c220, a5
module {
  func.func @scatter_scalar_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %ix: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %n: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %i_c = memref.reinterpret_cast %ix to offset: [0], sizes: [32], strides: [1] : memref<?xi32> to memref<32xi32, strided<[1]>>
    %i_b = memref.alloc() : memref<32xi32>
    memref.copy %i_c, %i_b : memref<32xi32, strided<[1]>> to memref<32xi32>
    %i = bufferization.to_tensor %i_b restrict writable : memref<32xi32> to tensor<32xi32>
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [32], strides: [1] : memref<?xf32> to memref<32xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<32xf32>
    memref.copy %a_c, %a_b : memref<32xf32, strided<[1]>> to memref<32xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<32xf32> to tensor<32xf32>
    scf.for %k = %c0 to %c32 step %c1 {
      %v = tensor.extract %i[%k] : tensor<32xi32>
      %ok = arith.cmpi slt, %v, %n : i32
      scf.if %ok {
        %vi = arith.index_cast %v : i32 to index
        %s = tensor.extract_slice %a[%k] [1] [1] : tensor<32xf32> to tensor<1xf32>
        %d = memref.reinterpret_cast %y to offset: [%vi], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %s in writable %d : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      }
    } {ExtractedLoadOrStore}
    return
  }
}

// CHECK-LABEL: func.func @scatter_scalar_kernel(
