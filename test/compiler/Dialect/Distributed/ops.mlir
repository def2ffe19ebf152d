// REQUIRES: distributed
// RUN: piton-opt %s | FileCheck %s
// RUN: piton-opt %s | piton-opt | FileCheck %s
// RUN: piton-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: piton-opt %s -mlir-print-op-generic | piton-opt | FileCheck %s

// CHECK-LABEL: @wait
tt.func @wait(%sig: !tt.ptr<i32>, %s64: !tt.ptr<i64>, %n: i32, %one: i32, %v64: i64) {
  // CHECK: distributed.wait %{{.*}}, %{{.*}}, %{{.*}}, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // GENERIC: "distributed.wait"{{.*}}scope = 1 : i32, semantic = 2 : i32
  %tok = distributed.wait %sig, %n, %one, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // CHECK: distributed.wait %{{.*}}, scope = sys semantic = relaxed : !tt.ptr<i64>, i32, i64 -> i32
  // GENERIC: "distributed.wait"{{.*}}scope = 3 : i32, semantic = 1 : i32
  %tk2 = distributed.wait %s64, %n, %v64, scope = sys semantic = relaxed : !tt.ptr<i64>, i32, i64 -> i32
  // CHECK: distributed.wait %{{.*}}, scope = cta semantic = acq_rel
  %tk3 = distributed.wait %s64, %n, %v64, scope = cta semantic = acq_rel {mine = "x"} : !tt.ptr<i64>, i32, i64 -> i32
  tt.return
}

// The defaults of the generic form.
// CHECK-LABEL: @wait_defaults
tt.func @wait_defaults(%sig: !tt.ptr<i32>, %n: i32) {
  // CHECK: distributed.wait {{.*}} scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %tok = "distributed.wait"(%sig, %n, %n) : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// CHECK-LABEL: @consume
tt.func @consume(%p: !tt.ptr<f16>, %tp: tensor<32x64x!tt.ptr<bf16>>, %x: tensor<32x64xf32>, %s: f32,
                 %d: !tt.tensordesc<tensor<8x8xf32>>, %b: !tt.ptr<tensor<8x8xf16>>, %tok: i32,
                 %toks: tensor<32x64xi32>) {
  // CHECK: distributed.consume_token %{{.*}}, %{{.*}}, : !tt.ptr<f16>, i32 -> !tt.ptr<f16>
  %0 = distributed.consume_token %p, %tok, : !tt.ptr<f16>, i32 -> !tt.ptr<f16>
  // CHECK: distributed.consume_token %{{.*}}, : tensor<32x64x!tt.ptr<bf16>>, i32 -> tensor<32x64x!tt.ptr<bf16>>
  %1 = distributed.consume_token %tp, %tok, : tensor<32x64x!tt.ptr<bf16>>, i32 -> tensor<32x64x!tt.ptr<bf16>>
  // CHECK: : tensor<32x64xf32>, i32 -> tensor<32x64xf32>
  %2 = distributed.consume_token %x, %tok, : tensor<32x64xf32>, i32 -> tensor<32x64xf32>
  // CHECK: : f32, i32 -> f32
  %3 = distributed.consume_token %s, %tok, : f32, i32 -> f32
  // CHECK: : !tt.tensordesc<tensor<8x8xf32>>, i32 -> !tt.tensordesc<tensor<8x8xf32>>
  %4 = distributed.consume_token %d, %tok, : !tt.tensordesc<tensor<8x8xf32>>, i32 -> !tt.tensordesc<tensor<8x8xf32>>
  // CHECK: : !tt.ptr<tensor<8x8xf16>>, i32 -> !tt.ptr<tensor<8x8xf16>>
  %5 = distributed.consume_token %b, %tok, : !tt.ptr<tensor<8x8xf16>>, i32 -> !tt.ptr<tensor<8x8xf16>>
  // CHECK: : tensor<32x64xf32>, tensor<32x64xi32> -> tensor<32x64xf32>
  %6 = distributed.consume_token %x, %toks, : tensor<32x64xf32>, tensor<32x64xi32> -> tensor<32x64xf32>
  tt.return
}

// CHECK-LABEL: @ranks
tt.func @ranks(%axis: i32, %p: !tt.ptr<f32>, %peer: i32) {
  // CHECK: distributed.get_rank %{{.*}} : i32
  %me = distributed.get_rank %axis : i32
  // CHECK: distributed.get_num_ranks %{{.*}} : i32
  %np = distributed.get_num_ranks %axis : i32
  // CHECK: distributed.symm_at %{{.*}}, %{{.*}}, : !tt.ptr<f32>
  %r = distributed.symm_at %p, %peer, : !tt.ptr<f32>
  tt.return
}

// The attributes of a notify come as properties or, from older printers, as a dictionary.
// CHECK-LABEL: @notify
tt.func @notify(%sig: !tt.ptr<i64>, %val: i64, %peer: i32) {
  // CHECK: "distributed.notify"(%{{.*}}) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  "distributed.notify"(%sig, %val, %peer) {commScope = 2 : i32, sigOp = 1 : i32} : (!tt.ptr<i64>, i64, i32) -> ()
  // CHECK: <{commScope = 1 : i32, sigOp = 2 : i32}>
  "distributed.notify"(%sig, %val, %peer) <{commScope = 1 : i32, sigOp = 2 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  // CHECK: commScope = 3 : i32
  "distributed.notify"(%sig, %val, %peer) <{commScope = 3 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  tt.return
}

// CHECK-LABEL: @extern
tt.func @extern(%d: !tt.ptr<f16>, %s: !tt.ptr<f16>, %nb: i32, %pe: i32) {
  // CHECK: distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "aclshmem_my_pe"} : () -> i32
  %0 = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "aclshmem_my_pe"} : () -> i32
  // CHECK: distributed.extern_call %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}pure = false, symbol = "aclshmem_half_putmem_nbi"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  distributed.extern_call %d, %s, %nb, %pe {libname = "libshmem_device", libpath = "", pure = false, symbol = "aclshmem_half_putmem_nbi"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: : (i32) -> (i32, f32)
  %1:2 = distributed.extern_call %pe {libname = "l", libpath = "", pure = false, symbol = "two"} : (i32) -> (i32, f32)
  tt.return
}
