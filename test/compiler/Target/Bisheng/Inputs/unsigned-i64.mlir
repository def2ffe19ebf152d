// unsigned arithmetic, conversions and division of i64
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %s_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %a_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %b_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %c_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %d_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %g_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %h_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %i_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %j_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %l_p: memref<?xi64> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %e_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %f_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    %x_b = memref.alloc() : memref<64xi64>
    memref.copy %x_c, %x_b : memref<64xi64, strided<[1]>> to memref<64xi64>
    %x = bufferization.to_tensor %x_b restrict writable : memref<64xi64> to tensor<64xi64>
    %s_c = memref.reinterpret_cast %s_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    %s_b = memref.alloc() : memref<64xi64>
    memref.copy %s_c, %s_b : memref<64xi64, strided<[1]>> to memref<64xi64>
    %s = bufferization.to_tensor %s_b restrict writable : memref<64xi64> to tensor<64xi64>
    %k = arith.constant dense<3> : tensor<64xi64>
    %a = arith.shrui %x, %s : tensor<64xi64>
    %b = arith.shrui %x, %k : tensor<64xi64>
    %c = arith.maxui %x, %s : tensor<64xi64>
    %d = arith.minui %x, %s : tensor<64xi64>
    %m = arith.cmpi ult, %x, %s : tensor<64xi64>
    %e = arith.extui %m : tensor<64xi1> to tensor<64xi8>
    %f = arith.uitofp %x : tensor<64xi64> to tensor<64xf32>
    %g = arith.fptoui %f : tensor<64xf32> to tensor<64xi64>
    %h = arith.divui %x, %s : tensor<64xi64>
    %i = arith.remui %x, %s : tensor<64xi64>
    %j = arith.divsi %x, %s : tensor<64xi64>
    %l = arith.floordivsi %x, %s : tensor<64xi64>

    %a_d = memref.reinterpret_cast %a_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %a in writable %a_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %b_d = memref.reinterpret_cast %b_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %b in writable %b_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %c_d = memref.reinterpret_cast %c_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %c in writable %c_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %d_d = memref.reinterpret_cast %d_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %d in writable %d_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %g_d = memref.reinterpret_cast %g_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %g in writable %g_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %h_d = memref.reinterpret_cast %h_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %h in writable %h_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %i_d = memref.reinterpret_cast %i_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %i in writable %i_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %j_d = memref.reinterpret_cast %j_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %j in writable %j_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %l_d = memref.reinterpret_cast %l_p to offset: [0], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1]>>
    bufferization.materialize_in_destination %l in writable %l_d : (tensor<64xi64>, memref<64xi64, strided<[1]>>) -> ()
    %e_d = memref.reinterpret_cast %e_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %e in writable %e_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %f_d = memref.reinterpret_cast %f_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    bufferization.materialize_in_destination %f in writable %f_d : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
}
