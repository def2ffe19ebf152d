// RUN: piton-opt %s | piton-opt | FileCheck %s
// Every op in its textual form; the templates are those of AscendNPU IR.

// CHECK-LABEL: func.func @named(
func.func @named(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<8xi32>, %c: tensor<8xi1>, %m: memref<8xf32>, %n: memref<8xf32>) -> tensor<8xi32> {
  // CHECK: hfusion.elemwise_unary {fun = #hfusion.unary_fn<rsqrt>} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
  %0 = hfusion.elemwise_unary {fun = #hfusion.unary_fn<rsqrt>} ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: hfusion.elemwise_binary {fun = #hfusion.binary_fn<mod>} ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
  %1 = hfusion.elemwise_binary {fun = #hfusion.binary_fn<mod>} ins(%a, %0 : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: hfusion.elemwise_ternary ins
  %2 = hfusion.elemwise_ternary {fun = #hfusion.ternary_fn<fma>} ins(%a, %b, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: hfusion.compare {compare_fn = #hfusion.compare_fn<vlt>} ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<8xi1>) -> tensor<8xi1>
  %3 = hfusion.compare {compare_fn = #hfusion.compare_fn<vlt>} ins(%a, %2 : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<8xi1>) -> tensor<8xi1>
  // CHECK: hfusion.select ins
  %4 = hfusion.select ins(%3, %a, %b : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: hfusion.cast {round_mode = #hfusion.round_mode<trunc>} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
  %5 = hfusion.cast {round_mode = #hfusion.round_mode<trunc>} ins(%4 : tensor<8xf32>) outs(%i : tensor<8xi32>) -> tensor<8xi32>
  // CHECK: hfusion.bitcast ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
  %6 = hfusion.bitcast ins(%a : tensor<8xf32>) outs(%5 : tensor<8xi32>) -> tensor<8xi32>
  // CHECK: hfusion.load ins(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
  hfusion.load ins(%m : memref<8xf32>) outs(%n : memref<8xf32>)
  // CHECK: hfusion.store {atomic_kind = #hfusion.atomic_kind<umax>} ins(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
  hfusion.store {atomic_kind = #hfusion.atomic_kind<umax>} ins(%m : memref<8xf32>) outs(%n : memref<8xf32>)
  return %6 : tensor<8xi32>
}

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%x: tensor<4x8xf32>, %v: tensor<4xf32>, %i: tensor<4xi32>, %r: tensor<8xi32>, %o: index, %m: tensor<8xi1>) {
  // CHECK: hfusion.reduce_with_index <max> ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>) dimensions = [1] -> tensor<4xf32>, tensor<4xi32>
  %0, %1 = hfusion.reduce_with_index {tie_break_left = true, unsigned_src = false} <max> ins(%x : tensor<4x8xf32>) outs(%v, %i : tensor<4xf32>, tensor<4xi32>) dimensions = [1] -> tensor<4xf32>, tensor<4xi32>
  // CHECK: hfusion.arange offset[%{{.*}}] strides[%{{.*}}] outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
  %2 = hfusion.arange offset[%o] strides[%o] outs(%r : tensor<8xi32>) -> tensor<8xi32>
  // CHECK: hfusion.cumsum %{{.*}} : tensor<4x8xf32> cum_dims = [0] reverse = false -> tensor<4x8xf32>
  %3 = hfusion.cumsum %x : tensor<4x8xf32> cum_dims = [0] reverse = false -> tensor<4x8xf32>
  // CHECK: hfusion.cumprod %{{.*}} : tensor<4x8xf32> cum_dims = [1] reverse = true -> tensor<4x8xf32>
  %4 = hfusion.cumprod %x : tensor<4x8xf32> cum_dims = [1] reverse = true -> tensor<4x8xf32>
  // CHECK: hfusion.histogram %{{.*}}, 16 : tensor<8xi32> -> tensor<16xi32>
  %5 = hfusion.histogram %r, 16 : tensor<8xi32> -> tensor<16xi32>
  // CHECK: hfusion.histogram %{{.*}}, 16, %{{.*}} : tensor<8xi32>, tensor<8xi1> -> tensor<16xi32>
  %6 = hfusion.histogram %r, 16, %m : tensor<8xi32>, tensor<8xi1> -> tensor<16xi32>
  return
}

// CHECK-LABEL: func.func @reorderings(
func.func @reorderings(%x: tensor<8xf32>, %i: tensor<8xi32>, %w: tensor<16xf32>) {
  // CHECK: hfusion.gather ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xi32>) outs(%{{.*}} : tensor<8xf32>) axis = 0 -> tensor<8xf32>
  %0 = hfusion.gather ins(%x, %i : tensor<8xf32>, tensor<8xi32>) outs(%x : tensor<8xf32>) axis = 0 -> tensor<8xf32>
  // CHECK: hfusion.sort ins(%{{.*}} : tensor<8xf32>) descending = false sort_axis = 0 -> tensor<8xf32>
  %1 = hfusion.sort ins(%x : tensor<8xf32>) descending = false sort_axis = 0 -> tensor<8xf32>
  // CHECK: hfusion.sort ins(%{{.*}} : tensor<8xf32>) descending = true sort_axis = 0 -> tensor<8xf32>, tensor<8xi32>
  %2, %3 = hfusion.sort ins(%x : tensor<8xf32>) descending = true sort_axis = 0 -> tensor<8xf32>, tensor<8xi32>
  // CHECK: hfusion.flip %{{.*}} : tensor<8xf32> flip_axis = 0 -> tensor<8xf32>
  %4 = hfusion.flip %x : tensor<8xf32> flip_axis = 0 -> tensor<8xf32>
  // CHECK: hfusion.interleave %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  %5 = hfusion.interleave %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  // CHECK: hfusion.deinterleave %{{.*}} channel<0> : tensor<16xf32> -> tensor<8xf32>
  %6 = hfusion.deinterleave %w channel<0> : tensor<16xf32> -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @tests(
func.func @tests(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // CHECK: hfusion.isnan %{{.*}} : tensor<8xf32> -> tensor<8xi1>
  %0 = hfusion.isnan %x : tensor<8xf32> -> tensor<8xi1>
  // CHECK: hfusion.isinf %{{.*}} : tensor<8xf32> -> tensor<8xi1>
  %1 = hfusion.isinf %x : tensor<8xf32> -> tensor<8xi1>
  // CHECK: hfusion.isfinite %{{.*}} : tensor<8xf32> -> tensor<8xi1>
  %2 = hfusion.isfinite %x : tensor<8xf32> -> tensor<8xi1>
  // CHECK: hfusion.mulext %{{.*}}, %{{.*}} : tensor<8xi32>
  %3, %4 = hfusion.mulext %i, %i : tensor<8xi32>
  // CHECK: hfusion.mulextui %{{.*}}, %{{.*}} : tensor<8xi32>
  %5, %6 = hfusion.mulextui %i, %i : tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @memory(
func.func @memory(%a: memref<8xi32>, %b: memref<8xi32>, %g: memref<8xi32>, %m: memref<8xi1>, %x: tensor<8xf32>, %c: tensor<8xi1>) {
  // CHECK: hfusion.atomic_cas ins(%{{.*}}, %{{.*}} : memref<8xi32>, memref<8xi32>) outs(%{{.*}} : memref<8xi32>)
  hfusion.atomic_cas ins(%a, %b : memref<8xi32>, memref<8xi32>) outs(%g : memref<8xi32>)
  // CHECK: hfusion.atomic_xchg ins(%{{.*}} : memref<8xi32>) outs(%{{.*}} : memref<8xi32>)
  hfusion.atomic_xchg ins(%a : memref<8xi32>) outs(%g : memref<8xi32>)
  // CHECK: hfusion.atomic_xchg ins({{.*}}) outs({{.*}}) mask(%{{.*}} : memref<8xi1>)
  hfusion.atomic_xchg ins(%a : memref<8xi32>) outs(%g : memref<8xi32>) mask(%m : memref<8xi1>)
  // CHECK: hfusion.atomic_rmw ins(%{{.*}} : memref<8xi32>) outs(%{{.*}} : memref<8xi32>) atomic_kind = <umax>
  hfusion.atomic_rmw ins(%a : memref<8xi32>) outs(%g : memref<8xi32>) atomic_kind = <umax>
  // CHECK: hfusion.print " x: " {hex = false} %{{.*}} : tensor<8xf32>
  hfusion.print " x: " {hex = false} %x : tensor<8xf32>
  // CHECK: hfusion.assert "bad" %{{.*}} : tensor<8xi1>
  hfusion.assert "bad" %c : tensor<8xi1>
  // CHECK: hfusion.barrier
  hfusion.barrier
  return
}

// CHECK-LABEL: func.func @mx(
func.func @mx(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>, %sa: tensor<16x2xi8>, %sb: tensor<16x2xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: hfusion.matmul_mx ins(
  %0 = hfusion.matmul_mx ins(%a, %b, %sa, %sb : tensor<16x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>, tensor<16x2xi8>, tensor<16x2xi8>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
