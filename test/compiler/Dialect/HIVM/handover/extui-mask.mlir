// RUN: piton-opt %s | piton-opt | FileCheck %s
// zero extension i32 to i64 as extsi + andi (arith.extui sign-extends for c220)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @extui_mask_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %a_b = memref.alloc() : memref<128xi32>
    memref.copy %a_c, %a_b : memref<128xi32, strided<[1]>> to memref<128xi32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xi32> to tensor<128xi32>
    %mk_v = arith.constant 4294967295 : i64
    %mk_e = tensor.empty() : tensor<128xi64>
    %mk = linalg.fill ins(%mk_v : i64) outs(%mk_e : tensor<128xi64>) -> tensor<128xi64>
    %s = arith.extsi %a : tensor<128xi32> to tensor<128xi64>
    %r = arith.andi %s, %mk : tensor<128xi64>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xi64> to memref<128xi64, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xi64>, memref<128xi64, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @extui_mask_kernel(
