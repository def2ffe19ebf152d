// RUN: piton-opt %s | piton-opt | FileCheck %s
// integer address: hivm.hir.pointer_cast marked gm
// accepted by 1.2.0 for: c220, a5
module {
  func.func @int_to_ptr_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %addr: i64, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c256 = arith.constant 256 : index
    %p = hivm.hir.pointer_cast(%addr) [%c256] : memref<?xf32>
    annotation.mark %p {address_space = #hivm.address_space<gm>} : memref<?xf32>
    %a_c = memref.reinterpret_cast %p to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[1]>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %a_d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @int_to_ptr_kernel(
// CHECK: hivm.hir.pointer_cast
// CHECK: annotation.mark
