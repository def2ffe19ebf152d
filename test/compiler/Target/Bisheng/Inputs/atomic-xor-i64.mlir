// atomic xor of i64
#map = affine_map<(d0) -> (d0)>
module {
  func.func @k(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xi64> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi64> {tt.tensor_kind = 2 : i32}, %arg4: memref<?xi64>, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [128], strides: [1] : memref<?xi64> to memref<128xi64, strided<[1]>>
    %alloc = memref.alloc() : memref<128xi64>
    memref.copy %reinterpret_cast, %alloc : memref<128xi64, strided<[1]>> to memref<128xi64>
    %0 = bufferization.to_tensor %alloc restrict writable : memref<128xi64> to tensor<128xi64>
    %1 = arith.index_cast %arg5 : i32 to index
    %2 = arith.maxsi %1, %c0 : index
    %3 = arith.minsi %2, %c128 : index
    %alloc_0 = memref.alloc() : memref<128xi64>
    bufferization.materialize_in_destination %0 in writable %alloc_0 : (tensor<128xi64>, memref<128xi64>) -> ()
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [128], strides: [1] : memref<?xi64> to memref<128xi64, strided<[1]>>
    %subview = memref.subview %reinterpret_cast_1[0] [%3] [1] : memref<128xi64, strided<[1]>> to memref<?xi64, strided<[1]>>
    %subview_2 = memref.subview %alloc_0[0] [%3] [1] : memref<128xi64> to memref<?xi64, strided<[1]>>
    linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%subview, %subview_2 : memref<?xi64, strided<[1]>>, memref<?xi64, strided<[1]>>) outs(%subview : memref<?xi64, strided<[1]>>) attrs =  {GenericAtomicRMW = "xor", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
    ^bb0(%in: i64, %in_3: i64, %out: i64):
      %4 = arith.xori %in, %in_3 : i64
      linalg.yield %4 : i64
    }
    return
  }
}

