// roundings and classes of floats
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %a_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %b_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %d_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %e_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %f_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %g_p: memref<?xbf16> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %x_b = memref.alloc() : memref<64xf32>
    memref.copy %x_c, %x_b : memref<64xf32, strided<[1]>> to memref<64xf32>
    %x = bufferization.to_tensor %x_b restrict writable : memref<64xf32> to tensor<64xf32>
    %y_c = memref.reinterpret_cast %y_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %y_b = memref.alloc() : memref<64xf32>
    memref.copy %y_c, %y_b : memref<64xf32, strided<[1]>> to memref<64xf32>
    %y = bufferization.to_tensor %y_b restrict writable : memref<64xf32> to tensor<64xf32>
    %a = math.trunc %x : tensor<64xf32>
    %b = math.round %x : tensor<64xf32>
    %d = math.roundeven %x : tensor<64xf32>
    %e = math.copysign %x, %y : tensor<64xf32>
    %n = math.isinf %x : tensor<64xf32>
    %f = arith.extui %n : tensor<64xi1> to tensor<64xi8>
    %g = arith.truncf %x toward_zero : tensor<64xf32> to tensor<64xbf16>
    %a_d = memref.reinterpret_cast %a_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    %b_d = memref.reinterpret_cast %b_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %b in writable %b_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    %d_d = memref.reinterpret_cast %d_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %d in writable %d_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    %e_d = memref.reinterpret_cast %e_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %e in writable %e_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    %f_d = memref.reinterpret_cast %f_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %f in writable %f_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %g_d = memref.reinterpret_cast %g_p to offset: [0], sizes: [64], strides: [1] : memref<?xbf16> to memref<64xbf16, strided<[1]>>
    bufferization.materialize_in_destination %g in writable %g_d : (tensor<64xbf16>, memref<64xbf16, strided<[1]>>) -> ()
    return
  }
}
