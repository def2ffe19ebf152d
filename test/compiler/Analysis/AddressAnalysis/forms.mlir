// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is structured: the producers of addresses, one at a time, and what is not.
// RUN: piton-opt %s -test-address-analysis -verify-diagnostics -o /dev/null

tt.func public @forms(%a: !tt.ptr<f32>, %n: i32, %x: tensor<8xi32>) {
  %i = tt.make_range {end = 11 : i32, start = 3 : i32} : tensor<8xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %as, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{address: offset [3] strides [1]}}
  // expected-remark @below {{full}}
  %0 = tt.load %p : tensor<8x!tt.ptr<f32>>
  // A chain, with a table of constants that is affine.
  %t = arith.constant dense<[9, 6, 3, 0, -3, -6, -9, -12]> : tensor<8xi32>
  %q = tt.addptr %p, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{address: offset [12] strides [-2]}}
  // expected-remark @below {{full}}
  %1 = tt.load %q : tensor<8x!tt.ptr<f32>>
  // Casts of pointers: distances change with the size of the element.
  %b = tt.bitcast %p : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i8>>
  // expected-remark @below {{address: offset [12] strides [4]}}
  // expected-remark @below {{full}}
  %2 = tt.load %b : tensor<8x!tt.ptr<i8>>
  %w = tt.bitcast %p : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i64>>
  // expected-remark @below {{not structured, the pointers are no common base plus offsets}}
  // expected-remark @below {{full}}
  %3 = tt.load %w : tensor<8x!tt.ptr<i64>>
  // Integers and back.
  %d = tt.ptr_to_int %p : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  %c8 = arith.constant dense<8> : tensor<8xi64>
  %d8 = arith.addi %d, %c8 : tensor<8xi64>
  %r = tt.int_to_ptr %d8 : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  // expected-remark @below {{address: offset [0] strides [1]}}
  // expected-remark @below {{full}}
  %4 = tt.load %r : tensor<8x!tt.ptr<f32>>
  // Narrow integers must be shown not to wrap.
  %i8 = arith.trunci %i : tensor<8xi32> to tensor<8xi8>
  %c100 = arith.constant dense<100> : tensor<8xi8>
  %ok = arith.addi %i8, %c100 : tensor<8xi8>
  %p8 = tt.addptr %as, %ok : tensor<8x!tt.ptr<f32>>, tensor<8xi8>
  // expected-remark @below {{address: offset [103] strides [1]}}
  // expected-remark @below {{full}}
  %5 = tt.load %p8 : tensor<8x!tt.ptr<f32>>
  %c120 = arith.constant dense<120> : tensor<8xi8>
  %bad = arith.addi %i8, %c120 : tensor<8xi8>
  %p9 = tt.addptr %as, %bad : tensor<8x!tt.ptr<f32>>, tensor<8xi8>
  // expected-remark @below {{not structured, the offsets depend on values}}
  // expected-remark @below {{full}}
  %6 = tt.load %p9 : tensor<8x!tt.ptr<f32>>
  // From memory, or split.
  %g = tt.addptr %as, %x : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{not structured, the offsets depend on values}}
  // expected-remark @below {{full}}
  %7 = tt.load %g : tensor<8x!tt.ptr<f32>>
  %z = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c4 = arith.constant dense<4> : tensor<8xi32>
  %rem = arith.remsi %z, %c4 : tensor<8xi32>
  %s = tt.addptr %as, %rem : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{not structured, a dimension needs more than one stride}}
  // expected-remark @below {{full}}
  %8 = tt.load %s : tensor<8x!tt.ptr<f32>>
  // Division that cancels is none.
  %q4 = arith.divsi %z, %c4 : tensor<8xi32>
  %m4 = arith.muli %q4, %c4 : tensor<8xi32>
  %same = arith.addi %m4, %rem : tensor<8xi32>
  %u = tt.addptr %as, %same : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{address: offset [0] strides [1]}}
  // expected-remark @below {{full}}
  %9 = tt.load %u : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Transposes and reshapes of the lanes.
tt.func public @shapes(%a: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %m = tt.reshape %i : tensor<32xi32> -> tensor<4x8xi32>
  %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p = tt.addptr %as, %t : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  // expected-remark @below {{address: offset [0] strides [1, 8]}}
  // expected-remark @below {{full}}
  %0 = tt.load %p : tensor<8x4x!tt.ptr<f32>>
  tt.return
}
