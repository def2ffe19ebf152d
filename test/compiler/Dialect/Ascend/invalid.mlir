// RUN: piton-opt %s -split-input-file -verify-diagnostics

// C1 of flip and sort
tt.func @flip(%x: tensor<8xf32>) {
  // expected-error @+1 {{dim 1 is outside the rank 1}}
  %0 = ascend.flip %x {dim = 1 : i64} : tensor<8xf32>
  tt.return
}

// -----

tt.func @sort(%x: tensor<8xf32>) {
  // expected-error @+1 {{dim -1 is outside the rank 1}}
  %0 = ascend.sort %x {dim = -1 : i64, descending = false} : tensor<8xf32>
  tt.return
}

// -----

// C1 of indirect_load
tt.func @load_shape(%p: !tt.ptr<f32>, %i: tensor<8xi64>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'tensor<4xi1>' has not the shape of the offsets 'tensor<8xi64>'}}
  %0 = ascend.indirect_load %p[%i] mask(%m) : (!tt.ptr<f32>, tensor<8xi64>, tensor<4xi1>) -> tensor<8xf32>
  tt.return
}

// -----

// C2 of indirect_load
tt.func @load_other(%p: !tt.ptr<f32>, %i: tensor<8xi64>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'other' needs 'mask'}}
  %0 = ascend.indirect_load %p[%i] other(%o) : (!tt.ptr<f32>, tensor<8xi64>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

// C3 of indirect_load and indirect_store
tt.func @load_element(%p: !tt.ptr<f32>, %i: tensor<8xi64>) {
  // expected-error @+1 {{'tensor<8xi32>' does not hold elements of '!tt.ptr<f32>'}}
  %0 = ascend.indirect_load %p[%i] : (!tt.ptr<f32>, tensor<8xi64>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @store_element(%p: !tt.ptr<f32>, %i: tensor<8xi64>, %v: tensor<8xi32>) {
  // expected-error @+1 {{does not hold elements of '!tt.ptr<f32>'}}
  ascend.indirect_store %p[%i], %v : !tt.ptr<f32>, tensor<8xi64>, tensor<8xi32>
  tt.return
}

// -----

// C1 of index_put
tt.func @put(%p: !tt.ptr<f32>, %i: tensor<4xi32>, %v: tensor<4x8xf32>, %b: i64) {
  // expected-error @+1 {{has 1 end offsets for rank 2}}
  ascend.index_put %p[%i], %v bound %b end [%b] start [%b, %b] strides [%b, %b] {dim = 0 : i32} : !tt.ptr<f32>, tensor<4xi32>, tensor<4x8xf32>, i64, i64, i64, i64, i64, i64
  tt.return
}

// -----

// C2 of gather_out_to_ub
tt.func @gather(%p: !tt.ptr<f32>, %j: tensor<8xi32>, %b: i64) {
  // expected-error @+1 {{dim 1 is outside the rank 1}}
  %0 = ascend.gather_out_to_ub %p[%j] bound %b strides [%b] end [%b] start [%b] {dim = 1 : i32} : (!tt.ptr<f32>, tensor<8xi32>, i64, i64, i64, i64) -> tensor<8xf32>
  tt.return
}

// -----

// C1 of scatter_ub_to_out
tt.func @scatter(%p: !tt.ptr<f32>, %v: tensor<8xf32>, %j: tensor<8xi32>, %b: i64) {
  // expected-error @+1 {{has 0 strides for rank 1}}
  ascend.scatter_ub_to_out %p, %v[%j] bound %b strides [] end [%b] start [%b] {dim = 0 : i32} : !tt.ptr<f32>, tensor<8xf32>, tensor<8xi32>, i64, i64, i64
  tt.return
}

// -----

// C1 of index_select_simd
tt.func @select(%p: !tt.ptr<f32>, %i: tensor<4xi32>, %n: i32) {
  // expected-error @+1 {{has 1 sizes, 2 offsets and a read_shape of 2 for a result of rank 2}}
  %1 = ascend.index_select_simd %p[%i] shape [%n] offset [%n, %n] {dim = 0 : i32, read_shape = array<i32: -1, 8>} : (!tt.ptr<f32>, tensor<4xi32>, i32, i32, i32) -> tensor<4x8xf32>
  tt.return
}
