// RUN: piton-opt %s | piton-opt | FileCheck %s
// in-tile gather through the private helper triton_gather
// accepted by 1.2.0 for: c220, a5
module {
  func.func private @triton_gather(tensor<4x64xf32>, tensor<4x32xi32>, i32) -> tensor<4x32xf32>
  func.func @h_gather_f32_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %ix: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [4, 64], strides: [64, 1] : memref<?xf32> to memref<4x64xf32, strided<[64, 1]>>
    %a_b = memref.alloc() : memref<4x64xf32>
    memref.copy %a_c, %a_b : memref<4x64xf32, strided<[64, 1]>> to memref<4x64xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<4x64xf32> to tensor<4x64xf32>
    %i_c = memref.reinterpret_cast %ix to offset: [0], sizes: [4, 32], strides: [32, 1] : memref<?xi32> to memref<4x32xi32, strided<[32, 1]>>
    %i_b = memref.alloc() : memref<4x32xi32>
    memref.copy %i_c, %i_b : memref<4x32xi32, strided<[32, 1]>> to memref<4x32xi32>
    %i = bufferization.to_tensor %i_b restrict writable : memref<4x32xi32> to tensor<4x32xi32>
    %ax = arith.constant 1 : i32
    %r = func.call @triton_gather(%a, %i, %ax) : (tensor<4x64xf32>, tensor<4x32xi32>, i32) -> tensor<4x32xf32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [4, 32], strides: [32, 1] : memref<?xf32> to memref<4x32xf32, strided<[32, 1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<4x32xf32>, memref<4x32xf32, strided<[32, 1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @h_gather_f32_kernel(
