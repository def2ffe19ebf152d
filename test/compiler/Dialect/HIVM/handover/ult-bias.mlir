// RUN: piton-opt %s | piton-opt | FileCheck %s
// unsigned i32 compare by flipping the sign bit (unsigned cmpi is rejected for c220)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @ult_bias_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %z: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %a_b = memref.alloc() : memref<128xi32>
    memref.copy %a_c, %a_b : memref<128xi32, strided<[1]>> to memref<128xi32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xi32> to tensor<128xi32>
    %b_c = memref.reinterpret_cast %z to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %b_b = memref.alloc() : memref<128xi32>
    memref.copy %b_c, %b_b : memref<128xi32, strided<[1]>> to memref<128xi32>
    %b = bufferization.to_tensor %b_b restrict writable : memref<128xi32> to tensor<128xi32>
    %ms_v = arith.constant -2147483648 : i32
    %ms_e = tensor.empty() : tensor<128xi32>
    %ms = linalg.fill ins(%ms_v : i32) outs(%ms_e : tensor<128xi32>) -> tensor<128xi32>
    %ab = arith.xori %a, %ms : tensor<128xi32>
    %bb = arith.xori %b, %ms : tensor<128xi32>
    %c = arith.cmpi slt, %ab, %bb : tensor<128xi32>
    %r = arith.select %c, %a, %b : tensor<128xi1>, tensor<128xi32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xi32>, memref<128xi32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @ult_bias_kernel(
