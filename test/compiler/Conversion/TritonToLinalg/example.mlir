// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse | FileCheck %s
//
// The whole of a small kernel: signature, two masked loads, an addition, a masked store.

// CHECK-LABEL: func.func @vadd_mask_kernel(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xi8>, %{{[a-z0-9]+}}: memref<?xi8>,
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32},
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?xf32> {tt.tensor_kind = 1 : i32}, %[[N:[a-z0-9]+]]: i32,
// CHECK-SAME:    %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %[[PX:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32)
// CHECK-SAME:    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"}
tt.func public @vadd_mask_kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>,
                                 %n: i32) attributes {noinline = false} {
  %c1000 = arith.constant 1000 : i32
  %px = tt.get_program_id x : i32
  %base = arith.muli %px, %c1000 : i32
  %range = tt.make_range {end = 1000 : i32, start = 0 : i32} : tensor<1000xi32>
  %bases = tt.splat %base : i32 -> tensor<1000xi32>
  %lanes = arith.addi %bases, %range : tensor<1000xi32>
  %ns = tt.splat %n : i32 -> tensor<1000xi32>
  %mask = arith.cmpi slt, %lanes, %ns : tensor<1000xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1000x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %lanes : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
  // CHECK:     %[[SRC:.*]] = memref.reinterpret_cast %[[X]] to offset: [%{{.*}}], sizes: [1000], strides: [1] : memref<?xf32> to memref<1000xf32, strided<[1], offset: ?>>
  // CHECK:     %[[BUF:.*]] = memref.alloc() : memref<1000xf32>
  // CHECK:     scf.if %{{.*}} {
  // CHECK:       linalg.fill ins(%{{.*}} : f32) outs(%[[BUF]] : memref<1000xf32>)
  // CHECK:     } {hivm.unlikely_condition}
  // CHECK:     %[[S:.*]] = memref.subview %[[SRC]]
  // CHECK:     %[[D:.*]] = memref.subview %[[BUF]]
  // CHECK:     memref.copy %[[S]], %[[D]]
  // CHECK:     %[[T:.*]] = bufferization.to_tensor %[[BUF]] restrict writable : memref<1000xf32> to tensor<1000xf32>
  %a = tt.load %xp, %mask : tensor<1000x!tt.ptr<f32>>
  // CHECK:     %[[R:.*]] = arith.addf %[[T]], %[[T]] : tensor<1000xf32>
  %r = arith.addf %a, %a : tensor<1000xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1000x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %lanes : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
  // CHECK:     %[[DST:.*]] = memref.reinterpret_cast %[[Y]]
  // CHECK:     %[[RS:.*]] = tensor.extract_slice %[[R]]{{.*}} : tensor<1000xf32> to tensor<?xf32>
  // CHECK:     %[[DS:.*]] = memref.subview %[[DST]]
  // CHECK:     bufferization.materialize_in_destination %[[RS]] in writable %[[DS]]
  tt.store %yp, %r, %mask : tensor<1000x!tt.ptr<f32>>
  // CHECK:     return
  tt.return
}
