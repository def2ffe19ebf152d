// RUN: piton-opt %s | piton-opt | FileCheck %s
// compare-and-swap: memref linalg.generic with GenericAtomicRMW = "cas"
// accepted by 1.2.0 for: c220, a5
module {
  func.func @gen_atomic_cas_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %w: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    %ab = memref.alloc() : memref<256xi32>
    memref.copy %a_c, %ab : memref<256xi32, strided<[1]>> to memref<256xi32>
    %c_c = memref.reinterpret_cast %w to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    %cb = memref.alloc() : memref<256xi32>
    memref.copy %c_c, %cb : memref<256xi32, strided<[1]>> to memref<256xi32>
    %d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xi32> to memref<256xi32, strided<[1]>>
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%d, %cb, %ab : memref<256xi32, strided<[1]>>, memref<256xi32>, memref<256xi32>) outs(%d : memref<256xi32, strided<[1]>>) attrs = {GenericAtomicRMW = "cas", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
      ^bb0(%p: i32, %q: i32, %s: i32, %oo1: i32):
        %e = arith.cmpi eq, %p, %q : i32
        %r = arith.select %e, %s, %p : i32
        linalg.yield %r : i32
    }
    return
  }
}

// CHECK-LABEL: func.func @gen_atomic_cas_kernel(
