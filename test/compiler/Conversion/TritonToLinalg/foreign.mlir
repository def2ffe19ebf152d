// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse | FileCheck %s
//
// Custom ops of the NPU take and give memrefs: a moved pointer goes as its address, and a
// pointer that an op returns is a memref from then on.

// CHECK-LABEL: @k
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {tt.tensor_kind = 2 : i32}, %[[S:[a-z0-9]+]]: memref<?xi32> {tt.tensor_kind = 2 : i32}
// CHECK:   %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK:   %[[P:.*]] = hivm.hir.pointer_cast(%{{.*}}) [%c1] : memref<?xi32>
// CHECK:   hivm.hir.custom {{.*}} "dist.aclshmemx_signal_op" ins(%[[P]], {{.*}} : memref<?xi32>, i32, i32, i32)
// CHECK:   %[[Q:.*]] = hivm.hir.custom {{.*}} "dist.aclshmem_ptr_float" ins(%[[X]], {{.*}} : memref<?xf32>, i32) -> memref<?xf32>
// CHECK:   memref.reinterpret_cast %[[Q]] to offset: [0], sizes: [8], strides: [1]
tt.func public @k(%x: !tt.ptr<f32>, %s: !tt.ptr<i32>, %n: i32) {
  %s1 = tt.addptr %s, %n : !tt.ptr<i32>, i32
  hivm.hir.custom {symbol = "aclshmemx_signal_op", hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>} "dist.aclshmemx_signal_op" ins(%s1, %n, %n, %n : !tt.ptr<i32>, i32, i32, i32)
  %p = hivm.hir.custom {symbol = "aclshmem_ptr_float", hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>} "dist.aclshmem_ptr_float" ins(%x, %n : !tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %pp : tensor<8x!tt.ptr<f32>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %xp, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A call that does more than give an address stays when nobody uses that.
// CHECK-LABEL: @unused
// CHECK:   hivm.hir.custom {{.*}} "dist.aclshmem_ptr_float" ins({{.*}} : memref<?xf32>, i32) -> memref<?xf32>
// CHECK-NOT: hivm.hir.custom
tt.func public @unused(%x: !tt.ptr<f32>, %n: i32) {
  %p = hivm.hir.custom {symbol = "aclshmem_ptr_float", hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>} "dist.aclshmem_ptr_float" ins(%x, %n : !tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %q = hivm.hir.custom {no_side_effect, symbol = "aclshmem_ptr_float", hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>} "dist.aclshmem_ptr_float" ins(%x, %n : !tt.ptr<f32>, i32) -> !tt.ptr<f32>
  tt.return
}
