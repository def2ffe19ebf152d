// REQUIRES: distributed
// RUN: piton-opt %s -allow-unregistered-dialect --convert-triton-distributed-to-hivm -split-input-file | FileCheck %s
// RUN: piton-opt %s -allow-unregistered-dialect --convert-triton-distributed-to-hivm -split-input-file | piton-opt -allow-unregistered-dialect --convert-triton-distributed-to-hivm -split-input-file | FileCheck %s
//
// Every op by its symbol. The second run changes nothing.

// CHECK-NOT: distributed.
// CHECK-LABEL: @ranks
tt.func public @ranks(%axis: i32, %out: !tt.ptr<i32>) {
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, no_side_effect, symbol = "aclshmem_my_pe"} "dist.aclshmem_my_pe" -> i32
  %me = distributed.get_rank %axis : i32
  "t.use"(%me) : (i32) -> ()
  // CHECK: hivm.hir.custom {{.*}}no_side_effect, symbol = "aclshmem_n_pes"} "dist.aclshmem_n_pes" -> i32
  %n = distributed.get_num_ranks %axis : i32
  "t.use"(%n) : (i32) -> ()
  %s = arith.addi %me, %n : i32
  tt.store %out, %s : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: @waits
tt.func public @waits(%s8: !tt.ptr<i8>, %s16: !tt.ptr<i16>, %s32: !tt.ptr<i32>, %s64: !tt.ptr<i64>, %n: i32, %v8: i8, %v16: i16, %v64: i64) {
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, scope = 1 : i32, semantic = 2 : i32, symbol = "aclshmem_wait_int8"} "dist.aclshmem_wait_int8" ins(%{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<i8>, i32, i8) -> i32
  %0 = distributed.wait %s8, %n, %v8, scope = gpu semantic = acquire : !tt.ptr<i8>, i32, i8 -> i32
  "t.use"(%0) : (i32) -> ()
  // CHECK: symbol = "aclshmem_wait_int16"
  %1 = distributed.wait %s16, %n, %v16, scope = gpu semantic = acquire : !tt.ptr<i16>, i32, i16 -> i32
  "t.use"(%1) : (i32) -> ()
  // CHECK: symbol = "aclshmem_wait_int32"
  %2 = distributed.wait %s32, %n, %n, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  "t.use"(%2) : (i32) -> ()
  // CHECK: scope = 3 : i32, semantic = 1 : i32, symbol = "aclshmem_wait_int64"
  %3 = distributed.wait %s64, %n, %v64, scope = sys semantic = relaxed : !tt.ptr<i64>, i32, i64 -> i32
  "t.use"(%3) : (i32) -> ()
  tt.return
}

// -----

// CHECK-LABEL: @symm_at
tt.func public @symm_at(%f: !tt.ptr<f32>, %h: !tt.ptr<f16>, %b: !tt.ptr<bf16>, %i: !tt.ptr<i8>, %u: !tt.ptr<ui16>, %pe: i32) {
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "aclshmem_ptr_float"} "dist.aclshmem_ptr_float" ins(%{{.*}}, %{{.*}} : !tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %0 = distributed.symm_at %f, %pe, : !tt.ptr<f32>
  "t.use"(%0) : (!tt.ptr<f32>) -> ()
  // CHECK: symbol = "aclshmem_ptr_half"
  %1 = distributed.symm_at %h, %pe, : !tt.ptr<f16>
  "t.use"(%1) : (!tt.ptr<f16>) -> ()
  // CHECK: symbol = "aclshmem_ptr_bfloat16"
  %2 = distributed.symm_at %b, %pe, : !tt.ptr<bf16>
  "t.use"(%2) : (!tt.ptr<bf16>) -> ()
  // CHECK: symbol = "aclshmem_ptr_int8"
  %3 = distributed.symm_at %i, %pe, : !tt.ptr<i8>
  "t.use"(%3) : (!tt.ptr<i8>) -> ()
  // CHECK: symbol = "aclshmem_ptr_uint16"
  %4 = distributed.symm_at %u, %pe, : !tt.ptr<ui16>
  "t.use"(%4) : (!tt.ptr<ui16>) -> ()
  // A moved pointer is no argument of the kernel.
  %f1 = tt.addptr %f, %pe : !tt.ptr<f32>, i32
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32>, {{.*}}symbol = "aclshmem_ptr_float"}
  %5 = distributed.symm_at %f1, %pe, : !tt.ptr<f32>
  "t.use"(%5) : (!tt.ptr<f32>) -> ()
  tt.return
}

