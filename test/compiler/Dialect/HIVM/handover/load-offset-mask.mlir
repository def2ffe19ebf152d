// RUN: piton-opt %s | piton-opt | FileCheck %s
// box mask that starts at lane lo: destination subview with offset, left and right padding
// accepted by 1.2.0 for: c220, a5
module {
  func.func @load_offset_mask_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %lo: i32, %n: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %n1 = arith.index_cast %n : i32 to index
    %l1 = arith.index_cast %lo : i32 to index
    %zero = arith.constant 0.0 : f32
    %b = memref.alloc() : memref<512xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<512xf32>)
    %s0 = memref.reinterpret_cast %x to offset: [0], sizes: [512], strides: [1] : memref<?xf32> to memref<512xf32, strided<[1]>>
    %s = memref.subview %s0[%l1] [%n1] [1] : memref<512xf32, strided<[1]>> to memref<?xf32, strided<[1], offset: ?>>
    %d = memref.subview %b[%l1] [%n1] [1] : memref<512xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.copy %s, %d : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %b restrict writable : memref<512xf32> to tensor<512xf32>
    %t_d = memref.reinterpret_cast %y to offset: [0], sizes: [512], strides: [1] : memref<?xf32> to memref<512xf32, strided<[1]>>
    bufferization.materialize_in_destination %t in writable %t_d : (tensor<512xf32>, memref<512xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @load_offset_mask_kernel(
