// RUN: piton-opt %s --sim-prepare -split-input-file -verify-diagnostics

func.func @unknown(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "aiv"} {
  // expected-error @+1 {{calls 'my_function', which the device library does not have}}
  hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "my_function"} "my_function"
  return
}

// -----

func.func @types(%lock: memref<?xi8>, %ws: memref<?xi8>, %p: memref<?xi32>, %v: i64, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "aiv"} {
  // expected-error @+1 {{calls 'aclshmem_int32_p' as void (ptr, i64, i32), but the device library has it as void (ptr, i32, i32)}}
  hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "aclshmem_int32_p"} "dist.aclshmem_int32_p" ins(%p, %v, %a : memref<?xi32>, i64, i32)
  return
}

// -----

func.func @tensor(%lock: memref<?xi8>, %ws: memref<?xi8>, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = "local", mix_mode = "aiv"} {
  %t = tensor.empty() : tensor<8xi32>
  // expected-error @+1 {{passes 'tensor<8xi32>' to a device function, which takes pointers and scalars}}
  hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "aclshmem_int32_p"} "dist.aclshmem_int32_p" ins(%t, %a, %a : tensor<8xi32>, i32, i32)
  return
}
