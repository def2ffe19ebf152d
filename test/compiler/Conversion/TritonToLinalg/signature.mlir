// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
// RUN: piton-opt %s --triton-to-linalg=global-kernel=true --split-input-file | FileCheck %s --check-prefix=GLOBAL
//
// Signatures: argument order and attributes of kernels, helpers and declarations; calls pass
// the program arguments on; access kinds cross calls and stay off helpers.

// CHECK-LABEL: func.func private @helper(
// CHECK-SAME:    %[[HP:[a-z0-9]+]]: memref<?xf32>, %[[HN:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32,
// CHECK-SAME:    %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %[[HY:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32) -> i64 {
tt.func private @helper(%p: !tt.ptr<f32>, %n: i32) -> !tt.ptr<f32> attributes {noinline = true} {
  // CHECK: arith.sitofp %[[HY]] : i32 to f32
  %pid = tt.get_program_id y : i32
  %v = arith.sitofp %pid : i32 to f32
  tt.store %p, %v : !tt.ptr<f32>
  // The pointer that comes back is a number: base + 4 * n.
  // CHECK: memref.extract_aligned_pointer_as_index %[[HP]]
  // CHECK: %[[R:.*]] = arith.addi %{{.*}} : i64
  // CHECK: return %[[R]] : i64
  %r = tt.addptr %p, %n : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}

// CHECK: func.func private @ext(memref<?xi32>, i32) -> i32
tt.func private @ext(!tt.ptr<i32>, i32) -> i32 attributes {noinline = true}

// GLOBAL: global_kernel = ""
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xi8>, %{{[a-z0-9]+}}: memref<?xi8>,
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 2 : i32},
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xi8>, %[[S:[a-z0-9]+]]: memref<?xi32> {tt.tensor_kind = 2 : i32}, %[[N:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i1,
// CHECK-SAME:    %[[A0:[a-z0-9]+]]: i32, %[[A1:[a-z0-9]+]]: i32, %[[A2:[a-z0-9]+]]: i32, %[[A3:[a-z0-9]+]]: i32, %[[A4:[a-z0-9]+]]: i32, %[[A5:[a-z0-9]+]]: i32)
// CHECK-SAME:    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, auto_blockify_size = 4 : i32, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"}
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %unused: !tt.ptr<i1>, %s: !tt.ptr<i32>,
                       %n: i32, %flag: i1) attributes {noinline = false, auto_blockify_size = 4 : i32} {
  // CHECK: %[[P:.*]] = call @helper(%[[X]], %[[N]], %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]], %[[A5]])
  %r = tt.call @helper(%x, %n) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  // CHECK: hivm.hir.pointer_cast(%[[P]])
  %v = tt.load %r : !tt.ptr<f32>
  // CHECK: call @ext(%[[S]], %[[A2]]) {npu.kind = "wait"}
  %nz = tt.get_num_programs z : i32
  %t = tt.call @ext(%s, %nz) {npu.kind = "wait"} : (!tt.ptr<i32>, i32) -> i32
  tt.store %s, %t : !tt.ptr<i32>
  %w = tt.load %x : !tt.ptr<f32>
  %sum = arith.addf %v, %w : f32
  tt.store %x, %sum : !tt.ptr<f32>
  tt.return
}

// -----

// Two kernels in a module; kinds 0, 1 and 2; a dot makes the kernel "mix".
// CHECK-LABEL: func.func @first(
// CHECK-SAME:    memref<?xf16> {tt.tensor_kind = 0 : i32}
// CHECK-SAME:    memref<?xf32> {tt.tensor_kind = 1 : i32}
// CHECK-SAME:    mix_mode = "mix"
tt.func public @first(%a: !tt.ptr<f16>, %c: !tt.ptr<f32>) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tt.load %a : !tt.ptr<f16>
  %av = tt.splat %v : f16 -> tensor<16x16xf16>
  %d = tt.dot %av, %av, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = "tt.reduce"(%d) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %q: f32):
    %t = arith.addf %l, %q : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x16xf32>) -> tensor<16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %cp, %r : tensor<16x!tt.ptr<f32>>
  tt.return
}
// CHECK-LABEL: func.func @second(
// CHECK-SAME:    memref<?xi32> {tt.tensor_kind = 2 : i32}
tt.func @second(%a: !tt.ptr<i32>) {
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %o = tt.atomic_rmw add, acq_rel, gpu, %a, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
