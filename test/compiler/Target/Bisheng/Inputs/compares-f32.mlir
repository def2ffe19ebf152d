// every relation of floats
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %y_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %o_olt_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ole_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ogt_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_oge_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_oeq_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_une_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ult_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ule_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ugt_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_uge_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ueq_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_one_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_ord_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %o_uno_p: memref<?xi8> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %x_b = memref.alloc() : memref<64xf32>
    memref.copy %x_c, %x_b : memref<64xf32, strided<[1]>> to memref<64xf32>
    %x = bufferization.to_tensor %x_b restrict writable : memref<64xf32> to tensor<64xf32>
    %y_c = memref.reinterpret_cast %y_p to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %y_b = memref.alloc() : memref<64xf32>
    memref.copy %y_c, %y_b : memref<64xf32, strided<[1]>> to memref<64xf32>
    %y = bufferization.to_tensor %y_b restrict writable : memref<64xf32> to tensor<64xf32>
    %c_olt = arith.cmpf olt, %x, %y : tensor<64xf32>
    %o_olt = arith.extui %c_olt : tensor<64xi1> to tensor<64xi8>
    %c_ole = arith.cmpf ole, %x, %y : tensor<64xf32>
    %o_ole = arith.extui %c_ole : tensor<64xi1> to tensor<64xi8>
    %c_ogt = arith.cmpf ogt, %x, %y : tensor<64xf32>
    %o_ogt = arith.extui %c_ogt : tensor<64xi1> to tensor<64xi8>
    %c_oge = arith.cmpf oge, %x, %y : tensor<64xf32>
    %o_oge = arith.extui %c_oge : tensor<64xi1> to tensor<64xi8>
    %c_oeq = arith.cmpf oeq, %x, %y : tensor<64xf32>
    %o_oeq = arith.extui %c_oeq : tensor<64xi1> to tensor<64xi8>
    %c_une = arith.cmpf une, %x, %y : tensor<64xf32>
    %o_une = arith.extui %c_une : tensor<64xi1> to tensor<64xi8>
    %c_ult = arith.cmpf ult, %x, %y : tensor<64xf32>
    %o_ult = arith.extui %c_ult : tensor<64xi1> to tensor<64xi8>
    %c_ule = arith.cmpf ule, %x, %y : tensor<64xf32>
    %o_ule = arith.extui %c_ule : tensor<64xi1> to tensor<64xi8>
    %c_ugt = arith.cmpf ugt, %x, %y : tensor<64xf32>
    %o_ugt = arith.extui %c_ugt : tensor<64xi1> to tensor<64xi8>
    %c_uge = arith.cmpf uge, %x, %y : tensor<64xf32>
    %o_uge = arith.extui %c_uge : tensor<64xi1> to tensor<64xi8>
    %c_ueq = arith.cmpf ueq, %x, %y : tensor<64xf32>
    %o_ueq = arith.extui %c_ueq : tensor<64xi1> to tensor<64xi8>
    %c_one = arith.cmpf one, %x, %y : tensor<64xf32>
    %o_one = arith.extui %c_one : tensor<64xi1> to tensor<64xi8>
    %c_ord = arith.cmpf ord, %x, %y : tensor<64xf32>
    %o_ord = arith.extui %c_ord : tensor<64xi1> to tensor<64xi8>
    %c_uno = arith.cmpf uno, %x, %y : tensor<64xf32>
    %o_uno = arith.extui %c_uno : tensor<64xi1> to tensor<64xi8>

    %o_olt_d = memref.reinterpret_cast %o_olt_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_olt in writable %o_olt_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ole_d = memref.reinterpret_cast %o_ole_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ole in writable %o_ole_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ogt_d = memref.reinterpret_cast %o_ogt_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ogt in writable %o_ogt_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_oge_d = memref.reinterpret_cast %o_oge_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_oge in writable %o_oge_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_oeq_d = memref.reinterpret_cast %o_oeq_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_oeq in writable %o_oeq_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_une_d = memref.reinterpret_cast %o_une_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_une in writable %o_une_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ult_d = memref.reinterpret_cast %o_ult_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ult in writable %o_ult_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ule_d = memref.reinterpret_cast %o_ule_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ule in writable %o_ule_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ugt_d = memref.reinterpret_cast %o_ugt_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ugt in writable %o_ugt_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_uge_d = memref.reinterpret_cast %o_uge_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_uge in writable %o_uge_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ueq_d = memref.reinterpret_cast %o_ueq_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ueq in writable %o_ueq_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_one_d = memref.reinterpret_cast %o_one_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_one in writable %o_one_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_ord_d = memref.reinterpret_cast %o_ord_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_ord in writable %o_ord_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    %o_uno_d = memref.reinterpret_cast %o_uno_p to offset: [0], sizes: [64], strides: [1] : memref<?xi8> to memref<64xi8, strided<[1]>>
    bufferization.materialize_in_destination %o_uno in writable %o_uno_d : (tensor<64xi8>, memref<64xi8, strided<[1]>>) -> ()
    return
  }
}
