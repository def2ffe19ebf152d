// a mutex of compare-and-swap and exchange around a shared row
#map = affine_map<(d0) -> (d0)>
module {
  func.func @mutex(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xi32> {tt.tensor_kind = 2 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 2 : i32}, %arg4: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c64_i32 = arith.constant 64 : i32
    %0 = arith.muli %arg8, %c64_i32 : i32
    %1 = arith.index_cast %0 : i32 to index
    %reinterpret_cast = memref.reinterpret_cast %arg4 to offset: [%1], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %alloc = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast, %alloc : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %2 = bufferization.to_tensor %alloc restrict writable : memref<64xf32> to tensor<64xf32>
    scf.while : () -> () {
      %alloc_4 = memref.alloc() : memref<1xi32>
      memref.store %c0_i32, %alloc_4[%c0] : memref<1xi32>
      %alloc_5 = memref.alloc() : memref<1xi32>
      memref.store %c1_i32, %alloc_5[%c0] : memref<1xi32>
      %alloc_6 = memref.alloc() : memref<1xi32>
      %reinterpret_cast_7 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [1], strides: [1] : memref<?xi32> to memref<1xi32, strided<[1]>>
      linalg.generic {indexing_maps = [#map, #map, #map, #map, #map], iterator_types = ["parallel"]} ins(%reinterpret_cast_7, %alloc_4, %alloc_5 : memref<1xi32, strided<[1]>>, memref<1xi32>, memref<1xi32>) outs(%reinterpret_cast_7, %alloc_6 : memref<1xi32, strided<[1]>>, memref<1xi32>) attrs =  {GenericAtomicRMW = "cas", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
      ^bb0(%in: i32, %in_8: i32, %in_9: i32, %out: i32, %out_10: i32):
        %7 = arith.cmpi eq, %in, %in_8 : i32
        %8 = arith.select %7, %in_9, %in : i32
        linalg.yield %8, %in : i32, i32
      }
      %5 = memref.load %alloc_6[%c0] : memref<1xi32>
      %6 = arith.cmpi eq, %5, %c1_i32 : i32
      scf.condition(%6)
    } do {
      scf.yield
    }
    %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %alloc_1 = memref.alloc() : memref<64xf32>
    memref.copy %reinterpret_cast_0, %alloc_1 : memref<64xf32, strided<[1]>> to memref<64xf32>
    %3 = bufferization.to_tensor %alloc_1 restrict writable : memref<64xf32> to tensor<64xf32>
    %4 = arith.addf %3, %2 : tensor<64xf32>
    bufferization.materialize_in_destination %4 in writable %reinterpret_cast_0 : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    %alloc_2 = memref.alloc() : memref<1xi32>
    memref.store %c0_i32, %alloc_2[%c0] : memref<1xi32>
    %reinterpret_cast_3 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [1], strides: [1] : memref<?xi32> to memref<1xi32, strided<[1]>>
    linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%reinterpret_cast_3, %alloc_2 : memref<1xi32, strided<[1]>>, memref<1xi32>) outs(%reinterpret_cast_3 : memref<1xi32, strided<[1]>>) attrs =  {GenericAtomicRMW = "exch", MemSemantic = "acq_rel", MemSyncScope = "gpu", Software} {
    ^bb0(%in: i32, %in_4: i32, %out: i32):
      linalg.yield %in_4 : i32
    }
    return
  }
}

