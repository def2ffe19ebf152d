// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Ops of the Ascend language extension.

// The helper sorts the last dimension and no narrow integers.
// CHECK-LABEL: func.func private @sorts
// CHECK:   %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<8x4xi8>) {{.*}} permutation = [1, 0]
// CHECK:   %[[F:.*]] = arith.sitofp %[[T]] : tensor<4x8xi8> to tensor<4x8xf16>
// CHECK:   %[[S:.*]] = call @triton_sort(%[[F]], %c1_i64, %true) : (tensor<4x8xf16>, i64, i1) -> tensor<4x8xf16>
// CHECK:   %[[B:.*]] = arith.fptosi %[[S]] : tensor<4x8xf16> to tensor<4x8xi8>
// CHECK:   %[[U:.*]] = linalg.transpose ins(%[[B]]
// CHECK:   call @triton_flip(%[[U]], %c0_i64)
tt.func private @sorts(%x: tensor<8x4xi8>) -> tensor<8x4xi8> {
  %s = ascend.sort %x {dim = 0 : i64, descending = true} : tensor<8x4xi8>
  %f = ascend.flip %s {dim = 0 : i64} : tensor<8x4xi8>
  tt.return %f : tensor<8x4xi8>
}

// -----

// CHECK-LABEL: @select
// CHECK:   %[[B:.*]] = memref.alloc() : memref<8x32xf32>
// CHECK-NOT: linalg.fill
// CHECK:   scf.for %[[I:.*]] = %c0 to %c8 step %c1 {
// CHECK:     %[[S:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1, 32], strides: [64, 1]
// CHECK:     %[[D:.*]] = memref.subview %[[B]][%[[I]], 0] [1, 32] [1, 1]
// CHECK:     annotation.mark %[[D]] {hfusion.stride_align_dims = array<i32: 0>, hfusion.stride_align_value_in_byte = array<i32: 32>}
// CHECK:     memref.copy %[[S]], %[[D]]
// CHECK:   } {hivm.parallel_loop}
// CHECK:   bufferization.to_tensor %[[B]] restrict writable {index_select_simd}
tt.func public @select(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %i: tensor<8xi32>, %n: i64) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i64
  %g = ascend.index_select_simd %x[%i] shape[%n, %c64] offset[%c0, %c0] {dim = 0 : i32, read_shape = array<i32: -1, 32>} : (!tt.ptr<f32>, tensor<8xi32>, i64, i64, i32, i32) -> tensor<8x32xf32>
  %s = "tt.reduce"(%g) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x32xf32>) -> tensor<32xf32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %k : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %yp, %s : tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

// Indexed accesses become offsets and a mask; the pointer's own offset is added.
// CHECK-LABEL: @indexed
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {tt.tensor_kind = 2 : i32}
// CHECK-SAME:    parallel_mode = "mix_simd_simt"
// CHECK:   arith.cmpi sge
// CHECK:   %[[M:.*]] = arith.andi %{{.*}} : tensor<8xi1>
// CHECK:   %[[G:.*]] = call @triton_indirect_load(%[[X]], %{{.*}}, %[[M]], %{{.*}}) : (memref<?xf32>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
// CHECK:   call @triton_indirect_store(%[[X]], %{{.*}}, %[[G]], %[[M]]) : (memref<?xf32>, tensor<8xi64>, tensor<8xf32>, tensor<8xi1>) -> ()
tt.func public @indexed(%x: !tt.ptr<f32>, %i: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %x1 = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %g = ascend.gather_out_to_ub %x1[%i] bound %n strides[%c1] end[%n] start[%c0] {dim = 0 : i32} : (!tt.ptr<f32>, tensor<8xi32>, i32, i64, i32, i32) -> tensor<8xf32>
  ascend.scatter_ub_to_out %x1, %g[%i] bound %n strides[%c1] end[%n] start[%c0] {dim = 0 : i32} : !tt.ptr<f32>, tensor<8xf32>, tensor<8xi32>, i32, i64, i32, i32
  tt.return
}
