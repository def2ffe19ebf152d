// RUN: piton-opt %s -canonicalize | FileCheck %s
// Folders and canonicalisations: the table of docs/dialects/triton.md, row by row.

// CHECK-LABEL: tt.func @ranges(
// CHECK:         arith.constant dense<5> : tensor<1xi32>
// CHECK-NOT:     tt.make_range
tt.func @ranges() -> tensor<1xi32> {
  %0 = tt.make_range {start = 5 : i32, end = 6 : i32} : tensor<1xi32>
  tt.return %0 : tensor<1xi32>
}

// Zeroes keep their sign; other constants are not converted; the same type is no conversion.
// CHECK-LABEL: tt.func @conversions(
// CHECK-DAG:     arith.constant dense<-0.000000e+00> : tensor<8xf16>
// CHECK-DAG:     arith.constant 0.000000e+00 : bf16
// CHECK:         tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f16
// CHECK:         tt.return %{{.*}}, %{{.*}}, %{{.*}}, %arg0
tt.func @conversions(%x: tensor<8xf32>) -> (tensor<8xf16>, bf16, f16, tensor<8xf32>) {
  %nz = arith.constant dense<-0.0> : tensor<8xf32>
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = tt.fp_to_fp %nz, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  %1 = tt.fp_to_fp %z, rounding = rtne : f32 -> bf16
  %2 = tt.fp_to_fp %one, rounding = rtne : f32 -> f16
  %3 = tt.fp_to_fp %x : tensor<8xf32> -> tensor<8xf32>
  tt.return %0, %1, %2, %3 : tensor<8xf16>, bf16, f16, tensor<8xf32>
}

// CHECK-LABEL: tt.func @pointers(
// CHECK-SAME:    %[[P:[a-z0-9]*]]: !tt.ptr<f32>, %[[Q:[a-z0-9]*]]: tensor<8x!tt.ptr<f32>>, %[[B:[a-z0-9]*]]: !tt.ptr<tensor<8x8xf32>>
// CHECK-NEXT:    tt.return %[[P]], %[[Q]], %[[B]]
tt.func @pointers(%p: !tt.ptr<f32>, %q: tensor<8x!tt.ptr<f32>>, %b: !tt.ptr<tensor<8x8xf32>>) -> (!tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, !tt.ptr<tensor<8x8xf32>>) {
  %c0 = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<8xi64>
  %0 = tt.addptr %p, %c0 : !tt.ptr<f32>, i32
  %1 = tt.addptr %q, %z : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %2 = tt.advance %b, [%c0, %c0] : <tensor<8x8xf32>>
  tt.return %0, %1, %2 : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, !tt.ptr<tensor<8x8xf32>>
}

