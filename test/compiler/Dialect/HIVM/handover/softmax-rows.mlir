// RUN: piton-opt %s | piton-opt | FileCheck %s
// row softmax of a 4x128 tile: maxnumf reduce, broadcast, exp, addf reduce, division
// accepted by 1.2.0 for: c220, a5
module {
  func.func @softmax_rows_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %off_n = arith.constant 512 : i32
    %off_i = arith.muli %px, %off_n : i32
    %off = arith.index_cast %off_i : i32 to index
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [4, 128], strides: [128, 1] : memref<?xf32> to memref<4x128xf32, strided<[128, 1], offset: ?>>
    %a_b = memref.alloc() : memref<4x128xf32>
    memref.copy %a_c, %a_b : memref<4x128xf32, strided<[128, 1], offset: ?>> to memref<4x128xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<4x128xf32> to tensor<4x128xf32>
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e4 = tensor.empty() : tensor<4xf32>
    %mi = linalg.fill ins(%ninf : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
    %m = linalg.reduce ins(%a : tensor<4x128xf32>) outs(%mi : tensor<4xf32>) dimensions = [1]
      (%p: f32, %q: f32) {
        %t = arith.maxnumf %p, %q : f32
        linalg.yield %t : f32
      }
    %e = tensor.empty() : tensor<4x128xf32>
    %mb = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x128xf32>) dimensions = [1]
    %d = arith.subf %a, %mb : tensor<4x128xf32>
    %x1 = math.exp %d : tensor<4x128xf32>
    %si = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.reduce ins(%x1 : tensor<4x128xf32>) outs(%si : tensor<4xf32>) dimensions = [1]
      (%p: f32, %q: f32) {
        %t = arith.addf %p, %q : f32
        linalg.yield %t : f32
      }
    %sb = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x128xf32>) dimensions = [1]
    %r = arith.divf %x1, %sb : tensor<4x128xf32>
    %r_d = memref.reinterpret_cast %y to offset: [%off], sizes: [4, 128], strides: [128, 1] : memref<?xf32> to memref<4x128xf32, strided<[128, 1], offset: ?>>
    bufferization.materialize_in_destination %r in writable %r_d : (tensor<4x128xf32>, memref<4x128xf32, strided<[128, 1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @softmax_rows_kernel(
