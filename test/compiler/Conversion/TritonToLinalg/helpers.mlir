// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Helper calls: print, assert, gather, library functions.

// CHECK-LABEL: func.func @debug(
// CHECK:   call @triton_print(%{{.*}}, %{{.*}}) : (tensor<4xi32>, i64) -> ()
// CHECK:   call @triton_print_0() : () -> ()
// CHECK:   call @triton_assert(%{{.*}}) : (i1) -> ()
// CHECK-NOT: triton_assert_0
// CHECK:   func.func private @triton_print(tensor<4xi32>, i64) attributes {hex = true, is_signed = array<i32: 1, 0>, prefix = " v: "}
// CHECK:   func.func private @triton_print_0() attributes {hex = false, is_signed = array<i32>, prefix = "here"}
// CHECK:   func.func private @triton_assert(i1) attributes {msg = "n too large"}
tt.func public @debug(%x: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  tt.print " v: " {hex = true, isSigned = array<i32: 1, 0>} : %i, %x : tensor<4xi32>, !tt.ptr<f32>
  tt.print "here" {hex = false, isSigned = array<i32>}
  %c100 = arith.constant 100 : i32
  %c = arith.cmpi slt, %n, %c100 : i32
  tt.assert %c, "n too large" : i1
  tt.assert %c, "int32 overflow detected for operation mul" : i1
  tt.return
}

// -----

// CHECK-LABEL: func.func private @gather
// CHECK:   call @triton_gather(%{{.*}}, %{{.*}}, %c1_i32) : (tensor<4x64xf32>, tensor<4x32xi32>, i32) -> tensor<4x32xf32>
tt.func private @gather(%x: tensor<4x64xf32>, %i: tensor<4x32xi32>) -> tensor<4x32xf32> {
  %g = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x64xf32>, tensor<4x32xi32>) -> tensor<4x32xf32>
  tt.return %g : tensor<4x32xf32>
}

// -----

// Known functions are math ops, whatever the library's spelling; others are called per
// element, through one declaration whose name is unchanged.
// CHECK-LABEL: func.func private @libdevice
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[H:[a-z0-9]+]]: tensor<8xf16>, %[[S:[a-z0-9]+]]: f32
tt.func private @libdevice(%x: tensor<8xf32>, %h: tensor<8xf16>, %s: f32)
    -> (tensor<8xf32>, tensor<8xf16>, tensor<8xi1>, f32, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: math.tanh %[[X]] : tensor<8xf32>
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__hmf_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: math.log1p %[[H]] : tensor<8xf16>
  %b = tt.extern_elementwise %h {libname = "", libpath = "", pure = true, symbol = "__hmf_log1pDh"} : (tensor<8xf16>) -> tensor<8xf16>
  // CHECK: arith.cmpf uno, %[[X]], %[[X]] : tensor<8xf32>
  %c = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__hmf_isnan"} : (tensor<8xf32>) -> tensor<8xi1>
  // CHECK: math.exp %[[S]] : f32
  %d = tt.extern_elementwise %s {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_expf"} : (f32) -> f32
  // CHECK: %[[W:.*]] = linalg.fill ins(%[[S]] : f32)
  // CHECK: math.powf %[[X]], %[[W]] : tensor<8xf32>
  %e = tt.extern_elementwise %x, %s {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, f32) -> tensor<8xf32>
  // CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c1 iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<8xf32>) {
  // CHECK:   %[[V:.*]] = tensor.extract %[[X]][%[[I]]]
  // CHECK:   %[[R:.*]] = func.call @my_function(%[[V]], %[[S]]) : (f32, f32) -> f32
  // CHECK:   tensor.insert %[[R]] into %[[O]][%[[I]]]
  %f = tt.extern_elementwise %x, %s {libname = "", libpath = "", pure = false, symbol = "my_function"} : (tensor<8xf32>, f32) -> tensor<8xf32>
  tt.return %a, %b, %c, %d, %e, %f : tensor<8xf32>, tensor<8xf16>, tensor<8xi1>, f32, tensor<8xf32>, tensor<8xf32>
}
