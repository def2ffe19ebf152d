// REQUIRES: distributed
// RUN: piton-opt %s -allow-unregistered-dialect --convert-triton-distributed-to-hivm -split-input-file | FileCheck %s
//
// Families by both spellings, then by whether the kernel has a dot.

// CHECK-LABEL: @no_dot
tt.func public @no_dot(%p: !tt.ptr<f16>, %n: i32) {
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_barrier_all"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmem_barrier_all"} : () -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmemx_barrier_all_vec"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmemx_barrier_all_vec"} : () -> ()
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_barrier"
  distributed.extern_call %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_barrier"} : (i32) -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmemx_barrier_vec"
  distributed.extern_call %n {libname = "", libpath = "", pure = false, symbol = "aclshmemx_barrier_vec"} : (i32) -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmem_fence"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmem_fence"} : () -> ()
  tt.return
}

// -----

// CHECK-LABEL: @dot
tt.func public @dot(%p: !tt.ptr<f16>, %n: i32, %a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  %d = tt.dot %a, %a, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_my_pe"
  %0 = distributed.get_rank %n : i32
  "t.use"(%0) : (i32) -> ()
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_barrier_all"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmem_barrier_all"} : () -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmemx_barrier_all_vec"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmemx_barrier_all_vec"} : () -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmem_putmem"
  distributed.extern_call %p, %p, %n, %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_putmem"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmem_half_putmem"
  distributed.extern_call %p, %p, %n, %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_half_putmem"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmem_bfloat16_getmem_nbi"
  distributed.extern_call %p, %p, %n, %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_bfloat16_getmem_nbi"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: tcore_type<VECTOR>{{.*}}"dist.aclshmem_uint32_putmem_signal_nbi"
  distributed.extern_call %p, %p, %n, %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_uint32_putmem_signal_nbi"} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, i32) -> ()
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_int32_p"
  distributed.extern_call %p, %n, %n {libname = "", libpath = "", pure = false, symbol = "aclshmem_int32_p"} : (!tt.ptr<f16>, i32, i32) -> ()
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_fence"
  distributed.extern_call {libname = "", libpath = "", pure = false, symbol = "aclshmem_fence"} : () -> ()
  tt.return
}

// -----

// CHECK-LABEL: @dot_scaled
tt.func public @dot_scaled(%n: i32, %a: tensor<16x32xi8>, %scale: tensor<16x2xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) {
  %d = tt.dot_scaled %a scale %scale, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  // CHECK: tcore_type<CUBE_AND_VECTOR>{{.*}}"dist.aclshmem_my_pe"
  %0 = distributed.get_rank %n : i32
  "t.use"(%0) : (i32) -> ()
  tt.return
}
