tt.func public @f(%p: !tt.ptr<i32>, %v: i32) {
  cf.br ^a
^a:
  tt.store %p, %v : !tt.ptr<i32>
  cf.br ^a
}
