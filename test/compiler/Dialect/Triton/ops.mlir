// RUN: piton-opt %s > %t.once
// RUN: piton-opt %t.once | diff %t.once -
// RUN: piton-opt %s -mlir-print-op-generic | piton-opt | diff %t.once -
// RUN: FileCheck %s < %t.once
// Every op and type, as printed, read again from text and from generic form.

// CHECK-LABEL: tt.func public @functions(
// CHECK-SAME: %{{.*}}: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %{{.*}}: i32) -> (i32, i32) attributes {noinline = false} {
tt.func public @functions(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> (i32, i32) attributes {noinline = false} {
  // CHECK: tt.call @ext(%{{.*}}, %{{.*}}) {npu.kind = "wait"} : (!tt.ptr<f32>, i32) -> i32
  %w = tt.call @ext(%x, %n) {npu.kind = "wait"} : (!tt.ptr<f32>, i32) -> i32
  // CHECK: tt.call @"a.b__(1,)"() : () -> ()
  tt.call @"a.b__(1,)"() : () -> ()
  // CHECK: tt.return %{{.*}}, %{{.*}} : i32, i32
  tt.return %w, %n : i32, i32
}
// CHECK: tt.func private @ext(!tt.ptr<f32>, i32) -> i32 attributes {noinline = true}
tt.func private @ext(!tt.ptr<f32>, i32) -> i32 attributes {noinline = true}
// CHECK: tt.func nested @"a.b__(1,)"()
tt.func nested @"a.b__(1,)"()

// CHECK-LABEL: tt.func @types(
// CHECK-SAME: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32, 3>, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<!tt.ptr<i8>>, %{{.*}}: !tt.ptr<tensor<16x32xf16>>, %{{.*}}: tensor<8x!tt.ptr<f32>>
// CHECK-SAME: !tt.tensordesc<tensor<64xsi32>>, %{{.*}}: !tt.tensordesc<tensor<16x64xui8>>
tt.func @types(%a: !tt.ptr<f32>, %b: !tt.ptr<f32, 3>, %c: !tt.ptr<f32, 1>, %d: !tt.ptr<!tt.ptr<i8>>, %e: !tt.ptr<tensor<16x32xf16>>, %f: tensor<8x!tt.ptr<f32>>, %g: !tt.tensordesc<tensor<64xsi32>>, %h: !tt.tensordesc<tensor<16x64xui8>>) {
  tt.return
}

// CHECK-LABEL: tt.func @ranges_and_casts(
tt.func @ranges_and_casts(%a: i64, %p: !tt.ptr<f32>, %x: tensor<64xf32>, %h: tensor<64xf16>, %i: tensor<64xi32>) {
  // CHECK: tt.get_program_id x : i32
  %px = tt.get_program_id x : i32
  // CHECK: tt.get_num_programs y : i32
  %np = tt.get_num_programs y : i32
  // CHECK: tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %mr = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK: tt.make_range {end = -3 : i32, start = -10 : i32} : tensor<7xi32>
  %mn = tt.make_range {end = -3 : i32, start = -10 : i32} : tensor<7xi32>
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %ip = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  // CHECK: tt.ptr_to_int %{{.*}} : !tt.ptr<f32> -> i64
  %pi = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  // CHECK: tt.bitcast %{{.*}} : tensor<64xf32> -> tensor<64xi32>
  %bt = tt.bitcast %x : tensor<64xf32> -> tensor<64xi32>
  // CHECK: tt.bitcast %{{.*}} : !tt.ptr<f32> -> !tt.ptr<i8>
  %bp = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
  %ff = tt.fp_to_fp %x, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}} {tt.x}, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
  %fz = tt.fp_to_fp %x {tt.x}, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<64xf16> -> tensor<64xf32>
  %fw = tt.fp_to_fp %h : tensor<64xf16> -> tensor<64xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : tensor<64xf32>
  %cl = tt.clampf %x, %x, %x, propagateNan = none : tensor<64xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<64xf32>
  %ca = tt.clampf %x, %x, %x, propagateNan = all : tensor<64xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<64xf32>
  %sq = tt.precise_sqrt %x : tensor<64xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<64xf32>
  %dv = tt.precise_divf %x, %x : tensor<64xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<64xi32>
  %mh = tt.mulhiui %i, %i : tensor<64xi32>
  // CHECK: tt.extern_elementwise %{{.*}}, %{{.*}} {libname = "", libpath = "", pure = true, symbol = "my_ldexp"} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  %ex = tt.extern_elementwise %x, %i {libname = "", libpath = "", pure = true, symbol = "my_ldexp"} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  // CHECK: tt.extern_elementwise  {libname = "", libpath = "", pure = false, symbol = "now"} : () -> i64
  %e0 = tt.extern_elementwise {libname = "", libpath = "", pure = false, symbol = "now"} : () -> i64
  // CHECK: tt.elementwise_inline_asm "swz $0, $1, $2;" {constraints = "=r,=r,r", packed_element = 1 : i32, pure = false} %{{.*}} : tensor<64xf32> -> tensor<64xi32>, tensor<64xi32>
  %ia:2 = tt.elementwise_inline_asm "swz $0, $1, $2;" {constraints = "=r,=r,r", packed_element = 1 : i32, pure = false} %x : tensor<64xf32> -> tensor<64xi32>, tensor<64xi32>
  tt.return
}

