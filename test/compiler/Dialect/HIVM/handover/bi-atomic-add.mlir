// RUN: piton-opt %s | piton-opt | FileCheck %s
// __builtin_indirect_atomic with i8 mask, old value returned (register-based targets only)
// accepted by 1.2.0 for: a5
module {
  func.func @bi_atomic_add_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %ix: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %mk: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %o: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "mix_simd_simt"} {
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %a_b = memref.alloc() : memref<128xi32>
    memref.copy %a_c, %a_b : memref<128xi32, strided<[1]>> to memref<128xi32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<128xi32> to tensor<128xi32>
    %i_c = memref.reinterpret_cast %ix to offset: [0], sizes: [128], strides: [1] : memref<?xi64> to memref<128xi64, strided<[1]>>
    %i_b = memref.alloc() : memref<128xi64>
    memref.copy %i_c, %i_b : memref<128xi64, strided<[1]>> to memref<128xi64>
    %i = bufferization.to_tensor %i_b restrict writable : memref<128xi64> to tensor<128xi64>
    %m_c = memref.reinterpret_cast %mk to offset: [0], sizes: [128], strides: [1] : memref<?xi8> to memref<128xi8, strided<[1]>>
    %m_b = memref.alloc() : memref<128xi8>
    memref.copy %m_c, %m_b : memref<128xi8, strided<[1]>> to memref<128xi8>
    %m = bufferization.to_tensor %m_b restrict writable : memref<128xi8> to tensor<128xi8>
    %zz_v = arith.constant 0 : i32
    %zz_e = tensor.empty() : tensor<128xi32>
    %zz = linalg.fill ins(%zz_v : i32) outs(%zz_e : tensor<128xi32>) -> tensor<128xi32>
    %r = hivm.hir.custom {extra_attr = "operate=add", gm_addr_args_indices = array<i32: 0>, hivm.pipe = #hivm.pipe<PIPE_V>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMT>, symbol = "__builtin_indirect_atomic"} "__builtin_indirect_atomic" ins(%y, %i, %a, %m : memref<?xi32>, tensor<128xi64>, tensor<128xi32>, tensor<128xi8>) outs(%zz : tensor<128xi32>) -> tensor<128xi32>
    %r_d = memref.reinterpret_cast %o to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<128xi32>, memref<128xi32, strided<[1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @bi_atomic_add_kernel(
// CHECK: hivm.hir.custom
