// RUN: piton-opt %s -triton-licm | FileCheck %s

// The loop writes: the load may read what was written.
// CHECK-LABEL: tt.func @writes(
// CHECK:         scf.for
// CHECK:           tt.load
tt.func @writes(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %l = tt.load %p : !tt.ptr<f32>
    tt.store %q, %l : !tt.ptr<f32>
  }
  tt.return
}

// Volatile, and a call in the loop.
// CHECK-LABEL: tt.func @volatile(
// CHECK:         scf.for
// CHECK:           tt.load {{.*}} {isVolatile = true}
// CHECK:         scf.for
// CHECK:           tt.load
tt.func private @f(f32) attributes {noinline = true}
tt.func @volatile(%p: !tt.ptr<f32>, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) : i32 {
    %l = tt.load %p {isVolatile = true} : !tt.ptr<f32>
    %s = arith.addf %a, %l : f32
    scf.yield %s : f32
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %l = tt.load %p : !tt.ptr<f32>
    tt.call @f(%l) : (f32) -> ()
  }
  tt.return %r : f32
}

// tl.range(disable_licm=True).
#licm = #llvm.loop_licm<disable = true, versioningDisable = true>
#annotation = #llvm.loop_annotation<licm = #licm>
// CHECK-LABEL: tt.func @disabled(
// CHECK:         scf.for
// CHECK:           math.exp
tt.func @disabled(%x: f32, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) : i32 {
    %e = math.exp %x : f32
    %s = arith.addf %a, %e : f32
    scf.yield %s : f32
  } {llvm.loop_annotation = #annotation}
  tt.return %r : f32
}
