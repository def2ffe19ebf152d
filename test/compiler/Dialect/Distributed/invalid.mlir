// REQUIRES: distributed
// RUN: piton-opt %s -split-input-file -verify-diagnostics

// C1 of wait
tt.func @wait_value(%sig: !tt.ptr<i64>, %n: i32, %v: i32) {
  // expected-error @+1 {{the value waited for has the type that the barrier pointer points to}}
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i64>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_pointer(%sig: i64, %n: i32, %v: i64) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = "distributed.wait"(%sig, %n, %v) : (i64, i32, i64) -> i32
  tt.return
}

// -----

tt.func @wait_count(%sig: !tt.ptr<i64>, %n: f32, %v: i64) {
  // expected-error @+1 {{operand #1 must be}}
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i64>, f32, i64 -> i32
  tt.return
}

// -----

tt.func @wait_float(%sig: !tt.ptr<f32>, %n: i32, %v: f32) {
  // expected-error @+1 {{operand #2 must be integer}}
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<f32>, i32, f32 -> i32
  tt.return
}

// -----

// A tensor of pointers would need a tensor of values, which no wait takes.
tt.func @wait_tensor(%sig: tensor<4x!tt.ptr<i32>>, %n: i32, %v: i32) {
  // expected-error @+1 {{the value waited for has the type that the barrier pointer points to}}
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : tensor<4x!tt.ptr<i32>>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_scope(%sig: !tt.ptr<i32>, %n: i32, %v: i32) {
  // expected-error @+1 {{one of the following enum values for attribute 'scope' [gpu, cta, sys]}}
  %0 = distributed.wait %sig, %n, %v, scope = node semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_token(%sig: !tt.ptr<i32>, %n: i32, %v: i32) {
  // expected-error @+1 {{result #0 must be}}
  %0 = distributed.wait %sig, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> f32
  tt.return
}

// -----

// C1 of consume_token
tt.func @consume_result(%p: !tt.ptr<f16>, %tok: i32) {
  // expected-error @+1 {{the result has the type of the input}}
  %0 = distributed.consume_token %p, %tok, : !tt.ptr<f16>, i32 -> !tt.ptr<f32>
  tt.return
}

// -----

// C2 of consume_token
tt.func @consume_shape(%x: tensor<8xf32>, %tok: tensor<4xi32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = distributed.consume_token %x, %tok, : tensor<8xf32>, tensor<4xi32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @consume_token(%p: !tt.ptr<f16>, %tok: f32) {
  // expected-error @+1 {{operand #1 must be}}
  %0 = distributed.consume_token %p, %tok, : !tt.ptr<f16>, f32 -> !tt.ptr<f16>
  tt.return
}

// -----

tt.func @rank_axis(%axis: i64) {
  // expected-error @+1 {{operand #0 must be 32-bit signless integer}}
  %0 = "distributed.get_rank"(%axis) : (i64) -> i32
  tt.return
}

// -----

tt.func @symm_type(%p: !tt.ptr<f32>, %r: i32) {
  // expected-error @+1 {{the remote address has the type of the symmetric one}}
  %0 = "distributed.symm_at"(%p, %r) : (!tt.ptr<f32>, i32) -> !tt.ptr<f16>
  tt.return
}

// -----

tt.func @symm_tensor(%p: tensor<4x!tt.ptr<f32>>, %r: i32) {
  // expected-error @+1 {{operand #0 must be Triton pointer}}
  %0 = "distributed.symm_at"(%p, %r) : (tensor<4x!tt.ptr<f32>>, i32) -> tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @notify_value(%sig: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{operand #1 must be 64-bit signless integer}}
  "distributed.notify"(%sig, %v, %v) <{commScope = 1 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// -----

tt.func @notify_op(%sig: !tt.ptr<i32>, %v: i64, %r: i32) {
  // expected-error @+1 {{Invalid attribute `sigOp`}}
  "distributed.notify"(%sig, %v, %r) <{commScope = 1 : i32, sigOp = 0 : i32}> : (!tt.ptr<i32>, i64, i32) -> ()
  tt.return
}

// -----

tt.func @notify_scope(%sig: !tt.ptr<i32>, %v: i64, %r: i32) {
  // expected-error @+1 {{requires attribute 'commScope'}}
  "distributed.notify"(%sig, %v, %r) <{sigOp = 1 : i32}> : (!tt.ptr<i32>, i64, i32) -> ()
  tt.return
}

// -----

tt.func @extern_symbol(%v: i32) {
  // expected-error @+1 {{requires attribute 'symbol'}}
  distributed.extern_call %v {libname = "l", libpath = "", pure = true} : (i32) -> ()
  tt.return
}
