// both halves of products
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %a_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %b_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %c_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %d_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    %x_b = memref.alloc() : memref<64xi32>
    memref.copy %x_c, %x_b : memref<64xi32, strided<[1]>> to memref<64xi32>
    %x = bufferization.to_tensor %x_b restrict writable : memref<64xi32> to tensor<64xi32>
    %y_c = memref.reinterpret_cast %y_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    %y_b = memref.alloc() : memref<64xi32>
    memref.copy %y_c, %y_b : memref<64xi32, strided<[1]>> to memref<64xi32>
    %y = bufferization.to_tensor %y_b restrict writable : memref<64xi32> to tensor<64xi32>
    %a, %b = arith.mulsi_extended %x, %y : tensor<64xi32>
    %c, %d = arith.mului_extended %x, %y : tensor<64xi32>
    %a_d = memref.reinterpret_cast %a_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<64xi32>, memref<64xi32, strided<[1]>>) -> ()
    %b_d = memref.reinterpret_cast %b_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    bufferization.materialize_in_destination %b in writable %b_d : (tensor<64xi32>, memref<64xi32, strided<[1]>>) -> ()
    %c_d = memref.reinterpret_cast %c_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    bufferization.materialize_in_destination %c in writable %c_d : (tensor<64xi32>, memref<64xi32, strided<[1]>>) -> ()
    %d_d = memref.reinterpret_cast %d_p to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
    bufferization.materialize_in_destination %d in writable %d_d : (tensor<64xi32>, memref<64xi32, strided<[1]>>) -> ()
    return
  }
}
