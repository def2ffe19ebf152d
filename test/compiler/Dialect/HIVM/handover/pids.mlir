// RUN: piton-opt %s | piton-opt | FileCheck %s
// program ids and grid sizes of all three axes in an address
// accepted by 1.2.0 for: c220, a5
module {
  func.func @pids_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %y: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %a0 = arith.muli %px, %npy : i32
    %a1 = arith.addi %a0, %py : i32
    %a2 = arith.muli %a1, %npz : i32
    %a3 = arith.addi %a2, %pz : i32
    %a4 = arith.addi %a3, %npx : i32
    %c8 = arith.constant 8 : i32
    %a5 = arith.muli %a3, %c8 : i32
    %off = arith.index_cast %a5 : i32 to index
    %e = tensor.empty() : tensor<8xi32>
    %r = linalg.fill ins(%a4 : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
    %r_d = memref.reinterpret_cast %y to offset: [%off], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<8xi32>, memref<8xi32, strided<[1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @pids_kernel(
