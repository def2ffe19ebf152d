// RUN: piton-opt %s | piton-opt | FileCheck %s
// triton_indirect_load helper with mask and other (register-based targets only)
// accepted by 1.2.0 for: a5
module {
  func.func private @triton_indirect_load(memref<?xf32>, tensor<128xi64>, tensor<128xi1>, tensor<128xf32>) -> tensor<128xf32>
  func.func @h_indirect_load_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %ix: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %i_c = memref.reinterpret_cast %ix to offset: [0], sizes: [128], strides: [1] : memref<?xi64> to memref<128xi64, strided<[1]>>
    %i_b = memref.alloc() : memref<128xi64>
    memref.copy %i_c, %i_b : memref<128xi64, strided<[1]>> to memref<128xi64>
    %i = bufferization.to_tensor %i_b restrict writable : memref<128xi64> to tensor<128xi64>
    %zz_v = arith.constant 0 : i64
    %zz_e = tensor.empty() : tensor<128xi64>
    %zz = linalg.fill ins(%zz_v : i64) outs(%zz_e : tensor<128xi64>) -> tensor<128xi64>
    %oo_v = arith.constant 0.0 : f32
    %oo_e = tensor.empty() : tensor<128xf32>
    %oo = linalg.fill ins(%oo_v : f32) outs(%oo_e : tensor<128xf32>) -> tensor<128xf32>
    %m = arith.cmpi sge, %i, %zz : tensor<128xi64>
    %r = func.call @triton_indirect_load(%x, %i, %m, %oo) : (memref<?xf32>, tensor<128xi64>, tensor<128xi1>, tensor<128xf32>) -> tensor<128xf32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @h_indirect_load_kernel(
