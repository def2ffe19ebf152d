// RUN: piton-opt %s | piton-opt | FileCheck %s
// signal_op SET, wait, consume_token on a scalar
// accepted by 1.2.0 for: c220
module {
  func.func @dist_notify_wait_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %sig: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %a_c = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    %a_b = memref.alloc() : memref<256xf32>
    memref.copy %a_c, %a_b : memref<256xf32, strided<[1]>> to memref<256xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<256xf32> to tensor<256xf32>
    %a_d = memref.reinterpret_cast %y to offset: [0], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
    hivm.hir.custom {commScope = 2 : i32, sigOp = 1 : i32, gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%sig, %c1_i32, %c0_i32, %c1_i32 : memref<?xi32>, i32, i32, i32)
    %tok = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, scope = 1 : i32, semantic = 1 : i32, symbol = "aclshmem_wait_int32"} "dist.aclshmem_wait_int32" ins(%sig, %c1_i32, %c1_i32 : memref<?xi32>, i32, i32) -> i32
    %v = hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_consume_token_int32"} "dist.aclshmem_consume_token_int32" ins(%c1_i32, %tok : i32, i32) -> i32
    %po = arith.index_cast %v : i32 to index
    %b_c = memref.reinterpret_cast %x to offset: [%po], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
    %b_b = memref.alloc() : memref<256xf32>
    memref.copy %b_c, %b_b : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
    %b = bufferization.to_tensor %b_b restrict writable : memref<256xf32> to tensor<256xf32>
    %b_d = memref.reinterpret_cast %y to offset: [%po], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %b in writable %b_d : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @dist_notify_wait_kernel(
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
