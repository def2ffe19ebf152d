tt.func public @f(%p: !tt.ptr<f32>, %x: tensor<?xf32>, %q: tensor<?x!tt.ptr<f32>>) {
  tt.store %q, %x : tensor<?x!tt.ptr<f32>>
  %l = tt.load %q : tensor<?x!tt.ptr<f32>>
  tt.return
}
