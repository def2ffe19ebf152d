// RUN: piton-opt %s | piton-opt | FileCheck %s
// annotation.mark hivm.multi_buffer = 2 on a load buffer inside a loop
// accepted by 1.2.0 for: c220, a5
module {
  func.func @hint_multibuffer_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    scf.for %k = %c0 to %c8 step %c1 {
      %o = arith.muli %k, %c256 : index
      %s = memref.reinterpret_cast %x to offset: [%o], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
      %b = memref.alloc() : memref<256xf32>
      annotation.mark %b {hivm.multi_buffer = 2 : i32} : memref<256xf32>
      memref.copy %s, %b : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
      %t = bufferization.to_tensor %b restrict writable : memref<256xf32> to tensor<256xf32>
      %r = math.exp %t : tensor<256xf32>
      %d = memref.reinterpret_cast %y to offset: [%o], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
      bufferization.materialize_in_destination %r in writable %d : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    }
    return
  }
}

// CHECK-LABEL: func.func @hint_multibuffer_kernel(
// CHECK: annotation.mark
