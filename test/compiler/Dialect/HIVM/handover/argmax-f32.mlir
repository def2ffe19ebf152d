// RUN: piton-opt %s | piton-opt | FileCheck %s
// max with index along the last axis through linalg.reduce with reduce_mode / tie_break_left / unsigned_src
// accepted by 1.2.0 for: c220, a5
module {
  func.func @argmax_f32_kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %v: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %oix: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %off_n = arith.constant 512 : i32
    %off_i = arith.muli %px, %off_n : i32
    %off = arith.index_cast %off_i : i32 to index
    %oo_n = arith.constant 8 : i32
    %oo_i = arith.muli %px, %oo_n : i32
    %oo = arith.index_cast %oo_i : i32 to index
    %a_c = memref.reinterpret_cast %x to offset: [%off], sizes: [8, 64], strides: [64, 1] : memref<?xf32> to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %a_b = memref.alloc() : memref<8x64xf32>
    memref.copy %a_c, %a_b : memref<8x64xf32, strided<[64, 1], offset: ?>> to memref<8x64xf32>
    %a = bufferization.to_tensor %a_b restrict writable : memref<8x64xf32> to tensor<8x64xf32>
    %vi0 = arith.constant 0xFF800000 : f32
    %ii0 = arith.constant -1 : i32
    %ev = tensor.empty() : tensor<8xf32>
    %ei = tensor.empty() : tensor<8xi32>
    %vi = linalg.fill ins(%vi0 : f32) outs(%ev : tensor<8xf32>) -> tensor<8xf32>
    %ii = linalg.fill ins(%ii0 : i32) outs(%ei : tensor<8xi32>) -> tensor<8xi32>
    %e2 = tensor.empty() : tensor<64xi32>
    %io = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e2 : tensor<64xi32>) {
      ^bb0(%o: i32):
        %i = linalg.index 0 : index
        %ic = arith.index_cast %i : index to i32
        linalg.yield %ic : i32
    } -> tensor<64xi32>
    %e3 = tensor.empty() : tensor<8x64xi32>
    %ix = linalg.broadcast ins(%io : tensor<64xi32>) outs(%e3 : tensor<8x64xi32>) dimensions = [0]
    %rv, %rx = linalg.reduce ins(%a, %ix : tensor<8x64xf32>, tensor<8x64xi32>) outs(%vi, %ii : tensor<8xf32>, tensor<8xi32>) dimensions = [1] {reduce_mode = "max_with_index", tie_break_left = "true", unsigned_src = "false"}
      (%p: f32, %pi: i32, %vp: f32, %vpi: i32) {
        %g = arith.cmpf ogt, %p, %vp : f32
        %eq = arith.cmpf oeq, %p, %vp : f32
        %lt = arith.cmpi slt, %pi, %vpi : i32
        %an = arith.andi %eq, %lt : i1
        %or = arith.ori %g, %an : i1
        %sv = arith.select %or, %p, %vp : f32
        %sx = arith.select %or, %pi, %vpi : i32
        linalg.yield %sv, %sx : f32, i32
      }
    %rv_d = memref.reinterpret_cast %v to offset: [%oo], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %rv in writable %rv_d : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
    %rx_d = memref.reinterpret_cast %oix to offset: [%oo], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %rx in writable %rx_d : (tensor<8xi32>, memref<8xi32, strided<[1], offset: ?>>) -> ()
    return
  }
}

// CHECK-LABEL: func.func @argmax_f32_kernel(
