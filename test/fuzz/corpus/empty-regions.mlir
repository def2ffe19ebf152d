tt.func @f(%x: tensor<2xf32>) {
  %2 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  }) : (tensor<2xf32>) -> tensor<2xf32>
  tt.return
}
