// RUN: piton-opt %s | piton-opt | FileCheck %s
// external scalar function by func.call: accepted where a custom op with a scalar result is not
// accepted by 1.2.0 for: c220, a5
module {
  func.func private @_mlir_ciface_aclshmem_my_pe() -> i32 attributes {hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIV>}
  func.func @call_extern_scalar_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %r0 = func.call @_mlir_ciface_aclshmem_my_pe() : () -> i32
    %e = tensor.empty() : tensor<8xi32>
    %r = linalg.fill ins(%r0 : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<8xi32>, memref<8xi32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @call_extern_scalar_kernel(
