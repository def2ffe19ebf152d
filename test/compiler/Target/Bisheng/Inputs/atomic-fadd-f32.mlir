// atomic fadd of f32
#map = affine_map<(d0) -> (d0)>
module {
  func.func @k(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 2 : i32}, %arg4: memref<?xf32>, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    %alloc = memref.alloc() : memref<128xf32>
    memref.copy %reinterpret_cast, %alloc : memref<128xf32, strided<[1]>> to memref<128xf32>
    %0 = bufferization.to_tensor %alloc restrict writable : memref<128xf32> to tensor<128xf32>
    %1 = arith.index_cast %arg5 : i32 to index
    %2 = arith.maxsi %1, %c0 : index
    %3 = arith.minsi %2, %c128 : index
    %alloc_0 = memref.alloc() : memref<128xf32>
    bufferization.materialize_in_destination %0 in writable %alloc_0 : (tensor<128xf32>, memref<128xf32>) -> ()
    %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [128], strides: [1] : memref<?xf32> to memref<128xf32, strided<[1]>>
    %subview = memref.subview %reinterpret_cast_1[0] [%3] [1] : memref<128xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
    %subview_2 = memref.subview %alloc_0[0] [%3] [1] : memref<128xf32> to memref<?xf32, strided<[1]>>
    linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%subview, %subview_2 : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>) outs(%subview : memref<?xf32, strided<[1]>>) attrs =  {GenericAtomicRMW = "fadd", MemSemantic = "acq_rel", MemSyncScope = "gpu"} {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %4 = arith.addf %in, %in_3 : f32
      linalg.yield %4 : f32
    }
    return
  }
}

