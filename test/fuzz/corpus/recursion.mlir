tt.func public @f(%p: !tt.ptr<f32>) {
  tt.call @f(%p) : (!tt.ptr<f32>) -> ()
  tt.return
}
tt.func private @g() {
  tt.call @h() : () -> ()
  tt.return
}
tt.func private @h() {
  tt.call @g() : () -> ()
  tt.return
}