// CHECK-LABEL: tt.func @memory(
tt.func @memory(%p: !tt.ptr<f32>, %m: i1, %v: f32, %ps: tensor<64x!tt.ptr<f32>>, %o: tensor<64xi32>, %ms: tensor<64xi1>, %zs: tensor<64xf32>, %bp: !tt.ptr<tensor<16x32xf16>>, %bv: tensor<16x32xf16>) {
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32>
  %s0 = tt.load %p : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<f32>
  %s1 = tt.load %p, %m, %v : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  %t0 = tt.load %ps, %ms, %zs evictionPolicy = evict_last cacheModifier = cg {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x32xf16>>
  %b0 = tt.load %bp evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x32xf16>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = wt evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
  tt.store %ps, %zs, %ms cacheModifier = wt evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<16x32xf16>>
  tt.store %bp, %bv {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<16x32xf16>>
  tt.return
}

// CHECK-LABEL: tt.func @blocks(
tt.func @blocks(%hp: !tt.ptr<f16>, %sz: i64, %off: i32, %base: !tt.ptr<bf16>, %i8: !tt.ptr<i8>, %j: i32) {
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<16x32xf16>>
  %bp0 = tt.make_tensor_ptr %hp, [%sz, %sz], [%sz, %sz], [%off, %off] {order = array<i32: 1, 0>} : <tensor<16x32xf16>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<16x32xf16>>
  %bp1 = tt.advance %bp0, [%off, %off] : <tensor<16x32xf16>>
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {padding = 2 : i32} : <bf16>, <tensor<16x64xbf16>>
  %d = tt.make_tensor_descriptor %base, [%off, %off], [%sz, %sz] {padding = 2 : i32} : <bf16>, <tensor<16x64xbf16>>
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}], [%{{.*}}] : <i8>, <tensor<64xui8>>
  %u = tt.make_tensor_descriptor %i8, [%off], [%sz] : !tt.ptr<i8>, !tt.tensordesc<tensor<64xui8>>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}] : !tt.tensordesc<tensor<64xui8>> -> tensor<64xi8>
  %ul = tt.descriptor_load %u[%j] : !tt.tensordesc<tensor<64xui8>> -> tensor<64xi8>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] cacheModifier = cg : !tt.tensordesc<tensor<16x64xbf16>> -> tensor<16x64xbf16>
  %tile = tt.descriptor_load %d[%j, %j] cacheModifier = cg : !tt.tensordesc<tensor<16x64xbf16>> -> tensor<16x64xbf16>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<16x64xbf16>>, tensor<16x64xbf16>
  tt.descriptor_store %d[%j, %j], %tile : !tt.tensordesc<tensor<16x64xbf16>>, tensor<16x64xbf16>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<16x64xbf16>>, tensor<16x64xbf16>
  tt.descriptor_reduce add, %d[%j, %j], %tile : !tt.tensordesc<tensor<16x64xbf16>>, tensor<16x64xbf16>
  tt.return
}

