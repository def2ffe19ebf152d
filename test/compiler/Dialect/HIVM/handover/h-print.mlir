// RUN: piton-opt %s | piton-opt | FileCheck %s
// device print of a tensor and of a scalar through triton_print declarations
// accepted by 1.2.0 for: c220, a5
module {
  func.func private @triton_print(tensor<64xf32>) attributes {hex = false, prefix = " x: "}
  func.func private @triton_print_0(i32) attributes {hex = true, prefix = " n: "}
  func.func @h_print_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %n: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<64xf32>
    memref.copy %a_c, %a_b : memref<64xf32, strided<[1]>> to memref<64xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<64xf32> to tensor<64xf32>
    func.call @triton_print(%a) : (tensor<64xf32>) -> ()
    func.call @triton_print_0(%n) : (i32) -> ()
    %a_d = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @h_print_kernel(
