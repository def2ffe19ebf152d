// start values, longer bodies, two results, unsigned
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %a_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %b_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %c_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %d_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [8, 32], strides: [32, 1] : memref<?xf32> to memref<8x32xf32, strided<[32, 1]>>
    %x_b = memref.alloc() : memref<8x32xf32>
    memref.copy %x_c, %x_b : memref<8x32xf32, strided<[32, 1]>> to memref<8x32xf32>
    %x = bufferization.to_tensor %x_b restrict writable : memref<8x32xf32> to tensor<8x32xf32>
    %y_c = memref.reinterpret_cast %y_p to offset: [0], sizes: [8, 32], strides: [32, 1] : memref<?xi32> to memref<8x32xi32, strided<[32, 1]>>
    %y_b = memref.alloc() : memref<8x32xi32>
    memref.copy %y_c, %y_b : memref<8x32xi32, strided<[32, 1]>> to memref<8x32xi32>
    %y = bufferization.to_tensor %y_b restrict writable : memref<8x32xi32> to tensor<8x32xi32>
    %z = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %a = linalg.reduce ins(%x : tensor<8x32xf32>) outs(%i : tensor<8xf32>) dimensions = [1]
      (%p: f32, %q: f32) {
        %t = arith.addf %p, %q : f32
        linalg.yield %t : f32
      }
    %b = linalg.reduce ins(%x : tensor<8x32xf32>) outs(%e : tensor<8xf32>) dimensions = [1]
      (%p: f32, %q: f32) {
        %u = arith.mulf %p, %q : f32
        %t = arith.addf %u, %p : f32
        linalg.yield %t : f32
      }
    %s = tensor.empty() : tensor<f32>
    %flat = tensor.collapse_shape %x [[0, 1]] : tensor<8x32xf32> into tensor<256xf32>
    %c0:2 = linalg.reduce ins(%flat, %flat : tensor<256xf32>, tensor<256xf32>) outs(%s, %s : tensor<f32>, tensor<f32>) dimensions = [0]
      (%p: f32, %p2: f32, %q: f32, %q2: f32) {
        %t = arith.addf %p, %q : f32
        %v = arith.maximumf %p2, %q2 : f32
        linalg.yield %t, %v : f32, f32
      }
    %s0 = tensor.extract %c0#0[] : tensor<f32>
    %s1 = tensor.extract %c0#1[] : tensor<f32>
    %s2 = arith.addf %s0, %s1 : f32
    %c = linalg.fill ins(%s2 : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %zi = arith.constant 0 : i32
    %ei = tensor.empty() : tensor<8xi32>
    %ii = linalg.fill ins(%zi : i32) outs(%ei : tensor<8xi32>) -> tensor<8xi32>
    %d = linalg.reduce ins(%y : tensor<8x32xi32>) outs(%ii : tensor<8xi32>) dimensions = [1]
      (%p: i32, %q: i32) {
        %t = arith.maxui %p, %q : i32
        linalg.yield %t : i32
      }
    %a_d = memref.reinterpret_cast %a_p to offset: [0], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
    %b_d = memref.reinterpret_cast %b_p to offset: [0], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1]>>
    bufferization.materialize_in_destination %b in writable %b_d : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
    %c_d = memref.reinterpret_cast %c_p to offset: [0], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1]>>
    bufferization.materialize_in_destination %c in writable %c_d : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
    %d_d = memref.reinterpret_cast %d_p to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    bufferization.materialize_in_destination %d in writable %d_d : (tensor<8xi32>, memref<8xi32, strided<[1]>>) -> ()
    return
  }
}
