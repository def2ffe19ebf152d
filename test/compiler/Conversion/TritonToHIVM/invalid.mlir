// RUN: piton-opt %s -triton-to-hivm -split-input-file -verify-diagnostics

tt.func @name() {
  // expected-error @+1 {{Unknown custom operation: sync_all (known are sync_block_all, sync_block_set and sync_block_wait)}}
  ascend.custom "sync_all" {str_args = ["cube", 3 : i32]}
  tt.return
}

// -----

tt.func @arguments() {
  // expected-error @+1 {{'sync_block_set' takes [mode or sender, event id], but has ["cube"]}}
  ascend.custom "sync_block_set" {str_args = ["cube"]}
  tt.return
}

// -----

tt.func @id() {
  // expected-error @+1 {{event id 16 is outside 0 to 15}}
  ascend.custom "sync_block_wait" {str_args = ["cube", 16 : i32]}
  // expected-error @+1 {{event id -1 is outside 0 to 15}}
  ascend.custom "sync_block_set" {str_args = ["vector", -1 : i32]}
  tt.return
}

// -----

tt.func @sender() {
  // expected-error @+1 {{sender 'both' is neither cube nor vector}}
  ascend.custom "sync_block_set" {str_args = ["both", 1 : i32]}
  // expected-error @+1 {{mode 'cube' is none of all_cube, all_vector, all and all_sub_vector}}
  ascend.custom "sync_block_all" {str_args = ["cube", 1 : i32]}
  tt.return
}
