// RUN: piton-opt %s | piton-opt | FileCheck %s
// i1 data carried as i8 in memory: load, compare with zero, logic, extui, store
// accepted by 1.2.0 for: c220, a5
module {
  func.func @bool_io_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %z: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xi8> to memref<128xi8, strided<[1]>>
    %a_b = memref.alloc() : memref<128xi8>
    memref.copy %a_c, %a_b : memref<128xi8, strided<[1]>> to memref<128xi8>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xi8> to tensor<128xi8>
    %b_c = memref.reinterpret_cast %z to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    %b_b = memref.alloc() : memref<128xf32>
    memref.copy %b_c, %b_b : memref<128xf32, strided<[1]>> to memref<128xf32>
    %b = bufferization.to_tensor %b_b restrict writable : memref<128xf32> to tensor<128xf32>
    %zz_v = arith.constant 0 : i8
    %zz_e = tensor.empty() : tensor<128xi8>
    %zz = linalg.fill ins(%zz_v : i8) outs(%zz_e : tensor<128xi8>) -> tensor<128xi8>
    %zf_v = arith.constant 0.0 : f32
    %zf_e = tensor.empty() : tensor<128xf32>
    %zf = linalg.fill ins(%zf_v : f32) outs(%zf_e : tensor<128xf32>) -> tensor<128xf32>
    %m = arith.cmpi ne, %a, %zz : tensor<128xi8>
    %p = arith.cmpf olt, %b, %zf : tensor<128xf32>
    %o = arith.xori %m, %p : tensor<128xi1>
    %r = arith.extui %o : tensor<128xi1> to tensor<128xi8>
    %r_d = memref.reinterpret_cast %y to offset: [0], sizes: [128], strides: [1] : memref<?xi8> to memref<128xi8, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xi8>, memref<128xi8, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @bool_io_kernel(
