tt.func public @f(%p: memref<?xf32>, %q: vector<4xf32>, %r: tuple<i32>, %s: index, %t: none) {
  tt.return
}
