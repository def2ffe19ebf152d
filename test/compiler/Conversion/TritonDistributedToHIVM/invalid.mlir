// REQUIRES: distributed
// RUN: piton-opt %s --convert-triton-distributed-to-hivm -split-input-file -verify-diagnostics

tt.func public @symm(%p: !tt.ptr<f64>, %q: !tt.ptr<i1>, %b: !tt.ptr<tensor<8xf32>>, %n: i32) {
  // expected-error @+1 {{has no device function for '!tt.ptr<f64>'; use a type of 8, 16, 32 or 64 bit integers, float16, bfloat16 or float32}}
  %0 = distributed.symm_at %p, %n, : !tt.ptr<f64>
  // expected-error @+1 {{has no device function for '!tt.ptr<i1>'}}
  %1 = distributed.symm_at %q, %n, : !tt.ptr<i1>
  // expected-error @+1 {{has no device function for '!tt.ptr<tensor<8xf32>>'}}
  %2 = distributed.symm_at %b, %n, : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func public @notify(%s64: !tt.ptr<i64>, %s16: !tt.ptr<i16>, %v: i64, %n: i32) {
  // expected-error @+1 {{adds to a 64 bit signal word, which can only be set; use an int32 word}}
  "distributed.notify"(%s64, %v, %n) <{commScope = 1 : i32, sigOp = 2 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  // expected-error @+1 {{signal words are int32, int64 or uint64}}
  "distributed.notify"(%s16, %v, %n) <{commScope = 1 : i32, sigOp = 1 : i32}> : (!tt.ptr<i16>, i64, i32) -> ()
  tt.return
}

// -----

tt.func public @wait(%s: !tt.ptr<i1>, %n: i32, %v: i1) {
  // expected-error @+1 {{signal words are integers of 8, 16, 32 or 64 bits}}
  %0 = distributed.wait %s, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i1>, i32, i1 -> i32
  tt.return
}

// -----

tt.func public @ptr(%n: i32) {
  // expected-error @+1 {{of 'aclshmem_ptr' needs a pointer first}}
  %0 = distributed.extern_call %n {libname = "", libpath = "", pure = true, symbol = "aclshmem_ptr"} : (i32) -> !tt.ptr<f32>
  tt.return
}
