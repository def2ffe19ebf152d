// RUN: piton-opt %s --triton-to-linalg --mlir-print-debuginfo | FileCheck %s
//
// Every op carries the location of the Triton op it comes from.

#load = loc("kernel.py":3:4)
#store = loc("kernel.py":4:4)
// CHECK: memref.alloc() : memref<8xf32> loc(#[[LOAD:.*]])
// CHECK: memref.copy %{{.*}} loc(#[[LOAD]])
// CHECK: bufferization.to_tensor %{{.*}} loc(#[[LOAD]])
// CHECK: bufferization.materialize_in_destination %{{.*}} loc(#[[STORE:.*]])
// CHECK: #[[LOAD]] = loc("kernel.py":3:4)
// CHECK: #[[STORE]] = loc("kernel.py":4:4)
tt.func public @k(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %xp : tensor<8x!tt.ptr<f32>> loc(#load)
  tt.store %xp, %v : tensor<8x!tt.ptr<f32>> loc(#store)
  tt.return
}
