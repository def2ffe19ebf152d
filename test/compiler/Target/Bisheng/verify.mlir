// RUN: piton-opt %s --verify-for-bisheng -split-input-file -verify-diagnostics
//
// One case for each form that the compiler refuses, crashes on or compiles to something else.

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{an unsigned shift is compiled as an arithmetic one; use shrsi and a mask}}
  %r = arith.shrui %x, %x : tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{it is compiled as the signed one}}
  %r = arith.maxui %x, %x : tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi16>) -> tensor<4xi16> {
  // expected-error @below {{no unsigned division}}
  %r = arith.divui %x, %x : tensor<4xi16>
  return %r : tensor<4xi16>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{i32 is divided as f32, inexact beyond 2^24}}
  %r = arith.divsi %x, %x : tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{its low half comes out as the high half}}
  %r, %h = arith.mulsi_extended %x, %x : tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{a constant of several values crashes it}}
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %c : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi1> {
  // expected-error @below {{it refuses unsigned compares}}
  %r = arith.cmpi ult, %x, %x : tensor<4xi32>
  return %r : tensor<4xi1>
}
// -----
func.func @f(%x: tensor<4xi16>) -> tensor<4xi1> {
  // expected-error @below {{negated in place, wrongly}}
  %r = arith.cmpi ne, %x, %x : tensor<4xi16>
  return %r : tensor<4xi1>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{it loses what this relation says about NaN, or crashes}}
  %r = arith.cmpf ugt, %x, %x : tensor<4xf32>
  return %r : tensor<4xi1>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{it loses what this relation says about NaN, or crashes}}
  %r = arith.cmpf ord, %x, %x : tensor<4xf32>
  return %r : tensor<4xi1>
}
// -----
func.func @f(%x: tensor<4xi16>) -> tensor<4xi32> {
  // expected-error @below {{it extends the sign instead}}
  %r = arith.extui %x : tensor<4xi16> to tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi1>) -> tensor<4xi32> {
  // expected-error @below {{it takes true as 1 instead of -1}}
  %r = arith.extsi %x : tensor<4xi1> to tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xi1> {
  // expected-error @below {{it tests for zero instead of taking the low bit}}
  %r = arith.trunci %x : tensor<4xi32> to tensor<4xi1>
  return %r : tensor<4xi1>
}
// -----
func.func @f(%x: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{it has no conversion from unsigned}}
  %r = arith.uitofp %x : tensor<4xi32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @below {{it has no conversion to unsigned}}
  %r = arith.fptoui %x : tensor<4xf32> to tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xf16>) -> tensor<4xi8> {
  // expected-error @below {{f16 has no right direct conversion to it}}
  %r = arith.fptosi %x : tensor<4xf16> to tensor<4xi8>
  return %r : tensor<4xi8>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{it rounds to nearest even whatever the mode says}}
  %r = arith.truncf %x toward_zero : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{it does not know this op}}
  %r = math.sinh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{it refuses arithmetic on tensors of dynamic shape}}
  %r = math.exp %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
// -----
// expected-error @below {{the NPU has no vector arithmetic or loads of fp64; use fp32}}
func.func @f(%x: memref<?xf64>) {
  return
}
// -----
// expected-error @below {{A2 and A3 have no fp8}}
func.func @f(%x: memref<?xf8E5M2>) {
  return
}
// -----
// expected-error @below {{a buffer of i1 crashes it; carry truth values in memory as i8}}
func.func @f(%x: memref<?xi1>) {
  return
}
// -----
func.func @f(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{it drops the start value}}
  %r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{of a longer body it compiles only the last op}}
  %r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %b : f32
      linalg.yield %s : f32
    }
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<4x8xi32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{an unsigned maximum or minimum crashes it}}
  %r = linalg.reduce ins(%x : tensor<4x8xi32>) outs(%i : tensor<4xi32>) dimensions = [1]
    (%a: i32, %b: i32) {
      %s = arith.maxui %a, %b : i32
      linalg.yield %s : i32
    }
  return %r : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @below {{it takes reductions of one tensor, argmax and argmin only}}
  %r:2 = linalg.reduce ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%i, %i : tensor<f32>, tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32, %c: f32, %d: f32) {
      %s = arith.addf %a, %c : f32
      %t = arith.mulf %b, %d : f32
      linalg.yield %s, %t : f32, f32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
// -----
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{it refuses linalg.generic}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %a : f32
      %s = arith.addf %m, %a : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
#id = affine_map<(d0) -> (d0)>
func.func @f(%m: memref<4xi32>, %x: memref<4xi32>) {
  // expected-error @below {{an atomic update must have a form of its own}}
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%m, %x : memref<4xi32>, memref<4xi32>) outs(%m : memref<4xi32>) attrs = {GenericAtomicRMW = "umax"} {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.maxui %a, %b : i32
      linalg.yield %s : i32
  }
  return
}
// -----
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<4x4xf16>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{its indexing maps are lost; transpose with linalg.transpose}}
  %r = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// -----
