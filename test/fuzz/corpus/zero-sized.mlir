tt.func public @f(%p: !tt.ptr<f32>, %x: tensor<0xf32>, %q: tensor<0x!tt.ptr<f32>>) {
  tt.store %q, %x : tensor<0x!tt.ptr<f32>>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<0xf32>) -> f32
  tt.store %p, %r : !tt.ptr<f32>
  tt.return
}