// -----

// CHECK-LABEL: @notify
// CHECK-SAME: %[[S32:[a-z0-9]+]]: !tt.ptr<i32>, %[[S64:[a-z0-9]+]]: !tt.ptr<i64>, %[[U64:[a-z0-9]+]]: !tt.ptr<ui64>, %[[V:[a-z0-9]+]]: i64, %[[PE:[a-z0-9]+]]: i32
tt.func public @notify(%s32: !tt.ptr<i32>, %s64: !tt.ptr<i64>, %u64: !tt.ptr<ui64>, %v: i64, %pe: i32) {
  // The runtime counts SET as 0 and ADD as 1, the dialect as 1 and 2.
  // CHECK-DAG: %[[ADD:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[SET:.*]] = arith.constant 0 : i32
  // CHECK: %[[T:.*]] = arith.trunci %[[V]] : i64 to i32
  // CHECK: hivm.hir.custom {commScope = 2 : i32, gm_addr_args_indices = array<i32: 0>, hivm.is_distributed, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, sigOp = 1 : i32, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%[[S32]], %[[T]], %[[SET]], %[[PE]] : !tt.ptr<i32>, i32, i32, i32)
  "distributed.notify"(%s32, %v, %pe) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i64, i32) -> ()
  // CHECK: sigOp = 2 : i32, symbol = "aclshmemx_signal_op"} "dist.aclshmemx_signal_op" ins(%[[S32]], %{{.*}}, %[[ADD]], %[[PE]] : !tt.ptr<i32>, i32, i32, i32)
  "distributed.notify"(%s32, %v, %pe) <{commScope = 2 : i32, sigOp = 2 : i32}> : (!tt.ptr<i32>, i64, i32) -> ()
  // CHECK: symbol = "aclshmem_int64_p"} "dist.aclshmem_int64_p" ins(%[[S64]], %[[V]], %[[PE]] : !tt.ptr<i64>, i64, i32)
  "distributed.notify"(%s64, %v, %pe) <{commScope = 3 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  // CHECK: symbol = "aclshmem_uint64_p"} "dist.aclshmem_uint64_p" ins(%[[U64]], %[[V]], %[[PE]] : !tt.ptr<ui64>, i64, i32)
  "distributed.notify"(%u64, %v, %pe) <{commScope = 3 : i32, sigOp = 1 : i32}> : (!tt.ptr<ui64>, i64, i32) -> ()
  tt.return
}

// -----

