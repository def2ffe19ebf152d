tt.func @f(%x: tensor<2xf32>) {
  %1 = "tt.trans"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tt.return
}
