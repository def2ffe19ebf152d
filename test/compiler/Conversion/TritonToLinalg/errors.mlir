// RUN: piton-opt %s --triton-to-linalg --split-input-file --verify-diagnostics
//
// What cannot be lowered is an error at its line that says which pass should have seen to it.

tt.func public @block_pointer(%x: !tt.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i32
  %p = tt.make_tensor_ptr %x, [%n], [%n], [%c0] {order = array<i32: 0>} : <tensor<8xf32>>
  // expected-error @+1 {{accesses memory through a block pointer; run triton-to-structured first}}
  %v = tt.load %p : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func public @gather(%x: !tt.ptr<f32>, %i: tensor<8xi32>) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-error @+1 {{addresses no strided box: }}
  %v = tt.load %xp : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @mask(%x: !tt.ptr<f32>, %m: tensor<8xi1>, %v: tensor<8xf32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-error @+1 {{stores under a mask that is no box of lanes}}
  tt.store %xp, %v, %m : tensor<8x!tt.ptr<f32>>
  // expected-error @+1 {{updates under a mask that is no box of lanes}}
  %o = tt.atomic_rmw fadd, acq_rel, gpu, %xp, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func public @histogram(%x: tensor<8xi32>) -> tensor<16xi32> {
  // expected-error @+1 {{has no form below Triton IR; run triton-to-hfusion first}}
  %h = tt.histogram %x : tensor<8xi32> -> tensor<16xi32>
  tt.return %h : tensor<16xi32>
}

// -----

// expected-error @+1 {{has argument #0 of type '!tt.tensordesc<tensor<8xf32>>', which a kernel cannot take; pass the base pointer, the shape and the strides}}
tt.func public @descriptor(%x: !tt.tensordesc<tensor<8xf32>>) {
  tt.return
}

// -----

// expected-error @+1 {{has several blocks; its control flow must be lifted to scf first}}
tt.func public @blocks(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.return
}

// -----

tt.func public @carried(%x: !tt.ptr<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 1 : i32
  // expected-error @+1 {{carries a pointer}}
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x) -> (!tt.ptr<f32>) {
    %v = tt.load %q : !tt.ptr<f32>
    %r = tt.addptr %q, %c : !tt.ptr<f32>, i32
    scf.yield %r : !tt.ptr<f32>
  }
  tt.return
}

// -----

tt.func private @f(%x: tensor<8xf32>, %y: tensor<8xf64>) -> (tensor<8xf32>, tensor<8xf64>) {
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "mine"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{elsewhere it is called as}}
  %b = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "mine"} : (tensor<8xf64>) -> tensor<8xf64>
  tt.return %a, %b : tensor<8xf32>, tensor<8xf64>
}
