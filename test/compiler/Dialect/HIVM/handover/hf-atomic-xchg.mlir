// RUN: piton-opt %s | piton-opt | FileCheck %s
// exchange: hfusion.atomic_xchg, both operands memref
// accepted by 1.2.0 for: c220, a5
module {
  func.func @hf_atomic_xchg_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    %ab = memref.alloc() : memref<256xi32>
    memref.copy %a_c, %ab : memref<256xi32, strided<[1]>> to memref<256xi32>
    %d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    hfusion.atomic_xchg ins(%ab : memref<256xi32>) outs(%d : memref<256xi32, strided<[1]>>)
    return
  }
}

// CHECK-LABEL: func.func @hf_atomic_xchg_kernel(
// CHECK: hfusion.atomic_xchg
