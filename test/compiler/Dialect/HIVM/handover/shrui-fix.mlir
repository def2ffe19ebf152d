// RUN: piton-opt %s | piton-opt | FileCheck %s
// logical right shift of i32 as arithmetic shift and mask (arith.shrui is compiled as arithmetic shift for c220)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @shrui_fix_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %a_b = memref.alloc() : memref<128xi32>
    memref.copy %a_c, %a_b : memref<128xi32, strided<[1]>> to memref<128xi32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xi32> to tensor<128xi32>
    %k_v = arith.constant 3 : i32
    %k_e = tensor.empty() : tensor<128xi32>
    %k = linalg.fill ins(%k_v : i32) outs(%k_e : tensor<128xi32>) -> tensor<128xi32>
    %mk_v = arith.constant 536870911 : i32
    %mk_e = tensor.empty() : tensor<128xi32>
    %mk = linalg.fill ins(%mk_v : i32) outs(%mk_e : tensor<128xi32>) -> tensor<128xi32>
    %s = arith.shrsi %a, %k : tensor<128xi32>
    %r = arith.andi %s, %mk : tensor<128xi32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xi32>, memref<128xi32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @shrui_fix_kernel(