func.func @f(%a: tensor<4x4xi16>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // expected-error @below {{the cube unit multiplies f16, bf16 and f32 into f32 and i8 into i32, not 'i16' into 'i32'}}
  %r = linalg.matmul ins(%a, %a : tensor<4x4xi16>, tensor<4x4xi16>) outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %r : tensor<4x4xi32>
}
// -----
func.func private @g(f32) -> f32
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot read linalg.map}}
  %r = linalg.map ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
    (%a: f32, %o: f32) {
      %s = func.call @g(%a) : (f32) -> f32
      linalg.yield %s : f32
    }
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<4xi32>, %m: memref<4xi32>) {
  // expected-error @below {{an unsigned atomic of this width is refused or compiled as signed}}
  hivm.hir.store ins(%x : tensor<4xi32>) outs(%m : memref<4xi32>) atomic = <umax>
  return
}
// -----
func.func @f(%n: i32) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{MLIR 19 has no unsigned loops}}
  scf.for unsigned %i = %c1 to %n step %c1 : i32 {
  }
  return
}
// -----
func.func @f(%x: tensor<4xi1>, %i: index) -> i1 {
  // expected-error @below {{it takes the number of an i1 for its byte; go through i8}}
  %r = tensor.extract %x[%i] : tensor<4xi1>
  return %r : i1
}
// -----
func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%ninf : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{it skips NaN}}
  %r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.maximumf %a, %b : f32
      linalg.yield %s : f32
    }
  return %r : tensor<4xf32>
}
// -----
func.func private @triton_cummax(tensor<4xf32>, i32, i1) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>, %d: i32, %r: i1) -> tensor<4xf32> {
  // expected-error @below {{it knows no function 'triton_cummax'}}
  %s = func.call @triton_cummax(%x, %d, %r) : (tensor<4xf32>, i32, i1) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
// -----
func.func private @triton_sort(tensor<4xi32>, i64, i1) -> tensor<4xi32>
func.func @f(%x: tensor<4xi32>, %d: i64, %r: i1) -> tensor<4xi32> {
  // expected-error @below {{A2 and A3 sort f16, bf16 and f32; convert the values}}
  %s = func.call @triton_sort(%x, %d, %r) : (tensor<4xi32>, i64, i1) -> tensor<4xi32>
  return %s : tensor<4xi32>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a cube scope that returns a tensor crashes it}}
  %r = scope.scope : () -> tensor<4xf32> {
    scope.return %x : tensor<4xf32>
  } {hivm.tcore_type = #hivm.tcore_type<CUBE>}
  return %r : tensor<4xf32>
}
// -----
func.func @f(%x: memref<64xf32>, %lo: index, %n: index) -> tensor<64xf32> {
  %zero = arith.constant 5.0 : f32
  %buf = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%buf : memref<64xf32>)
  %s = memref.subview %x[%lo] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1], offset: ?>>
  %d = memref.subview %buf[%lo] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1], offset: ?>>
  // expected-error @below {{padding in front of loaded data races with the load; load without `other` and use tl.where}}
  memref.copy %s, %d : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
  return %t : tensor<64xf32>
}
// -----
func.func @f(%x: memref<8x4xf32, strided<[1, 8]>>) -> tensor<8x4xf32> {
  %buf = memref.alloc() : memref<8x4xf32>
  // expected-error @below {{rows of elements that lie apart must be multiples of 32 bytes}}
  memref.copy %x, %buf : memref<8x4xf32, strided<[1, 8]>> to memref<8x4xf32>
  %t = bufferization.to_tensor %buf restrict writable : memref<8x4xf32> to tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}
// -----
func.func @f(%c: index) {
  // expected-error @below {{it does not know this op}}
  scf.index_switch %c
  case 0 {
    scf.yield
  }
  default {
  }
  return
}
