// atomic add of i32, old value wanted
#map = affine_map<(d0) -> (d0)>
module {
  func.func @k(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xi32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xi32> {tt.tensor_kind = 2 : i32}, %arg4: memref<?xi32> {tt.tensor_kind = 1 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0_i32 = arith.constant 0 : i32
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %c128_i32 = arith.constant 128 : i32
    %0 = arith.muli %arg9, %c128_i32 : i32
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %alloc = memref.alloc() : memref<128xi32>
    memref.copy %reinterpret_cast, %alloc : memref<128xi32, strided<[1]>> to memref<128xi32>
    %1 = bufferization.to_tensor %alloc restrict writable : memref<128xi32> to tensor<128xi32>
    %2 = arith.index_cast %arg5 : i32 to index
    %3 = arith.maxsi %2, %c0 : index
    %4 = arith.minsi %3, %c128 : index
    %alloc_0 = memref.alloc() : memref<128xi32>
    bufferization.materialize_in_destination %1 in writable %alloc_0 : (tensor<128xi32>, memref<128xi32>) -> ()
    %alloc_1 = memref.alloc() : memref<128xi32>
    linalg.fill ins(%c0_i32 : i32) outs(%alloc_1 : memref<128xi32>)
    %reinterpret_cast_2 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1]>>
    %subview = memref.subview %reinterpret_cast_2[0] [%4] [1] : memref<128xi32, strided<[1]>> to memref<?xi32, strided<[1]>>
    %subview_3 = memref.subview %alloc_0[0] [%4] [1] : memref<128xi32> to memref<?xi32, strided<[1]>>
    %subview_4 = memref.subview %alloc_1[0] [%4] [1] : memref<128xi32> to memref<?xi32, strided<[1]>>
    linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%subview, %subview_3 : memref<?xi32, strided<[1]>>, memref<?xi32, strided<[1]>>) outs(%subview, %subview_4 : memref<?xi32, strided<[1]>>, memref<?xi32, strided<[1]>>) attrs =  {GenericAtomicRMW = "add", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
    ^bb0(%in: i32, %in_6: i32, %out: i32, %out_7: i32):
      %7 = arith.addi %in, %in_6 : i32
      linalg.yield %7, %in : i32, i32
    }
    %5 = bufferization.to_tensor %alloc_1 restrict writable : memref<128xi32> to tensor<128xi32>
    %6 = arith.index_cast %0 : i32 to index
    %reinterpret_cast_5 = memref.reinterpret_cast %arg4 to offset: [%6], sizes: [128], strides: [1] : memref<?xi32> to memref<128xi32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %5 in writable %reinterpret_cast_5 : (tensor<128xi32>, memref<128xi32, strided<[1], offset: ?>>) -> ()
    return
  }
}

