// RUN: piton-opt %s | piton-opt | FileCheck %s
// matmul, per-column bias, truncf to f16, store under a box mask (cube + vector)
// accepted by 1.2.0 for: c220, a5
module {
  func.func @matmul_bias_mask_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %b: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %bias: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %c: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %M: i32, %N: i32, %K: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
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
      %bo0 = arith.muli %i, %n : index
      %bo = arith.addi %bo0, %cn : index
      %b_c = memref.reinterpret_cast %b to offset: [%bo], sizes: [32, 64], strides: [%n, 1] : memref<?xf16> to memref<32x64xf16, strided<[?, 1], offset: ?>>
      %b_b = memref.alloc() : memref<32x64xf16>
      memref.copy %b_c, %b_b : memref<32x64xf16, strided<[?, 1], offset: ?>> to memref<32x64xf16>
      %bt = bufferization.to_tensor %b_b restrict writable : memref<32x64xf16> to tensor<32x64xf16>
      %d = linalg.matmul {input_precision = "ieee"} ins(%at, %bt : tensor<64x32xf16>, tensor<32x64xf16>) outs(%acc_in : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %bi_c = memref.reinterpret_cast %bias to offset: [%cn], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %bi_b = memref.alloc() : memref<64xf32>
    memref.copy %bi_c, %bi_b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %bi = bufferization.to_tensor %bi_b restrict writable : memref<64xf32> to tensor<64xf32>
    %bie = tensor.empty() : tensor<64x64xf32>
    %bib = linalg.broadcast ins(%bi : tensor<64xf32>) outs(%bie : tensor<64x64xf32>) dimensions = [0]
    %accb = arith.addf %acc, %bib : tensor<64x64xf32>
    %cv = arith.truncf %accb {round_mode = #hfusion.round_mode<rint>} : tensor<64x64xf32> to tensor<64x64xf16>
    %co0 = arith.muli %rm, %n : index
    %co = arith.addi %co0, %cn : index
    %dst = memref.reinterpret_cast %c to offset: [%co], sizes: [64, 64], strides: [%n, 1] : memref<?xf16> to memref<64x64xf16, strided<[?, 1], offset: ?>>
    %mm0 = arith.index_cast %M : i32 to index
    %mm1 = arith.subi %mm0, %rm : index
    %mm2 = arith.minsi %mm1, %cM : index
    %mm = arith.maxsi %mm2, %c0 : index
    %nn1 = arith.subi %n, %cn : index
    %nn2 = arith.minsi %nn1, %cN : index
    %nn = arith.maxsi %nn2, %c0 : index
    %vs = tensor.extract_slice %cv[0, 0] [%mm, %nn] [1, 1] : tensor<64x64xf16> to tensor<?x?xf16>
    %dsv = memref.subview %dst[0, 0] [%mm, %nn] [1, 1] : memref<64x64xf16, strided<[?, 1], offset: ?>> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    bufferization.materialize_in_destination %vs in writable %dsv : (tensor<?x?xf16>, memref<?x?xf16, strided<[?, 1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @matmul_bias_mask_kernel(
