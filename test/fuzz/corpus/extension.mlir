tt.func public @f(%p: !tt.ptr<f32>, %x: tensor<8xf32>, %i: tensor<8xi32>, %m: tensor<8xi1>) {
  ascend.annotation %x {mayDiscretememaccess} : tensor<8xf32>
  %0 = ascend.sort %x {descending = true, dim = 0 : i64} : tensor<8xf32>
  %1 = ascend.flip %0 {dim = 0 : i64} : tensor<8xf32>
  %2 = ascend.mod %1, %0 : tensor<8xf32>
  ascend.custom "sync_block_set" {str_args = ["cube", 3 : i32]}
  %h = tt.histogram %i, %m : tensor<8xi32> -> tensor<4xi32>
  ascend.indirect_store %p[%i], %2 mask(%m) : !tt.ptr<f32>, tensor<8xi32>, tensor<8xf32>, tensor<8xi1>
  tt.return
}
