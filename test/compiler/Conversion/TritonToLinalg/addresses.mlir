// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Bases that are no argument: integers, casts, loaded pointers, selected pointers.

// CHECK-LABEL: @integer
// CHECK-SAME:    %[[A:[a-z0-9]+]]: i64, %[[Y:[a-z0-9]+]]: memref<?xi64>
// CHECK:   %[[P:.*]] = hivm.hir.pointer_cast(%[[A]]) [%c8] : memref<?xf32>
// CHECK:   annotation.mark %[[P]] {address_space = #hivm.address_space<gm>}
// CHECK:   memref.reinterpret_cast %[[P]] to offset: [0], sizes: [8], strides: [1]
// CHECK:   memref.extract_aligned_pointer_as_index %[[Y]]
tt.func public @integer(%a: i64, %y: !tt.ptr<i64>, %n: i32) {
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %pp : tensor<8x!tt.ptr<f32>>
  tt.store %pp, %v : tensor<8x!tt.ptr<f32>>
  // ptr_to_int counts bytes: 8 * n.
  // CHECK:   arith.muli %{{.*}}, %c8 : index
  %q = tt.addptr %y, %n : !tt.ptr<i64>, i32
  %qi = tt.ptr_to_int %q : !tt.ptr<i64> -> i64
  tt.store %y, %qi : !tt.ptr<i64>
  tt.return
}

// -----

// A cast of equal width keeps the memref, one of another width goes through the address, and
// bool and byte are the same in memory.
// CHECK-LABEL: @casts
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK:   %[[I:.*]] = arith.bitcast %[[X]] : memref<?xf32> to memref<?xi32>
// CHECK:   memref.reinterpret_cast %[[I]] to offset: [%{{.*}}], sizes: [1]
// CHECK:   hivm.hir.pointer_cast(%{{.*}}) [%c1] : memref<?xi16>
tt.func public @casts(%x: !tt.ptr<f32>, %b: !tt.ptr<i1>, %n: i32) {
  %x1 = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %xi = tt.bitcast %x1 : !tt.ptr<f32> -> !tt.ptr<i32>
  %v = tt.load %xi : !tt.ptr<i32>
  %xh = tt.bitcast %x1 : !tt.ptr<f32> -> !tt.ptr<i16>
  %h = arith.trunci %v : i32 to i16
  tt.store %xh, %h : !tt.ptr<i16>
  // CHECK-NOT: arith.bitcast
  %b8 = tt.bitcast %b : !tt.ptr<i1> -> !tt.ptr<i8>
  %c = arith.trunci %v : i32 to i8
  tt.store %b8, %c : !tt.ptr<i8>
  tt.return
}

// -----

// Pointers in memory are i64; a pointer chosen at run time is a number.
// CHECK-LABEL: @pointers
// CHECK-SAME:    %[[PP:[a-z0-9]+]]: memref<?xi64> {tt.tensor_kind = 2 : i32}
// CHECK:   %[[P:.*]] = memref.load %{{.*}} : memref<1xi64, strided<[1]>>
// CHECK:   hivm.hir.pointer_cast(%[[P]])
// CHECK:   %[[S:.*]] = arith.select %{{.*}} : i64
// CHECK:   hivm.hir.pointer_cast(%[[S]])
tt.func public @pointers(%pp: !tt.ptr<!tt.ptr<f32>>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1) {
  %p = tt.load %pp : !tt.ptr<!tt.ptr<f32>>
  %v = tt.load %p : !tt.ptr<f32>
  %s = arith.select %c, %x, %y : !tt.ptr<f32>
  tt.store %s, %v : !tt.ptr<f32>
  tt.store %pp, %x : !tt.ptr<!tt.ptr<f32>>
  tt.return
}

// -----

// A view cannot start at a negative constant: the address does.
// CHECK-LABEL: @before
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG:   %[[M20:.*]] = arith.constant -20 : i64
// CHECK-DAG:   %[[I:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:   %[[A:.*]] = arith.addi %{{.*}}, %[[M20]] : i64
// CHECK:   %[[P:.*]] = hivm.hir.pointer_cast(%[[A]]) [%c32] : memref<?xf32>
// CHECK:   memref.reinterpret_cast %[[P]] to offset: [0], sizes: [32], strides: [1]
// CHECK:   memref.subview %{{.*}}[5] [27] [1]
tt.func public @before(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c5 = arith.constant dense<5> : tensor<32xi32>
  %o = arith.subi %i, %c5 : tensor<32xi32>
  %z = arith.constant dense<0> : tensor<32xi32>
  %m = arith.cmpi sge, %o, %z : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %o : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %v = arith.sitofp %o : tensor<32xi32> to tensor<32xf32>
  tt.store %xp, %v, %m : tensor<32x!tt.ptr<f32>>
  tt.return
}
