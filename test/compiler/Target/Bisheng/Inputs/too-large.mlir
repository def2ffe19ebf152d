// a tile that no unified buffer holds
module {
  func.func @big(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xf32> {tt.tensor_kind = 0 : i32},
      %y: memref<?xf32> {tt.tensor_kind = 1 : i32}, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32)
      attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local",
                  mix_mode = "aiv", parallel_mode = "simd"} {
    %s = memref.reinterpret_cast %x to offset: [0], sizes: [65536], strides: [1] : memref<?xf32> to memref<65536xf32, strided<[1]>>
    %buf = memref.alloc() : memref<65536xf32>
    memref.copy %s, %buf : memref<65536xf32, strided<[1]>> to memref<65536xf32>
    %t = bufferization.to_tensor %buf restrict writable : memref<65536xf32> to tensor<65536xf32>
    %r = math.exp %t : tensor<65536xf32>
    %o = memref.reinterpret_cast %y to offset: [0], sizes: [65536], strides: [1] : memref<?xf32> to memref<65536xf32, strided<[1]>>
    bufferization.materialize_in_destination %r in writable %o : (tensor<65536xf32>, memref<65536xf32, strided<[1]>>) -> ()
    return
  } loc("kernel.py":12:0)
}
