// RUN: piton-opt %s | piton-opt | FileCheck %s
// B stored N x K: linalg.transpose in front of linalg.matmul folds into the cube op
// accepted by 1.2.0 for: c220, a5
module {
  func.func @matmul_bt_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %b: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %c: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %M: i32, %N: i32, %K: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %acc0_v = arith.constant 0.0 : f32
    %acc0_e = tensor.empty() : tensor<64x64xf32>
    %acc0 = linalg.fill ins(%acc0_v : f32) outs(%acc0_e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cM = arith.constant 64 : index
    %cN = arith.constant 64 : index
    %cK = arith.constant 32 : index
    %k = arith.index_cast %K : i32 to index
    %n = arith.index_cast %N : i32 to index
    %pm = arith.index_cast %px : i32 to index
    %pn = arith.index_cast %py : i32 to index
    %rm = arith.muli %pm, %cM : index
    %cn = arith.muli %pn, %cN : index
    %ro = arith.muli %rm, %k : index
    %acc = scf.for %i = %c0 to %k step %cK iter_args(%acc_in = %acc0) -> (tensor<64x64xf32>) {
      %ao = arith.addi %ro, %i : index
      %a_c = memref.reinterpret_cast %a to offset: [%ao], sizes: [64, 32], strides: [%k, 1] : memref<?xf16> to memref<64x32xf16, strided<[?, 1], offset: ?>>
      %a_b = memref.alloc() : memref<64x32xf16>
      memref.copy %a_c, %a_b : memref<64x32xf16, strided<[?, 1], offset: ?>> to memref<64x32xf16>
      %at = bufferization.to_tensor %a_b restrict writable : memref<64x32xf16> to tensor<64x32xf16>
      %bo0 = arith.muli %cn, %k : index
      %bo = arith.addi %bo0, %i : index
      %b_c = memref.reinterpret_cast %b to offset: [%bo], sizes: [64, 32], strides: [%k, 1] : memref<?xf16> to memref<64x32xf16, strided<[?, 1], offset: ?>>
      %b_b = memref.alloc() : memref<64x32xf16>
      memref.copy %b_c, %b_b : memref<64x32xf16, strided<[?, 1], offset: ?>> to memref<64x32xf16>
      %bn = bufferization.to_tensor %b_b restrict writable : memref<64x32xf16> to tensor<64x32xf16>
      %be = tensor.empty() : tensor<32x64xf16>
      %bt = linalg.transpose ins(%bn : tensor<64x32xf16>) outs(%be : tensor<32x64xf16>) permutation = [1, 0]
      %d = linalg.matmul {input_precision = "ieee"} ins(%at, %bt : tensor<64x32xf16>, tensor<32x64xf16>) outs(%acc_in : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %co0 = arith.muli %rm, %n : index
    %co = arith.addi %co0, %cn : index
    %dst = memref.reinterpret_cast %c to offset: [%co], sizes: [64, 64], strides: [%n, 1] : memref<?xf32> to memref<64x64xf32, strided<[?, 1], offset: ?>>
    bufferization.materialize_in_destination %acc in writable %dst : (tensor<64x64xf32>, memref<64x64xf32, strided<[?, 1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @matmul_bt_kernel(
