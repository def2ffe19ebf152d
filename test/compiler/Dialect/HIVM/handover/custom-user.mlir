// RUN: piton-opt %s | piton-opt | FileCheck %s
// user custom op on a tile with a temporary buffer request
// accepted by 1.2.0 for: c220, a5
module {
  func.func @custom_user_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[1]>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %e = tensor.empty() : tensor<256xf32>
    %r = hivm.hir.custom {bitcode = "my_add.bc", extra_buffers_sizes = [64], extra_buffers_types = [f32], hivm.pipe = #hivm.pipe<PIPE_V>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "my_add"} "my_custom_add" ins(%a, %a : tensor<256xf32>, tensor<256xf32>) outs(%e : tensor<256xf32>) -> tensor<256xf32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @custom_user_kernel(
// CHECK: hivm.hir.custom
