// RUN: piton-opt %s | piton-opt | FileCheck %s
// Every op in its textual form; the templates are those of AscendNPU IR.

// CHECK-LABEL: func.func @movement(
func.func @movement(%g: memref<64xf32, #hivm.address_space<gm>>, %l: memref<64xf32, #hivm.address_space<ub>>,
    %t: tensor<64xf32>, %w: memref<4x80xf32>, %n: memref<4x64xf32>, %z: f32, %i: index, %c: i1,
    %acc: tensor<16x16xf32>, %half: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // CHECK: hivm.hir.load ins(%{{.*}} : memref<64xf32, #hivm.address_space<gm>>) outs(%{{.*}} : memref<64xf32, #hivm.address_space<ub>>)
  hivm.hir.load ins(%g : memref<64xf32, #hivm.address_space<gm>>) outs(%l : memref<64xf32, #hivm.address_space<ub>>)
  // CHECK: hivm.hir.load ins({{.*}}) outs({{.*}}) pad_mode = <PadValue> pad_value = %{{.*}} : f32 left_padding_num = %{{.*}} : index init_out_buffer = true init_condition = %{{.*}} : i1 eviction_policy = <EvictFirst>
  hivm.hir.load ins(%n : memref<4x64xf32>) outs(%w : memref<4x80xf32>) pad_mode = <PadValue> pad_value = %z : f32 left_padding_num = %i : index init_out_buffer = true init_condition = %c : i1 eviction_policy = <EvictFirst>
  // CHECK: hivm.hir.store ins({{.*}}) outs({{.*}})
  hivm.hir.store ins(%l : memref<64xf32, #hivm.address_space<ub>>) outs(%g : memref<64xf32, #hivm.address_space<gm>>)
  // CHECK: hivm.hir.store ins({{.*}}) outs({{.*}}) atomic = <add>
  hivm.hir.store ins(%t : tensor<64xf32>) outs(%g : memref<64xf32, #hivm.address_space<gm>>) atomic = <add>
  // CHECK: hivm.hir.store ins({{.*}}) outs({{.*}}) atomic = <umax> -> tensor<64xf32>
  %s = hivm.hir.store ins(%t : tensor<64xf32>) outs(%t : tensor<64xf32>) atomic = <umax> -> tensor<64xf32>
  // CHECK: hivm.hir.copy ins({{.*}}) outs({{.*}}) -> tensor<64xf32>
  %k = hivm.hir.copy ins(%t : tensor<64xf32>) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  // CHECK: hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins({{.*}}) outs({{.*}}) -> tensor<16x16xf16>
  %f = hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%acc : tensor<16x16xf32>) outs(%half : tensor<16x16xf16>) -> tensor<16x16xf16>
  return %f : tensor<16x16xf16>
}

// CHECK-LABEL: func.func @atomics(
func.func @atomics(%a: memref<8xi32>, %b: memref<8xi32>, %g: memref<8xi32>, %m: memref<8xi1>) {
  // CHECK: hivm.hir.atomic_cas ins(%{{.*}}, %{{.*}} : memref<8xi32>, memref<8xi32>) outs(%{{.*}} : memref<8xi32>)
  hivm.hir.atomic_cas ins(%a, %b : memref<8xi32>, memref<8xi32>) outs(%g : memref<8xi32>)
  // CHECK: hivm.hir.atomic_xchg ins(%{{.*}} : memref<8xi32>) outs(%{{.*}} : memref<8xi32>)
  hivm.hir.atomic_xchg ins(%a : memref<8xi32>) outs(%g : memref<8xi32>)
  // CHECK: hivm.hir.atomic_xchg ins({{.*}}) outs({{.*}}) mask(%{{.*}} : memref<8xi1>)
  hivm.hir.atomic_xchg ins(%a : memref<8xi32>) outs(%g : memref<8xi32>) mask(%m : memref<8xi1>)
  return
}

// CHECK-LABEL: func.func @synchronisation(
func.func @synchronisation(%i: i64, %m: memref<1xi64>, %x: memref<?xi8>) {
  // CHECK: hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK: hivm.hir.wait_flag[<PIPE_MTE2>, <PIPE_V>, %{{.*}}]
  hivm.hir.wait_flag[#hivm.pipe<PIPE_MTE2>, <PIPE_V>, %i]
  // CHECK: hivm.hir.pipe_barrier[<PIPE_ALL>]
  hivm.hir.pipe_barrier[<PIPE_ALL>]
  // CHECK: hivm.hir.sync_block[<ALL_CUBE>, 3 : i64] tcube_pipe = <PIPE_FIX>
  hivm.hir.sync_block[<ALL_CUBE>, 3] tcube_pipe = <PIPE_FIX>
  // CHECK: hivm.hir.sync_block[<ALL>, 3 : i16] ffts_base_addr = %{{.*}} tcube_pipe = <PIPE_FIX> tvector_pipe = <PIPE_MTE3>
  hivm.hir.sync_block[<ALL>, 3 : i16] ffts_base_addr = %i tcube_pipe = <PIPE_FIX> tvector_pipe = <PIPE_MTE3>
  // CHECK: hivm.hir.sync_block[<BARRIER_CUBE>]
  hivm.hir.sync_block[<BARRIER_CUBE>]
  // CHECK: hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = 1 ffts_base_addr = %{{.*}} sync_instr_mode = <INTER_BLOCK_SYNCHRONIZATION>
  hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = 1 ffts_base_addr = %i sync_instr_mode = <INTER_BLOCK_SYNCHRONIZATION>
  // CHECK: hivm.hir.sync_block_set[<VECTOR>, <PIPE_MTE3>, <PIPE_MTE2>] flag = %{{.*}}
  hivm.hir.sync_block_set[<VECTOR>, <PIPE_MTE3>, <PIPE_MTE2>] flag = %i
  // CHECK: hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_MTE2>] flag = 3
  hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_MTE2>] flag = 3
  // CHECK: hivm.hir.create_sync_block_lock from %{{.*}} : from memref<?xi8> to memref<1xi64>
  %l = hivm.hir.create_sync_block_lock from %x : from memref<?xi8> to memref<1xi64>
  // CHECK: hivm.hir.create_sync_block_lock : memref<1xi64>
  %k = hivm.hir.create_sync_block_lock : memref<1xi64>
  // CHECK: hivm.hir.sync_block_lock lock_var(%{{.*}} : memref<1xi64>)
  hivm.hir.sync_block_lock lock_var(%l : memref<1xi64>)
  // CHECK: hivm.hir.sync_block_unlock lock_var(%{{.*}} : memref<1xi64>)
  hivm.hir.sync_block_unlock lock_var(%l : memref<1xi64>)
  return
}

// CHECK-LABEL: func.func @custom(
func.func @custom(%a: tensor<8xf32>, %s: memref<?xi32>, %c: i32) -> tensor<8xf32> {
  // CHECK: hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "barrier"} "dist.barrier"
  hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "barrier"} "dist.barrier"
  // CHECK: hivm.hir.custom {{.*}} "dist.wait" ins(%{{.*}}, %{{.*}} : memref<?xi32>, i32) -> i32
  %t = hivm.hir.custom {gm_addr_args_indices = array<i32: 0>, hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<CUBE_AND_VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMD>, symbol = "wait"} "dist.wait" ins(%s, %c : memref<?xi32>, i32) -> i32
  // CHECK: hivm.hir.custom {{.*}} "my" ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
  %r = hivm.hir.custom {extra_buffers_sizes = [64], extra_buffers_types = [f32], hivm.pipe = #hivm.pipe<PIPE_V>, hivm.tcore_type = #hivm.tcore_type<VECTOR>, hivm.vf_mode = #hivm.vf_mode<SIMT>, symbol = "my"} "my" ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: hivm.hir.custom "__builtin_gather_load" ins({{.*}}) outs({{.*}}) -> tensor<8xf32>
  %q = hivm.hir.custom "__builtin_gather_load" ins(%s : memref<?xi32>) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// CHECK-LABEL: func.func @rest(
func.func @rest(%a: i64, %b: i64, %n: index, %t: tensor<4xf32>, %l: memref<16x32xf16>) -> tensor<4xi32> {
  // CHECK: hivm.hir.get_block_idx -> i64
  %0 = hivm.hir.get_block_idx -> i64
  // CHECK: hivm.hir.get_block_num -> i64
  %1 = hivm.hir.get_block_num -> i64
  // CHECK: hivm.hir.get_sub_block_idx -> i64
  %2 = hivm.hir.get_sub_block_idx -> i64
  // CHECK: hivm.hir.get_sub_block_num -> i64
  %3 = hivm.hir.get_sub_block_num -> i64
  // CHECK: hivm.hir.pointer_cast(%{{.*}}) [%{{.*}}] : memref<?xf32>
  %4 = hivm.hir.pointer_cast(%a) [%n] : memref<?xf32>
  // CHECK: hivm.hir.pointer_cast(%{{.*}}, %{{.*}}) : memref<64xf32, #hivm.address_space<ub>>
  %5 = hivm.hir.pointer_cast(%a, %b) : memref<64xf32, #hivm.address_space<ub>>
  // CHECK: hivm.hir.convert_layout %{{.*}} output_shape [16, 32] {dstLayout = #hivm.data_layout<ND>, srcLayout = #hivm.data_layout<nZ>} : (memref<16x32xf16>) -> memref<16x32xf16>
  %6 = hivm.hir.convert_layout %l output_shape [16, 32] {dstLayout = #hivm.data_layout<ND>, srcLayout = #hivm.data_layout<nZ>} : (memref<16x32xf16>) -> memref<16x32xf16>
  // CHECK: hivm.hir.bitcast %{{.*}} : tensor<4xf32> -> tensor<4xi32>
  %7 = hivm.hir.bitcast %t : tensor<4xf32> -> tensor<4xi32>
  // CHECK: hivm.hir.debug {debugtype = "print", hex = false, prefix = " x: ", tcoretype = #hivm.tcore_type<VECTOR>} %{{.*}} : tensor<4xf32>
  hivm.hir.debug {debugtype = "print", hex = false, prefix = " x: ", tcoretype = #hivm.tcore_type<VECTOR>} %t : tensor<4xf32>
  return %7 : tensor<4xi32>
}
