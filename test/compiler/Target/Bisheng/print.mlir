// RUN: piton-compile %s --from=ttadapter --emit=bisheng-mlir --target=Ascend910B3 | FileCheck %s --implicit-check-not='loc(unknown)'
// RUN: piton-compile %s --from=ttadapter --emit=bisheng-mlir --target=Ascend950 | FileCheck %s
// RUN: piton-compile %s --from=ttadapter --emit=bisheng-mlir -g=false | FileCheck %s --check-prefix=PLAIN
//
// What MLIR 22 and 19 spell differently: no target type behind to_tensor, to_memref, no flags on
// trunci and shifts, locations without ranges, and none that is unknown: LLVM's verifier behind the
// real compiler refuses calls without one in a function that has debug information.

// PLAIN-NOT: {{ loc[(]}}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%lock: memref<?xi8>, %ws: memref<?xi8>, %x: memref<?xi32> {tt.tensor_kind = 0 : i32},
    %y: memref<?xi16> {tt.tensor_kind = 1 : i32},
    %nx: i32, %ny: i32, %nz: i32, %px: i32, %py: i32, %pz: i32)
    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local",
                mix_mode = "aiv", parallel_mode = "simd"} {
  // CHECK-SAME: mix_mode = "aiv"
  %s = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<?xi32> to memref<64xi32, strided<[1]>>
  %b = memref.alloc() : memref<64xi32>
  memref.copy %s, %b : memref<64xi32, strided<[1]>> to memref<64xi32>
  // CHECK: bufferization.to_tensor %{{.*}} restrict writable : memref<64xi32>{{( loc.*)?$}}
  %t = bufferization.to_tensor %b restrict writable : memref<64xi32> to tensor<64xi32>
  // CHECK: arith.shrsi %{{[^ ]+}}, %{{[^ ]+}} : tensor<64xi32>
  %k = arith.constant dense<3> : tensor<64xi32>
  %h = arith.shrsi %t, %k exact : tensor<64xi32> loc(unknown)
  // CHECK: arith.trunci %{{[^ ]+}} : tensor<64xi32> to tensor<64xi16>
  %n = arith.trunci %h overflow<nsw> : tensor<64xi32> to tensor<64xi16> loc("k.py":7:3 to :9)
  // CHECK: bufferization.to_memref %{{[^ ]+}} : memref<64xi16>{{( loc.*)?$}}
  %m = bufferization.to_buffer %n : tensor<64xi16> to memref<64xi16>
  %d = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<?xi16> to memref<64xi16, strided<[1]>>
  memref.copy %m, %d : memref<64xi16> to memref<64xi16, strided<[1]>>
  return
}
// CHECK: loc("k.py":7:3)
