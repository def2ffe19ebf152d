// RUN: piton-opt %s | piton-opt | FileCheck %s
// trunc, round half away and round half even of f32 as hfusion.cast f32 to f32
// accepted by 1.2.0 for: c220, a5
module {
  func.func @trunc_f32_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<128xf32>
    memref.copy %a_c, %a_b : memref<128xf32, strided<[1]>> to memref<128xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xf32> to tensor<128xf32>
    %e = tensor.empty() : tensor<128xf32>
    %t = hfusion.cast {round_mode = #hfusion.round_mode<trunc>} ins(%a : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %u = hfusion.cast {round_mode = #hfusion.round_mode<round>} ins(%t : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %r = hfusion.cast {round_mode = #hfusion.round_mode<rint>} ins(%u : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @trunc_f32_kernel(
// CHECK: hfusion.cast
// CHECK: hfusion.cast
// CHECK: hfusion.cast
