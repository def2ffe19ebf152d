tt.func @f(%x: tensor<2xf32>) {
  %0 = "tt.expand_dims"(%x) : (tensor<2xf32>) -> tensor<2x1xf32>
  %1 = "tt.trans"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tt.reduce"(%x) ({
  }) : (tensor<2xf32>) -> f32
  tt.return
}