// CHECK-LABEL: tt.func @rows(
tt.func @rows(%r1: !tt.tensordesc<tensor<1x64xbf16>>, %x: tensor<32xi32>, %j: i32) {
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<tensor<1x64xbf16>>, tensor<32xi32>, i32) -> tensor<32x64xbf16>
  %rows = tt.descriptor_gather %r1[%x, %j] : (!tt.tensordesc<tensor<1x64xbf16>>, tensor<32xi32>, i32) -> tensor<32x64xbf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<1x64xbf16>>, tensor<32xi32>, i32, tensor<32x64xbf16>
  tt.descriptor_scatter %r1[%x, %j], %rows : !tt.tensordesc<tensor<1x64xbf16>>, tensor<32xi32>, i32, tensor<32x64xbf16>
  tt.return
}

// CHECK-LABEL: tt.func @atomics(
tt.func @atomics(%ps: tensor<64x!tt.ptr<f32>>, %vs: tensor<64xf32>, %ms: tensor<64xi1>, %lock: !tt.ptr<i32>, %c: i32) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %ps, %vs, %ms : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  // CHECK: tt.atomic_rmw exch, release, sys, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %o2 = tt.atomic_rmw exch, release, sys, %lock, %c : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_rmw umax, relaxed, cta, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %o3 = tt.atomic_rmw umax, relaxed, cta, %lock, %c : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_cas acquire, sys, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %got = tt.atomic_cas acquire, sys, %lock, %c, %c : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// CHECK-LABEL: tt.func @shapes(
tt.func @shapes(%f: f32, %u: tensor<1xf32>, %x: tensor<64xf32>, %y: tensor<8x1xi32>, %t: tensor<4x8x2xf16>, %i: tensor<64xi32>, %m: tensor<64xi1>, %jt: tensor<64x2xf32>) {
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<8x16xf32>
  %sp = tt.splat %f : f32 -> tensor<8x16xf32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<f32>
  %s0 = tt.splat %f : f32 -> tensor<f32>
  // CHECK: tt.unsplat %{{.*}} : tensor<1xf32>
  %us = tt.unsplat %u : tensor<1xf32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %ed = tt.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: tt.broadcast %{{.*}} : tensor<8x1xi32> -> tensor<8x32xi32>
  %bc = tt.broadcast %y : tensor<8x1xi32> -> tensor<8x32xi32>
  // CHECK: tt.reshape %{{.*}} : tensor<64xf32> -> tensor<8x8xf32>
  %r0 = tt.reshape %x : tensor<64xf32> -> tensor<8x8xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<64xf32> -> tensor<8x8xf32>
  %rs = tt.reshape %x allow_reorder efficient_layout : tensor<64xf32> -> tensor<8x8xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 2, 0, 1>} : tensor<4x8x2xf16> -> tensor<2x4x8xf16>
  %tr = tt.trans %t {order = array<i32: 2, 0, 1>} : tensor<4x8x2xf16> -> tensor<2x4x8xf16>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<64xf32> -> tensor<64x2xf32>
  %jn = tt.join %x, %x : tensor<64xf32> -> tensor<64x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<64x2xf32> -> tensor<64xf32>
  %lo, %hi = tt.split %jt : tensor<64x2xf32> -> tensor<64xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<64xf32> -> tensor<128xf32>
  %ct = tt.cat %x, %x : tensor<64xf32> -> tensor<128xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  %ga = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  // CHECK: tt.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %h0 = tt.histogram %i : tensor<64xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %hs = tt.histogram %i, %m : tensor<64xi32> -> tensor<16xi32>
  tt.return
}

// Tiles need no power of two here.
// CHECK-LABEL: tt.func @odd_tiles(
tt.func @odd_tiles(%x: tensor<3x781xf32>) -> tensor<2343xf32> {
  // CHECK: tt.reshape %{{.*}} : tensor<3x781xf32> -> tensor<2343xf32>
  %r = tt.reshape %x : tensor<3x781xf32> -> tensor<2343xf32>
  tt.return %r : tensor<2343xf32>
}

