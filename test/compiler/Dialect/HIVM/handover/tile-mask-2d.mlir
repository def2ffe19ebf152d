// RUN: piton-opt %s | piton-opt | FileCheck %s
// 2-D tile 32x48 f16 with a box mask on both axes and a run-time row stride; copy destination cast to the dynamic strided type
// accepted by 1.2.0 for: c220, a5
module {
  func.func @tile_mask_2d_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %rows: i32, %cols: i32, %ld: i32, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f16
    %m0 = arith.index_cast %rows : i32 to index
    %n0 = arith.index_cast %cols : i32 to index
    %s0 = arith.index_cast %ld : i32 to index
    %p = arith.index_cast %px : i32 to index
    %r0 = arith.muli %p, %c32 : index
    %off = arith.muli %r0, %s0 : index
    %mr = arith.subi %m0, %r0 : index
    %m = arith.minsi %mr, %c32 : index
    %n = arith.minsi %n0, %c48 : index
    %sm = arith.cmpi slt, %m, %c32 : index
    %sn = arith.cmpi slt, %n, %c48 : index
    %short = arith.ori %sm, %sn : i1
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [32, 48], strides: [%s0, 1] : memref<?xf16> to memref<32x48xf16, strided<[?, 1], offset: ?>>
    %a_b = memref.alloc() : memref<32x48xf16>
    scf.if %short {
      linalg.fill ins(%zero : f16) outs(%a_b : memref<32x48xf16>)
    } {hivm.unlikely_condition}
    %a_s = memref.subview %a_c[0, 0] [%m, %n] [1, 1] : memref<32x48xf16, strided<[?, 1], offset: ?>> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    %a_t = memref.subview %a_b[0, 0] [%m, %n] [1, 1] : memref<32x48xf16> to memref<?x?xf16, strided<[48, 1]>>
    %a_u = memref.cast %a_t : memref<?x?xf16, strided<[48, 1]>> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    memref.copy %a_s, %a_u : memref<?x?xf16, strided<[?, 1], offset: ?>> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    %a = bufferization.to_tensor %a_b restrict writable : memref<32x48xf16> to tensor<32x48xf16>
    %r = arith.addf %a, %a : tensor<32x48xf16>
    %d = memref.reinterpret_cast %y to offset: [%off], sizes: [32, 48], strides: [%s0, 1] : memref<?xf16> to memref<32x48xf16, strided<[?, 1], offset: ?>>
    %rs = tensor.extract_slice %r[0, 0] [%m, %n] [1, 1] : tensor<32x48xf16> to tensor<?x?xf16>
    %ds = memref.subview %d[0, 0] [%m, %n] [1, 1] : memref<32x48xf16, strided<[?, 1], offset: ?>> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    bufferization.materialize_in_destination %rs in writable %ds : (tensor<?x?xf16>, memref<?x?xf16, strided<[?, 1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @tile_mask_2d_kernel(
