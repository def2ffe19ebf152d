// elementwise generics, a constant of several values
module {
  func.func @k(%lock: memref<?xi8>, %ws: memref<?xi8>, %x_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %r_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %t_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %i_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %o_p: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %n_p: memref<?xi32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32}, %npx: i32, %npy: i32, %npz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %x_c = memref.reinterpret_cast %x_p to offset: [0], sizes: [8, 16], strides: [16, 1] : memref<?xf32> to memref<8x16xf32, strided<[16, 1]>>
    %x_b = memref.alloc() : memref<8x16xf32>
    memref.copy %x_c, %x_b : memref<8x16xf32, strided<[16, 1]>> to memref<8x16xf32>
    %x = bufferization.to_tensor %x_b restrict writable : memref<8x16xf32> to tensor<8x16xf32>
    %r_c = memref.reinterpret_cast %r_p to offset: [0], sizes: [16], strides: [1] : memref<?xf32> to memref<16xf32, strided<[1]>>
    %r_b = memref.alloc() : memref<16xf32>
    memref.copy %r_c, %r_b : memref<16xf32, strided<[1]>> to memref<16xf32>
    %r = bufferization.to_tensor %r_b restrict writable : memref<16xf32> to tensor<16xf32>
    %t_c = memref.reinterpret_cast %t_p to offset: [0], sizes: [16, 8], strides: [8, 1] : memref<?xf32> to memref<16x8xf32, strided<[8, 1]>>
    %t_b = memref.alloc() : memref<16x8xf32>
    memref.copy %t_c, %t_b : memref<16x8xf32, strided<[8, 1]>> to memref<16x8xf32>
    %t = bufferization.to_tensor %t_b restrict writable : memref<16x8xf32> to tensor<16x8xf32>
    %i_c = memref.reinterpret_cast %i_p to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    %i_b = memref.alloc() : memref<8xi32>
    memref.copy %i_c, %i_b : memref<8xi32, strided<[1]>> to memref<8xi32>
    %i = bufferization.to_tensor %i_b restrict writable : memref<8xi32> to tensor<8xi32>
    %e = tensor.empty() : tensor<8x16xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %r, %t : tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %m, %c : f32
        linalg.yield %s : f32
    } -> tensor<8x16xf32>
    %k = arith.constant dense<[1, 2, 4, 8, 16, 32, 64, 128]> : tensor<8xi32>
    %n = arith.addi %i, %k : tensor<8xi32>
    %o_d = memref.reinterpret_cast %o_p to offset: [0], sizes: [8, 16], strides: [16, 1] : memref<?xf32> to memref<8x16xf32, strided<[16, 1]>>
    bufferization.materialize_in_destination %o in writable %o_d : (tensor<8x16xf32>, memref<8x16xf32, strided<[16, 1]>>) -> ()
    %n_d = memref.reinterpret_cast %n_p to offset: [0], sizes: [8], strides: [1] : memref<?xi32> to memref<8xi32, strided<[1]>>
    bufferization.materialize_in_destination %n in writable %n_d : (tensor<8xi32>, memref<8xi32, strided<[1]>>) -> ()
    return
  }
}
