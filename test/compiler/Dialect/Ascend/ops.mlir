// RUN: piton-opt %s | piton-opt | FileCheck %s

// CHECK-LABEL: tt.func @hints(
tt.func @hints(%x: tensor<8xf32>, %y: tensor<8xf32>, %s: i32) {
  // CHECK: ascend.annotation %{{.*}} {hivm.multi_buffer = 2 : i32, mayDiscretememaccess} : tensor<8xf32>
  ascend.annotation %x {hivm.multi_buffer = 2 : i32, mayDiscretememaccess} : tensor<8xf32>
  // CHECK: ascend.custom "sync_block_set" {str_args = ["cube", 3 : i32]}
  ascend.custom "sync_block_set" {str_args = ["cube", 3 : i32]}
  // CHECK: ascend.custom "other" {str_args = []} args(%{{.*}} : i32)
  ascend.custom "other" {str_args = []} args(%s : i32)
  // CHECK: ascend.mod %{{.*}}, %{{.*}} : tensor<8xf32>
  %0 = ascend.mod %x, %y : tensor<8xf32>
  // CHECK: ascend.mod %{{.*}}, %{{.*}} : i32
  %1 = ascend.mod %s, %s : i32
  // CHECK: ascend.flip %{{.*}} {dim = 0 : i64} : tensor<8xf32>
  %2 = ascend.flip %x {dim = 0 : i64} : tensor<8xf32>
  // CHECK: ascend.sort %{{.*}} {descending = true, dim = 0 : i64} : tensor<8xf32>
  %3 = ascend.sort %x {descending = true, dim = 0 : i64} : tensor<8xf32>
  tt.return
}

// CHECK-LABEL: tt.func @indirect(
tt.func @indirect(%p: !tt.ptr<f32>, %i: tensor<8xi64>, %m: tensor<8xi1>, %o: tensor<8xf32>) {
  // CHECK: ascend.indirect_load %{{.*}}[%{{.*}}] : (!tt.ptr<f32>, tensor<8xi64>) -> tensor<8xf32>
  %0 = ascend.indirect_load %p[%i] : (!tt.ptr<f32>, tensor<8xi64>) -> tensor<8xf32>
  // CHECK: ascend.indirect_load %{{.*}}[%{{.*}}] mask(%{{.*}}) other(%{{.*}}) {isVolatile = true} : (!tt.ptr<f32>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  %1 = ascend.indirect_load %p[%i] mask(%m) other(%o) {isVolatile = true} : (!tt.ptr<f32>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ascend.indirect_store %{{.*}}[%{{.*}}], %{{.*}} mask(%{{.*}}) : !tt.ptr<f32>, tensor<8xi64>, tensor<8xf32>, tensor<8xi1>
  ascend.indirect_store %p[%i], %o mask(%m) : !tt.ptr<f32>, tensor<8xi64>, tensor<8xf32>, tensor<8xi1>
  tt.return
}

// CHECK-LABEL: tt.func @slices(
tt.func @slices(%p: !tt.ptr<f32>, %i: tensor<4xi32>, %j: tensor<4x8xi32>, %v: tensor<4x8xf32>, %b: i64, %n: i32, %f: f32) {
  // CHECK: ascend.index_put %{{.*}}[%{{.*}}], %{{.*}} bound %{{.*}} end[%{{.*}}, %{{.*}}] start[%{{.*}}, %{{.*}}] strides[%{{.*}}, %{{.*}}] {dim = 0 : i32} : !tt.ptr<f32>, tensor<4xi32>, tensor<4x8xf32>, i64, i32, i32, i32, i32, i64, i64
  ascend.index_put %p[%i], %v bound %b end [%n, %n] start [%n, %n] strides [%b, %b] {dim = 0 : i32} : !tt.ptr<f32>, tensor<4xi32>, tensor<4x8xf32>, i64, i32, i32, i32, i32, i64, i64
  // CHECK: ascend.gather_out_to_ub %{{.*}}[%{{.*}}] bound %{{.*}} strides[%{{.*}}, %{{.*}}] end[%{{.*}}, %{{.*}}] start[%{{.*}}, %{{.*}}] other(%{{.*}}) {dim = 0 : i32} : (!tt.ptr<f32>, tensor<4x8xi32>, i64, i64, i64, i32, i32, i32, i32, f32) -> tensor<4x8xf32>
  %0 = ascend.gather_out_to_ub %p[%j] bound %b strides [%b, %b] end [%n, %n] start [%n, %n] other(%f) {dim = 0 : i32} : (!tt.ptr<f32>, tensor<4x8xi32>, i64, i64, i64, i32, i32, i32, i32, f32) -> tensor<4x8xf32>
  // CHECK: ascend.scatter_ub_to_out %{{.*}}, %{{.*}}[%{{.*}}] bound %{{.*}} strides
  ascend.scatter_ub_to_out %p, %v[%j] bound %b strides [%b, %b] end [%n, %n] start [%n, %n] {dim = 0 : i32} : !tt.ptr<f32>, tensor<4x8xf32>, tensor<4x8xi32>, i64, i64, i64, i32, i32, i32, i32
  // CHECK: ascend.index_select_simd %{{.*}}[%{{.*}}] shape[%{{.*}}, %{{.*}}] offset[%{{.*}}, %{{.*}}] {dim = 0 : i32, read_shape = array<i32: -1, 8>} : (!tt.ptr<f32>, tensor<4xi32>, i32, i32, i32, i32) -> tensor<4x8xf32>
  %1 = ascend.index_select_simd %p[%i] shape [%n, %n] offset [%n, %n] {dim = 0 : i32, read_shape = array<i32: -1, 8>} : (!tt.ptr<f32>, tensor<4xi32>, i32, i32, i32, i32) -> tensor<4x8xf32>
  tt.return
}