// CHECK-LABEL: tt.func @dots(
tt.func @dots(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %qa: tensor<16x32xi8>, %sa: tensor<16x2xi8>, %fb: tensor<64x16xbf16>, %ba: tensor<2x16x32xi8>, %bb: tensor<2x32x16xi8>, %bc: tensor<2x16x16xi32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %d0 = tt.dot %a, %b, %c, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %d1 = tt.dot %a, %b, %d0, inputPrecision = ieee : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}} : tensor<2x16x32xi8> * tensor<2x32x16xi8> -> tensor<2x16x16xi32>
  %d2 = tt.dot %ba, %bb, %bc : tensor<2x16x32xi8> * tensor<2x32x16xi8> -> tensor<2x16x16xi32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}}, %{{.*}} lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  %d3 = tt.dot_scaled %qa scale %sa, %fb, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @regions(
tt.func @regions(%x: tensor<8x4xf32>, %k: tensor<8x4xi32>, %v: tensor<8xf32>) {
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 1 : i32}> ({
  // CHECK:   tt.reduce.return %{{.*}} : f32
  // CHECK: }) : (tensor<8x4xf32>) -> tensor<8xf32>
  %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x4xf32>) -> tensor<8xf32>
  // The old spelling of attributes is read as well; rank 1 gives a scalar.
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}> ({
  // CHECK: }) : (tensor<8xf32>) -> f32
  %s1 = "tt.reduce"(%v) ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.maxnumf %l, %r : f32
    tt.reduce.return %t : f32
  }) {axis = 0 : i32} : (tensor<8xf32>) -> f32
  // CHECK: :2 = "tt.reduce"(%{{.*}}, %{{.*}}) <{axis = 0 : i32}> ({
  // CHECK:   tt.reduce.return %{{.*}}, %{{.*}} : f32, i32
  %best:2 = "tt.reduce"(%x, %k) <{axis = 0 : i32}> ({
  ^bb0(%lv: f32, %lk: i32, %rv: f32, %rk: i32):
    tt.reduce.return %lv, %rk : f32, i32
  }) : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 1 : i32, reverse = false}> ({
  // CHECK:   tt.scan.return %{{.*}} : f32
  %pre = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.scan.return %t : f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: "tt.map_elementwise"(%{{.*}}, %{{.*}}) <{pack = 2 : i32}> ({
  // CHECK:   tt.map_elementwise.return %{{.*}}, %{{.*}} : f32, f32
  %mp = "tt.map_elementwise"(%x, %x) <{pack = 2 : i32}> ({
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    tt.map_elementwise.return %b0, %a1 : f32, f32
  }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  tt.return
}

// CHECK-LABEL: tt.func @debug(
tt.func @debug(%x: tensor<64xf32>, %m: tensor<64xi1>, %n: i32, %c: i1) {
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %{{.*}}, %{{.*}} : tensor<64xf32>, i32
  tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %x, %n : tensor<64xf32>, i32
  // CHECK: tt.print "alone" {hex = false, isSigned = array<i32>}
  tt.print "alone" {hex = false, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "bad index" : tensor<64xi1>
  tt.assert %m, "bad index" : tensor<64xi1>
  // CHECK: tt.assert %{{.*}}, "scalar" : i1
  tt.assert %c, "scalar" : i1
  tt.return
}

// Attributes with any prefix, or none, stay on foreign ops.
// CHECK-LABEL: tt.func @attributes(
tt.func @attributes(%x: i32) -> i32 {
  // CHECK: arith.addi %{{.*}}, %{{.*}} {foo, tt.contiguity = dense<4> : tensor<1xi32>, tt.unknown = 1 : i32} : i32
  %y = arith.addi %x, %x {foo, tt.contiguity = dense<4> : tensor<1xi32>, tt.unknown = 1 : i32} : i32
  tt.return %y : i32
}