// CHECK-LABEL: tt.func @loads(
// CHECK-SAME:    %[[P:[a-z0-9]*]]: tensor<8x!tt.ptr<f32>>, %[[O:[a-z0-9]*]]: tensor<8xf32>
// CHECK:         %[[F:.*]] = arith.constant dense<false>
// CHECK:         %[[A:.*]] = tt.load %[[P]] : tensor<8x!tt.ptr<f32>>
// CHECK:         %[[V:.*]] = tt.load %[[P]], %[[F]], %[[O]] {isVolatile = true}
// CHECK:         %[[U:.*]] = tt.load %[[P]], %[[F]] : tensor<8x!tt.ptr<f32>>
// CHECK:         tt.return %[[A]], %[[O]], %[[V]], %[[U]]
tt.func @loads(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %t = arith.constant dense<true> : tensor<8xi1>
  %f = arith.constant dense<false> : tensor<8xi1>
  %0 = tt.load %p, %t, %o : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %f, %o : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %p, %f, %o {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %3 = tt.load %p, %f : tensor<8x!tt.ptr<f32>>
  tt.return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A scalar constant mask is left alone: the lowering decides.
// CHECK-LABEL: tt.func @stores(
// CHECK:         %[[T:.*]] = arith.constant true
// CHECK-NEXT:    tt.store %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT:    tt.store %{{.*}}, %{{.*}}, %[[T]] : !tt.ptr<f32>
// CHECK-NEXT:    tt.return
tt.func @stores(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %q: !tt.ptr<f32>, %w: f32) {
  %t = arith.constant dense<true> : tensor<8xi1>
  %f = arith.constant dense<false> : tensor<8xi1>
  %s = arith.constant true
  tt.store %p, %v, %t : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v, %f : tensor<8x!tt.ptr<f32>>
  tt.store %q, %w, %s : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @splats(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: f32
// CHECK-DAG:     %[[C:.*]] = arith.constant dense<3> : tensor<4x8xi32>
// CHECK-DAG:     %[[S:.*]] = tt.splat %[[X]] : f32 -> tensor<4x8xf32>
// CHECK:         tt.return %[[C]], %[[S]]
tt.func @splats(%x: f32) -> (tensor<4x8xi32>, tensor<4x8xf32>) {
  %c3 = arith.constant 3 : i32
  %0 = tt.splat %c3 : i32 -> tensor<8xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %2 = tt.broadcast %1 : tensor<1x8xi32> -> tensor<4x8xi32>
  %3 = tt.splat %x : f32 -> tensor<8xf32>
  %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %5 = tt.broadcast %4 : tensor<1x8xf32> -> tensor<4x8xf32>
  tt.return %2, %5 : tensor<4x8xi32>, tensor<4x8xf32>
}

// CHECK-LABEL: tt.func @broadcasts(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<8x1xf32>
// CHECK:         %[[E:.*]] = tt.expand_dims %[[X]] {axis = 2 : i32} : tensor<8x1xf32> -> tensor<8x1x1xf32>
// CHECK:         tt.broadcast %[[E]] : tensor<8x1x1xf32> -> tensor<8x4x2xf32>
tt.func @broadcasts(%x: tensor<8x1xf32>) -> (tensor<8x4x2xf32>, tensor<8x1xf32>) {
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>
  %1 = tt.expand_dims %0 {axis = 2 : i32} : tensor<8x4xf32> -> tensor<8x4x1xf32>
  %2 = tt.broadcast %1 : tensor<8x4x1xf32> -> tensor<8x4x2xf32>
  %3 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x1xf32>
  tt.return %2, %3 : tensor<8x4x2xf32>, tensor<8x1xf32>
}

// CHECK-LABEL: tt.func @reshapes(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<64xf32>
// CHECK-DAG:     %[[C:.*]] = arith.constant dense<{{\[}}[1, 2], [3, 4]{{\]}}> : tensor<2x2xi32>
// CHECK-DAG:     %[[A:.*]] = tt.reshape %[[X]] allow_reorder : tensor<64xf32> -> tensor<4x16xf32>
// CHECK-DAG:     %[[P:.*]] = tt.reshape %[[X]] efficient_layout : tensor<64xf32> -> tensor<8x8xf32>
// CHECK-DAG:     %[[Q:.*]] = tt.reshape %[[P]] : tensor<8x8xf32> -> tensor<4x16xf32>
// CHECK:         tt.return %[[A]], %[[Q]], %[[X]], %[[C]]
tt.func @reshapes(%x: tensor<64xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<64xf32>, tensor<2x2xi32>) {
  %0 = tt.reshape %x allow_reorder : tensor<64xf32> -> tensor<8x8xf32>
  %1 = tt.reshape %0 : tensor<8x8xf32> -> tensor<4x16xf32>
  %2 = tt.reshape %x efficient_layout : tensor<64xf32> -> tensor<8x8xf32>
  %3 = tt.reshape %2 : tensor<8x8xf32> -> tensor<4x16xf32>
  %4 = tt.reshape %x : tensor<64xf32> -> tensor<64xf32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %5 = tt.reshape %c : tensor<4xi32> -> tensor<2x2xi32>
  tt.return %1, %3, %4, %5 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<64xf32>, tensor<2x2xi32>
}

// CHECK-LABEL: tt.func @transposes(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<2x4x8xf32>
// CHECK-DAG:     %[[T:.*]] = tt.trans %[[X]] {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
// CHECK-DAG:     %[[C:.*]] = arith.constant dense<7> : tensor<4x2xi32>
// CHECK:         tt.return %[[T]], %[[X]], %[[C]]
tt.func @transposes(%x: tensor<2x4x8xf32>) -> (tensor<8x2x4xf32>, tensor<2x4x8xf32>, tensor<4x2xi32>) {
  %0 = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  %1 = tt.trans %0 {order = array<i32: 1, 2, 0>} : tensor<4x8x2xf32> -> tensor<8x2x4xf32>
  %2 = tt.trans %x {order = array<i32: 0, 1, 2>} : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
  %c = arith.constant dense<7> : tensor<2x4xi32>
  %3 = tt.trans %c {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
  tt.return %1, %2, %3 : tensor<8x2x4xf32>, tensor<2x4x8xf32>, tensor<4x2xi32>
}

// Calls and what has effects stay, used or not.
// CHECK-LABEL: tt.func @effects(
// CHECK-NEXT:    tt.call @ext()
// CHECK-NEXT:    tt.extern_elementwise {{.*}} pure = false
// CHECK-NEXT:    tt.load %{{.*}} {isVolatile = true}
// CHECK-NEXT:    tt.atomic_rmw
// CHECK-NEXT:    tt.return
tt.func private @ext()
tt.func @effects(%p: !tt.ptr<i32>, %v: i32) {
  tt.call @ext() : () -> ()
  %0 = tt.extern_elementwise %v {libname = "", libpath = "", pure = false, symbol = "f"} : (i32) -> i32
  %1 = tt.extern_elementwise %v {libname = "", libpath = "", pure = true, symbol = "f"} : (i32) -> i32
  %2 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %3 = tt.load %p : !tt.ptr<i32>
  %4 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
