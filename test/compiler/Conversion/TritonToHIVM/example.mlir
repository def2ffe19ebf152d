// RUN: piton-opt %s -triton-to-hivm | FileCheck %s

// CHECK-LABEL: tt.func @sync(
tt.func @sync() {
  // CHECK: hivm.hir.sync_block[<ALL_CUBE>, 0 : i16] tcube_pipe = <PIPE_FIX>
  ascend.custom "sync_block_all" {str_args = ["all_cube", 0 : i32]}
  // CHECK: hivm.hir.sync_block[<ALL_VECTOR>, 1 : i16] tvector_pipe = <PIPE_MTE3>
  ascend.custom "sync_block_all" {str_args = ["all_vector", 1 : i32]}
  // CHECK: hivm.hir.sync_block[<ALL>, 2 : i16] tcube_pipe = <PIPE_FIX> tvector_pipe = <PIPE_MTE3>
  ascend.custom "sync_block_all" {str_args = ["all", 2 : i32]}
  // CHECK: hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = 3
  ascend.custom "sync_block_set" {str_args = ["cube", 3 : i32]}
  // CHECK: hivm.hir.sync_block_set[<VECTOR>, <PIPE_MTE3>, <PIPE_MTE2>] flag = 4
  ascend.custom "sync_block_set" {str_args = ["vector", 4 : i32]}
  // CHECK: hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_MTE2>] flag = 3
  ascend.custom "sync_block_wait" {str_args = ["cube", 3 : i32]}
  // CHECK: hivm.hir.sync_block_wait[<CUBE>, <PIPE_MTE3>, <PIPE_MTE2>] flag = 15
  ascend.custom "sync_block_wait" {str_args = ["vector", 15 : i32]}
  // CHECK: hivm.hir.pipe_barrier[<PIPE_ALL>]
  gpu.barrier
  tt.return
}


// CHECK-LABEL: tt.func @barrier(
tt.func @barrier() {
  // CHECK-NEXT: hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK-NEXT: tt.return
  gpu.barrier
  tt.return
}
