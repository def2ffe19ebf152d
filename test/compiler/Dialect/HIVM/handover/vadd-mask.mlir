// RUN: piton-opt %s | piton-opt | FileCheck %s
// masked 1-D addition, block of 1000 lanes: reinterpret_cast, guarded fill, subview pair, copy, to_tensor, extract_slice + subview store
// accepted by 1.2.0 for: c220, a5
module {
  func.func @vadd_mask_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %z: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %n: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1000 = arith.constant 1000 : index
    %c1000_i32 = arith.constant 1000 : i32
    %zero = arith.constant 0.0 : f32
    %o = arith.muli %px, %c1000_i32 : i32
    %off = arith.index_cast %o : i32 to index
    %left = arith.subi %n, %o : i32
    %leftx = arith.index_cast %left : i32 to index
    %c0 = arith.constant 0 : index
    %len0 = arith.minsi %leftx, %c1000 : index
    %len = arith.maxsi %len0, %c0 : index
    %short = arith.cmpi slt, %len, %c1000 : index
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [1000], strides: [1] : memref<?xf32> to memref<1000xf32, strided<[1], offset: ?>>
    %a_b = memref.alloc() : memref<1000xf32>
    scf.if %short {
      linalg.fill ins(%zero : f32) outs(%a_b : memref<1000xf32>)
    } {hivm.unlikely_condition}
    %a_s = memref.subview %a_c[0] [%len] [1] : memref<1000xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %a_t = memref.subview %a_b[0] [%len] [1] : memref<1000xf32> to memref<?xf32, strided<[1]>>
    memref.copy %a_s, %a_t : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %a = bufferization.to_tensor %a_b restrict writable : memref<1000xf32> to tensor<1000xf32>
    %b_c = memref.reinterpret_cast %z to offset: [%off], sizes: [1000], strides: [1] : memref<?xf32> to memref<1000xf32, strided<[1], offset: ?>>
    %b_b = memref.alloc() : memref<1000xf32>
    scf.if %short {
      linalg.fill ins(%zero : f32) outs(%b_b : memref<1000xf32>)
    } {hivm.unlikely_condition}
    %b_s = memref.subview %b_c[0] [%len] [1] : memref<1000xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %b_t = memref.subview %b_b[0] [%len] [1] : memref<1000xf32> to memref<?xf32, strided<[1]>>
    memref.copy %b_s, %b_t : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %b = bufferization.to_tensor %b_b restrict writable : memref<1000xf32> to tensor<1000xf32>
    %r = arith.addf %a, %b : tensor<1000xf32>
    %d = memref.reinterpret_cast %y to offset: [%off], sizes: [1000], strides: [1] : memref<?xf32> to memref<1000xf32, strided<[1], offset: ?>>
    %rs = tensor.extract_slice %r[0] [%len] [1] : tensor<1000xf32> to tensor<?xf32>
    %ds = memref.subview %d[0] [%len] [1] : memref<1000xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %rs in writable %ds : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @vadd_mask_kernel(
