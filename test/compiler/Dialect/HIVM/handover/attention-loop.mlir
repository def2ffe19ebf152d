// RUN: piton-opt %s | piton-opt | FileCheck %s
// flash-attention loop: two dots, running max and sum, rescaled accumulator
// accepted by 1.2.0 for: c220, a5
module {
  func.func @attention_loop_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %q: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %kk: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %v: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %o: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %n: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"} {
    %qt_c = memref.reinterpret_cast %q to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<?xf16> to memref<64x64xf16, strided<[64, 1]>>
    %qt_b = memref.alloc() : memref<64x64xf16>
    memref.copy %qt_c, %qt_b : memref<64x64xf16, strided<[64, 1]>> to memref<64x64xf16>
    %qt = bufferization.to_tensor %qt_b restrict writable : memref<64x64xf16> to tensor<64x64xf16>
    %acc0_v = arith.constant 0.0 : f32
    %acc0_e = tensor.empty() : tensor<64x64xf32>
    %acc0 = linalg.fill ins(%acc0_v : f32) outs(%acc0_e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %m0_v = arith.constant 0xFF800000 : f32
    %m0_e = tensor.empty() : tensor<64xf32>
    %m0 = linalg.fill ins(%m0_v : f32) outs(%m0_e : tensor<64xf32>) -> tensor<64xf32>
    %l0_v = arith.constant 0.0 : f32
    %l0_e = tensor.empty() : tensor<64xf32>
    %l0 = linalg.fill ins(%l0_v : f32) outs(%l0_e : tensor<64xf32>) -> tensor<64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %nn = arith.index_cast %n : i32 to index
    %e = tensor.empty() : tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %res:3 = scf.for %i = %c0 to %nn step %c64 iter_args(%acc = %acc0, %mx = %m0, %l = %l0) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
      %off = arith.muli %i, %c64 : index
      %k_c = memref.reinterpret_cast %kk to offset: [%off], sizes: [64, 64], strides: [64, 1] : memref<?xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %k_b = memref.alloc() : memref<64x64xf16>
      memref.copy %k_c, %k_b : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16>
      %kt0 = bufferization.to_tensor %k_b restrict writable : memref<64x64xf16> to tensor<64x64xf16>
      %ke = tensor.empty() : tensor<64x64xf16>
      %kt = linalg.transpose ins(%kt0 : tensor<64x64xf16>) outs(%ke : tensor<64x64xf16>) permutation = [1, 0]
      %v_c = memref.reinterpret_cast %v to offset: [%off], sizes: [64, 64], strides: [64, 1] : memref<?xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %v_b = memref.alloc() : memref<64x64xf16>
      memref.copy %v_c, %v_b : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16>
      %vt = bufferization.to_tensor %v_b restrict writable : memref<64x64xf16> to tensor<64x64xf16>
      %s = linalg.matmul {input_precision = "ieee"} ins(%qt, %kt : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc0 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %rm = linalg.reduce ins(%s : tensor<64x64xf32>) outs(%m0 : tensor<64xf32>) dimensions = [1]
        (%p: f32, %q2: f32) {
          %t = arith.maximumf %p, %q2 : f32
          linalg.yield %t : f32
        }
      %mn = arith.maximumf %mx, %rm : tensor<64xf32>
      %mb = linalg.broadcast ins(%mn : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
      %d = arith.subf %s, %mb : tensor<64x64xf32>
      %x = math.exp %d : tensor<64x64xf32>
      %dm = arith.subf %mx, %mn : tensor<64xf32>
      %al = math.exp %dm : tensor<64xf32>
      %rs = linalg.reduce ins(%x : tensor<64x64xf32>) outs(%l0 : tensor<64xf32>) dimensions = [1]
        (%p: f32, %q2: f32) {
          %t = arith.addf %p, %q2 : f32
          linalg.yield %t : f32
        }
      %l1 = arith.mulf %l, %al : tensor<64xf32>
      %ln = arith.addf %l1, %rs : tensor<64xf32>
      %ab = linalg.broadcast ins(%al : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
      %acc1 = arith.mulf %acc, %ab : tensor<64x64xf32>
      %xh = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>
      %accn = linalg.matmul {input_precision = "ieee"} ins(%xh, %vt : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %accn, %mn, %ln : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %lb = linalg.broadcast ins(%res#2 : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
    %of = arith.divf %res#0, %lb : tensor<64x64xf32>
    %r = arith.truncf %of {round_mode = #hfusion.round_mode<rint>} : tensor<64x64xf32> to tensor<64x64xf16>
    %r_d = memref.reinterpret_cast %o to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<?xf16> to memref<64x64xf16, strided<[64, 1]>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<64x64xf16>, memref<64x64xf16, strided<[64, 1]>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @attention_loop_kernel(
