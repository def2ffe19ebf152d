// RUN: piton-opt %s | piton-opt | FileCheck %s
// atomic and: hivm.hir.store atomic = <and> (lock, load, vand, store, unlock)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @atst_and_i32_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xi32>
    memref.copy %a_c, %a_b : memref<256xi32, strided<[1]>> to memref<256xi32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xi32> to tensor<256xi32>
    %d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    hivm.hir.store ins(%a : tensor<256xi32>) outs(%d : memref<256xi32, strided<[1]>>) atomic = <and>
    return
  }
}

// CHECK-LABEL: func.func @atst_and_i32_kernel(
// CHECK: hivm.hir.store