// CHECK-LABEL: @consume
tt.func public @consume(%sig: !tt.ptr<i32>, %f: !tt.ptr<f32>, %x: f16, %tp: tensor<32x64x!tt.ptr<bf16>>, %data: tensor<8xf32>, %bp: !tt.ptr<tensor<8xf16>>, %d: f64, %n: i32, %out: !tt.ptr<f32>) {
  %tok = distributed.wait %sig, %n, %n, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  "t.use"(%tok) : (i32) -> ()
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, {{.*}}no_side_effect, symbol = "aclshmem_consume_token_float_ptr_1d"} "dist.aclshmem_consume_token_float_ptr_1d" ins(%{{.*}}, %{{.*}} : !tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %0 = distributed.consume_token %f, %tok, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  "t.use"(%0) : (!tt.ptr<f32>) -> ()
  // CHECK: symbol = "aclshmem_consume_token_half"} "dist.aclshmem_consume_token_half" ins(%{{.*}}, %{{.*}} : f16, i32) -> f16
  %1 = distributed.consume_token %x, %tok, : f16, i32 -> f16
  "t.use"(%1) : (f16) -> ()
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<32x64x!tt.ptr<bf16>>
  // CHECK: %[[C:.*]] = hivm.hir.custom {SrcPtrIndex = array<i32: 0>, gm_addr_args_indices = array<i32>, {{.*}}no_side_effect, symbol = "aclshmem_consume_token_bfloat16_ptr_2d"} "dist.aclshmem_consume_token_bfloat16_ptr_2d" ins(%{{.*}}, %{{.*}} : tensor<32x64x!tt.ptr<bf16>>, i32) outs(%[[E]] : tensor<32x64x!tt.ptr<bf16>>) -> tensor<32x64x!tt.ptr<bf16>>
  // CHECK: annotation.mark %[[C]] {ContinuousMemAccess}
  %2 = distributed.consume_token %tp, %tok, : tensor<32x64x!tt.ptr<bf16>>, i32 -> tensor<32x64x!tt.ptr<bf16>>
  "t.use"(%2) : (tensor<32x64x!tt.ptr<bf16>>) -> ()
  // The rest has no function and needs none.
  // CHECK-NOT: hivm.hir.custom
  %3 = distributed.consume_token %data, %tok, : tensor<8xf32>, i32 -> tensor<8xf32>
  "t.use"(%3) : (tensor<8xf32>) -> ()
  %4 = distributed.consume_token %bp, %tok, : !tt.ptr<tensor<8xf16>>, i32 -> !tt.ptr<tensor<8xf16>>
  "t.use"(%4) : (!tt.ptr<tensor<8xf16>>) -> ()
  %5 = distributed.consume_token %d, %tok, : f64, i32 -> f64
  "t.use"(%5) : (f64) -> ()
  // A moved pointer.
  %f1 = tt.addptr %f, %n : !tt.ptr<f32>, i32
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32>, {{.*}}"dist.aclshmem_consume_token_float_ptr_1d"
  %6 = distributed.consume_token %f1, %tok, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  "t.use"(%6) : (!tt.ptr<f32>) -> ()
  %a = tt.load %0 : !tt.ptr<f32>
  %b = tt.load %6 : !tt.ptr<f32>
  %c = arith.addf %a, %b : f32
  %w = arith.extf %1 : f16 to f32
  %e = arith.addf %c, %w : f32
  tt.store %out, %e : !tt.ptr<f32>
  %v = tt.load %2 : tensor<32x64x!tt.ptr<bf16>>
  tt.store %tp, %v : tensor<32x64x!tt.ptr<bf16>>
  tt.return
}

// -----

// CHECK-LABEL: @extern
tt.func public @extern(%f: !tt.ptr<f32>, %h: !tt.ptr<f16>, %n: i32) {
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32>, {{.*}}libname = "libshmem_device", libpath = "", no_side_effect, pure = true, symbol = "aclshmem_team_n_pes"} "dist.aclshmem_team_n_pes" ins(%{{.*}} : i32) -> i32
  %0 = distributed.extern_call %n {libname = "libshmem_device", libpath = "", pure = true, symbol = "aclshmem_team_n_pes"} : (i32) -> i32
  "t.use"(%0) : (i32) -> ()
  // CHECK: hivm.hir.custom {gm_addr_args_indices = array<i32: 0, 1>
  // CHECK-NOT: no_side_effect
  // CHECK-SAME: symbol = "aclshmem_half_putmem_nbi"}
  distributed.extern_call %h, %h, %n, %0 {libname = "libshmem_device", libpath = "", pure = false, symbol = "aclshmem_half_putmem_nbi"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: symbol = "aclshmem_ptr_float"} "dist.aclshmem_ptr_float"
  %1 = distributed.extern_call %f, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "aclshmem_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  "t.use"(%1) : (!tt.ptr<f32>) -> ()
  // CHECK: symbol = "extern_call"} "dist.extern_call"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = ""} : () -> ()
  tt.return
}
