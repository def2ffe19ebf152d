// RUN: piton-opt %s | piton-opt | FileCheck %s
// wait and pointer consume_token inside a loop; nothing is hoisted or merged
// accepted by 1.2.0 for: c220
module {
  func.func @dist_wait_loop_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %sig: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c1_i32 = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    scf.for %k = %c0 to %c4 step %c1 {
      %tok = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_wait_int32"} "dist.aclshmem_wait_int32" ins(%sig, %c1_i32, %c1_i32 : memref<?xi32>, i32, i32) -> i32
      %p = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_consume_token_float_ptr_1d"} "dist.aclshmem_consume_token_float_ptr_1d" ins(%x, %tok : memref<?xf32>, i32) -> memref<?xf32>
      %o = arith.muli %k, %c256 : index
      %s = memref.reinterpret_cast %p to offset: [%o], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
      %b = memref.alloc() : memref<256xf32>
      memref.copy %s, %b : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
      %t = bufferization.to_tensor %b restrict writable : memref<256xf32> to tensor<256xf32>
      %d = memref.reinterpret_cast %y to offset: [%o], sizes: [256], strides: [1] : memref<?xf32> to memref<256xf32, strided<[1], offset: ?>>
      bufferization.materialize_in_destination %t in writable %d : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    }
    return
  }
}

// CHECK-LABEL: func.func @dist_wait_loop_kernel(
// CHECK: hivm.hir.custom
// CHECK: hivm.hir.custom
