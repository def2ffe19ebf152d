// RUN: piton-opt %s -split-input-file -verify-diagnostics
// One case a constraint label of TritonOps.td, and the limits of types and enumerations.

// tt.func C1: a declaration is private or nested
// expected-error @+1 {{symbol declaration cannot have public visibility}}
tt.func public @f()

// -----

// argument attributes need a dialect prefix
// expected-error @+1 {{arguments may only have dialect attributes}}
tt.func @f(%x: i32 {divisibility = 16 : i32}) {
  tt.return
}

// -----

// a function lives in a module
tt.func @f() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  tt.func private @g()
  tt.return
}

// -----

// tt.call C1
tt.func @f() {
  // expected-error @+1 {{'nothing' does not reference a valid function}}
  tt.call @nothing() : () -> ()
  tt.return
}

// -----

// tt.call C2: operands
tt.func private @g(i32) -> i32
tt.func @f(%x: f32, %y: i32) {
  // expected-error @+1 {{operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 0}}
  %0 = tt.call @g(%x) : (f32) -> i32
  tt.return
}

// -----

// tt.call C2: number of operands
tt.func private @g(i32) -> i32
tt.func @f(%y: i32) {
  // expected-error @+1 {{incorrect number of operands for callee: 2 given, 1 expected}}
  %0 = tt.call @g(%y, %y) : (i32, i32) -> i32
  tt.return
}

// -----

// tt.call C2: results
tt.func private @g(i32) -> i32
tt.func @f(%y: i32) {
  // expected-error @+1 {{result type mismatch: expected result type 'i32', but provided 'f32' for result number 0}}
  %0 = tt.call @g(%y) : (i32) -> f32
  tt.return
}

// -----

// tt.return C1
tt.func @f() -> i32 {
  // expected-error @+1 {{has 0 operands, but enclosing function (@f) returns 1}}
  tt.return
}

// -----

// tt.return C1: types
tt.func @f(%x: f32) -> i32 {
  // expected-error @+1 {{type of return operand 0 ('f32') doesn't match function result type ('i32') in function @f}}
  tt.return %x : f32
}

// -----

// the element limit of one tensor
tt.func @f(%x: f32) {
  // expected-error @+1 {{result 0 has more than 1048576 elements ('tensor<2048x1024xf32>'), the limit of one tensor; use a smaller block}}
  %0 = tt.splat %x : f32 -> tensor<2048x1024xf32>
  tt.return
}

// -----

// make_range C1
tt.func @f() {
  // expected-error @+1 {{result must be a rank-1 tensor of i32, but is 'tensor<8xi64>'}}
  %0 = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi64>
  tt.return
}

// -----

// make_range C2
tt.func @f() {
  // expected-error @+1 {{start must be less than end, but start is 8 and end 8}}
  %0 = tt.make_range {start = 8 : i32, end = 8 : i32} : tensor<8xi32>
  tt.return
}

// -----

// make_range C3
tt.func @f() {
  // expected-error @+1 {{number of elements in returned tensor (8) must be end - start (16)}}
  %0 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<8xi32>
  tt.return
}

// -----

// bitcast C1
tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{cannot bitcast pointer to non-pointer type}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> i64
  tt.return
}

// -----

// bitcast C1: address spaces
tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{cannot bitcast pointer between different address spaces}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<f32, 3>
  tt.return
}

// -----

// bitcast C2
tt.func @f(%x: f32) {
  // expected-error @+1 {{cannot bitcast data-type of size 32 to data-type of size 16}}
  %0 = tt.bitcast %x : f32 -> i16
  tt.return
}

// -----

// casts keep the shape
tt.func @f(%x: tensor<8xi64>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tt.int_to_ptr %x : tensor<8xi64> -> tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

// fp_to_fp C1
tt.func @f(%x: f32) {
  // expected-error @+1 {{rounding mode is required for FP downcast}}
  %0 = tt.fp_to_fp %x : f32 -> f16
  tt.return
}

// -----

// fp_to_fp takes the float types of Triton only
tt.func @f(%x: f8E4M3B11FNUZ) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = tt.fp_to_fp %x : f8E4M3B11FNUZ -> f32
  tt.return
}

// -----

// elementwise_inline_asm C1
tt.func @f(%x: tensor<6xi8>) {
  // expected-error @+1 {{number of input elements 6 must be a multiple of the op's packed_element attribute, 4}}
  %0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 4 : i32, pure = true} %x : tensor<6xi8> -> tensor<6xi8>
  tt.return
}

// -----

// elementwise_inline_asm C1: positive
tt.func @f(%x: tensor<6xi8>) {
  // expected-error @+1 {{packed_element must be positive, but is 0}}
  %0 = tt.elementwise_inline_asm "" {constraints = "", packed_element = 0 : i32, pure = true} %x : tensor<6xi8> -> tensor<6xi8>
  tt.return
}

// -----

// addptr refuses block pointers
tt.func @f(%p: !tt.ptr<tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{does not take a block pointer; use tt.advance}}
  %0 = tt.addptr %p, %i : !tt.ptr<tensor<8xf32>>, i32
  tt.return
}

// -----

// addptr: scalar and tensor do not mix
tt.func @f(%p: !tt.ptr<f32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{}}
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, tensor<8xi32>
  tt.return
}

// -----

// load C1, in generic form as the text cannot express it
tt.func @f(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error @+1 {{mask type matches ptr type}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

// load C2: block pointers only
tt.func @f(%p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{boundaryCheck needs a block pointer, but ptr is 'tensor<8x!tt.ptr<f32>>'}}
  %0 = tt.load %p {boundaryCheck = array<i32: 0>} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// load C2: padding
tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{padding needs a block pointer, but ptr is '!tt.ptr<f32>'}}
  %0 = tt.load %p {padding = 1 : i32} : !tt.ptr<f32>
  tt.return
}

// -----

// load C2: inside the rank
tt.func @f(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+1 {{boundaryCheck dimension 1 is outside the block's rank 1}}
  %0 = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

// load: mask has the shape of the result
// expected-note @+1 {{prior use here}}
tt.func @f(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{expects different type than prior uses}}
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// enumerations: an unknown keyword
tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'cache' [none, ca, cg, wb, cs, wt, cv]}}
  %0 = tt.load %p cacheModifier = xx : !tt.ptr<f32>
  tt.return
}

// -----

// enumerations: an unknown value
tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{Invalid attribute `cache` in property conversion: 99 : i32}}
  %0 = "tt.load"(%p) <{cache = 99 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
  tt.return
}

// -----

// store C1
tt.func @f(%p: !tt.ptr<tensor<8xf32>>, %v: tensor<8xf32>) {
  // expected-error @+1 {{boundaryCheck dimension -1 is outside the block's rank 1}}
  tt.store %p, %v {boundaryCheck = array<i32: -1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

// store: value has the pointee type
tt.func @f(%p: !tt.ptr<f32>, %v: i32) {
  // expected-error @+1 {{value type matches ptr type}}
  "tt.store"(%p, %v) : (!tt.ptr<f32>, i32) -> ()
  tt.return
}

// -----

// make_tensor_ptr C1
tt.func @f(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{shape, strides, offsets and order must have the block's rank 2, but have 1, 1, 1 and 2}}
  %0 = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 1, 0>} : <tensor<8x8xf32>>
  tt.return
}

// -----

// make_tensor_ptr C2
tt.func @f(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{order must be a permutation of 0 .. rank-1}}
  %0 = tt.make_tensor_ptr %p, [%n, %n], [%n, %n], [%i, %i] {order = array<i32: 1, 1>} : <tensor<8x8xf32>>
  tt.return
}

// -----

// make_tensor_ptr: the base points to the element
// expected-note @+1 {{prior use here}}
tt.func @f(%p: !tt.ptr<f16>, %n: i64, %i: i32) {
  // expected-error @+1 {{expects different type than prior uses}}
  %0 = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 0>} : <tensor<8xf32>>
  tt.return
}

// -----

// advance C1
tt.func @f(%p: !tt.ptr<tensor<8x8xf32>>, %i: i32) {
  // expected-error @+1 {{needs one offset for each of the block's 2 dimensions, but has 1}}
  %0 = tt.advance %p, [%i] : <tensor<8x8xf32>>
  tt.return
}

// -----

// make_tensor_descriptor C1
tt.func @f(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @+1 {{shape and strides must have the block's rank 2, but have 1 and 1}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<8x8xf32>>
  tt.return
}

// -----

// make_tensor_descriptor C2
tt.func @f(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @+1 {{base points to 'f32', but the block's elements are 'f16'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<8xf16>>
  tt.return
}

// -----

// descriptor_load C1
tt.func @f(%d: !tt.tensordesc<tensor<2x8xf32>>, %i: i32) {
  // expected-error @+1 {{tensor descriptor block and tensor types must match, but are 'tensor<2x8xf32>' and 'tensor<8xf32>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<2x8xf32>> -> tensor<8xf32>
  tt.return
}

// -----

// descriptor_load C1: signless values only
tt.func @f(%d: !tt.tensordesc<tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{tensor descriptor block and tensor types must match}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<8xf32>> -> tensor<8xi32>
  tt.return
}

// -----

// descriptor_load C2
tt.func @f(%d: !tt.tensordesc<tensor<1x8xf32>>, %i: i32) {
  // expected-error @+1 {{needs one index for each of the block's 2 dimensions, but has 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<1x8xf32>> -> tensor<8xf32>
  tt.return
}

// -----

// descriptors are written in full
tt.func @f(%d: !tt.tensordesc<tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{expected non-function type}}
  %0 = tt.descriptor_load %d[%i] : <tensor<8xf32>> -> tensor<8xf32>
  tt.return
}

// -----

// descriptor_store C1
tt.func @f(%d: !tt.tensordesc<tensor<8xf32>>, %i: i32, %v: tensor<4xf32>) {
  // expected-error @+1 {{tensor descriptor block and tensor types must match}}
  tt.descriptor_store %d[%i], %v : !tt.tensordesc<tensor<8xf32>>, tensor<4xf32>
  tt.return
}

// -----

// descriptor_reduce C2
tt.func @f(%d: !tt.tensordesc<tensor<8xf32>>, %i: i32, %v: tensor<8xf32>) {
  // expected-error @+1 {{needs one index for each of the block's 1 dimensions, but has 2}}
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<tensor<8xf32>>, tensor<8xf32>
  tt.return
}

// -----

// descriptor_gather C1
tt.func @f(%d: !tt.tensordesc<tensor<2x64xf32>>, %x: tensor<8xi32>, %y: i32) {
  // expected-error @+1 {{block must be a 1xC matrix, but is 'tensor<2x64xf32>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<2x64xf32>>, tensor<8xi32>, i32) -> tensor<8x64xf32>
  tt.return
}

// -----

// descriptor_gather C2
tt.func @f(%d: !tt.tensordesc<tensor<1x64xf32>>, %x: tensor<8xi32>, %y: i32) {
  // expected-error @+1 {{tensor must be 8x64 of 'f32', but is 'tensor<16x64xf32>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x64xf32>>, tensor<8xi32>, i32) -> tensor<16x64xf32>
  tt.return
}

// -----

// descriptor_gather C3: rows
tt.func @f(%d: !tt.tensordesc<tensor<1x64xf32>>, %x: tensor<4xi32>, %y: i32) {
  // expected-error @+1 {{must have at least 8 rows, but has 4}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x64xf32>>, tensor<4xi32>, i32) -> tensor<4x64xf32>
  tt.return
}

// -----

// descriptor_scatter C3: columns
tt.func @f(%d: !tt.tensordesc<tensor<1x8xf16>>, %x: tensor<8xi32>, %y: i32, %v: tensor<8x8xf16>) {
  // expected-error @+1 {{must have at least 16 columns for elements of 16 bits, but has 8}}
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<tensor<1x8xf16>>, tensor<8xi32>, i32, tensor<8x8xf16>
  tt.return
}

// -----

// descriptor_scatter C3: width
tt.func @f(%d: !tt.tensordesc<tensor<1x64xf64>>, %x: tensor<8xi32>, %y: i32, %v: tensor<8x64xf64>) {
  // expected-error @+1 {{elements must have at most 32 bits, but have 64}}
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<tensor<1x64xf64>>, tensor<8xi32>, i32, tensor<8x64xf64>
  tt.return
}

// -----

// atomic_rmw C1: floats
tt.func @f(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{fadd needs float elements, but has 'i32'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

// atomic_rmw C1: integers
tt.func @f(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{max needs integer elements, but has 'f32'}}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

// atomic_rmw: the pointer matches the value
tt.func @f(%p: !tt.ptr<f32>, %v: f16) {
  // expected-error @+1 {{ptr type matches value type}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f16) -> f16
  tt.return
}

// -----

// atomic_cas: the pointer matches
tt.func @f(%p: !tt.ptr<f32>, %v: f16) {
  // expected-error @+1 {{ptr type matches cmp type}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<f32>, f16, f16) -> f16
  tt.return
}

// -----

// unsplat C1
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{source tensor must have exactly one element, but is 'tensor<2xf32>'}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

// expand_dims C1
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+2 {{axis 2 is outside 0 .. 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----

// expand_dims without its axis
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{requires attribute 'axis'}}
  %0 = "tt.expand_dims"(%x) : (tensor<2xf32>) -> tensor<2x1xf32>
  tt.return
}

// -----

// broadcast C1
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{source rank 1 and result rank 2 differ}}
  %0 = tt.broadcast %x : tensor<2xf32> -> tensor<2x2xf32>
  tt.return
}

// -----

// broadcast C2
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{dimension 0 is 2 in the source and 4 in the result; only 1 can be broadcast}}
  %0 = tt.broadcast %x : tensor<2xf32> -> tensor<4xf32>
  tt.return
}

// -----

// reshape C1
tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{number of elements must not change: 2 to 4}}
  %0 = tt.reshape %x : tensor<2xf32> -> tensor<4xf32>
  tt.return
}

// -----

// trans C1
tt.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{order must be a permutation of the source dimensions}}
  %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

// join C1
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must be 'tensor<4x2xf32>', but is 'tensor<2x4xf32>'}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

// split C1
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{split needs a tensor whose last dimension is 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = tt.split %x : tensor<4xf32> -> tensor<2xf32>
  tt.return
}

// -----

// cat C1
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must be 'tensor<8xf32>', but is 'tensor<4xf32>'}}
  %0 = tt.cat %x, %x : tensor<4xf32> -> tensor<4xf32>
  tt.return
}

// -----

// gather C1
tt.func @f(%x: tensor<4xf32>, %i: tensor<4x4xi32>) {
  // expected-error @+1 {{source rank 1 and index rank 2 differ}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
  tt.return
}

// -----

// gather C2
tt.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{axis 1 is outside the rank 1}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

// gather C3
tt.func @f(%x: tensor<4x8xf32>, %i: tensor<2x2xi32>) {
  // expected-error @+1 {{dimension 0 of the indices (2) must match the source (4)}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x8xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  tt.return
}

// -----

// histogram C1
tt.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{result must have rank 1, but is 'tensor<2x2xi32>'}}
  %0 = tt.histogram %x : tensor<4xi32> -> tensor<2x2xi32>
  tt.return
}

// -----

// dot C1
tt.func @f(%a: tensor<4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{operands must all have rank 2 or all rank 3, but have 1, 1 and 2}}
  %0 = tt.dot %a, %a, %c : tensor<4xf32> * tensor<4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot C2
tt.func @f(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{shapes do not fit MxK * KxN -> MxN}}
  %0 = tt.dot %a, %a, %c : tensor<4x8xf32> * tensor<4x8xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot C3
tt.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{element types of operands A and B must have same bit width, but are 'f32' and 'f16'}}
  %0 = tt.dot %a, %b, %c : tensor<4x4xf32> * tensor<4x4xf16> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot: a precision that only forks of Triton have
tt.func @f(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'inputPrecision' [tf32, tf32x3, ieee, bf16x3, bf16x6]}}
  %0 = tt.dot %a, %a, %c, inputPrecision = hf32 : tensor<4x4xf32> * tensor<4x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot_scaled C1
tt.func @f(%a: tensor<4xf8E5M2>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{operands must all have rank 2 or all rank 3, but have 1, 1 and 2}}
  %0 = tt.dot_scaled %a, %a, %c lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<4xf8E5M2> * tensor<4xf8E5M2> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot_scaled C2
tt.func @f(%a: tensor<4x32xi8>, %b: tensor<32x4xf8E5M2>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{unpacked shapes do not fit MxK * KxN -> MxN: 4x64, 32x4}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<4x32xi8> * tensor<32x4xf8E5M2> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot_scaled C3
tt.func @f(%a: tensor<4x64xf8E5M2>, %s: tensor<4x4xi8>, %b: tensor<64x4xf8E5M2>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{a_scale must be 4x2, but is 'tensor<4x4xi8>'}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<4x64xf8E5M2>, tensor<4x4xi8> * tensor<64x4xf8E5M2> -> tensor<4x4xf32>
  tt.return
}

// -----

// dot_scaled C4
tt.func @f(%a: tensor<4x64xf8E5M2>, %b: tensor<64x4xf8E5M2>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{only e2m1 operands can be packed along M or N}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e5m2 rhs = e5m2 {fastMath = false, lhs_k_pack = false} : tensor<4x64xf8E5M2> * tensor<64x4xf8E5M2> -> tensor<4x4xf32>
  tt.return
}

// -----

// reduce C1
tt.func @f() {
  // expected-error @+1 {{expected 1 or more operands, but found 0}}
  "tt.reduce"() <{axis = 0 : i32}> ({
    "tt.reduce.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

// reduce C2
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis 1 is outside the rank}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

// reduce C3: arguments
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{combine region must take 2 arguments, but takes 1}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

// reduce C3: results
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{combine region must return 1 values with tt.reduce.return}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

// reduce C3: types
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{combine region must take and return 'f32' for operand 0}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.reduce.return %a : i32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

// reduce: rank 1 gives a scalar, never a tensor of rank 0
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'f32' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> tensor<f32>
  tt.return
}

// -----

// scan C1
tt.func @f() {
  // expected-error @+1 {{expected 1 or more operands, but found 0}}
  "tt.scan"() <{axis = 0 : i32, reverse = false}> ({
    "tt.scan.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

// scan C2
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis -1 is outside the rank 1}}
  %0 = "tt.scan"(%x) <{axis = -1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

// scan C3
tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{combine region must take 2 arguments, but takes 3}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.scan.return %a : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

// map_elementwise C1
tt.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{pack must be a positive power of two, but is 3}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<6xf32>) -> tensor<6xf32>
  tt.return
}

// -----

// map_elementwise C2: arguments
tt.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{entry block must take 2 arguments, but takes 1}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<6xf32>) -> tensor<6xf32>
  tt.return
}

// -----

// map_elementwise C2: results
tt.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{region must return 2 values, but returns 1}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<6xf32>) -> tensor<6xf32>
  tt.return
}

// -----

// map_elementwise C3
tt.func @f(%x: tensor<6xf32>, %p: !tt.ptr<f32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    // expected-error @+1 {{writes memory inside tt.map_elementwise, which is not allowed}}
    tt.store %p, %a : !tt.ptr<f32>
    tt.map_elementwise.return %a : f32
  }) : (tensor<6xf32>) -> tensor<6xf32>
  tt.return
}

// -----

// terminators stay in their op
tt.func @f(%x: f32) {
  // expected-error @+1 {{expects parent op 'tt.reduce'}}
  tt.reduce.return %x : f32
}

// -----

// print C1
tt.func @f(%x: f32) {
  // expected-error @+1 {{isSigned must have one entry an operand: 0 entries, 1 operands}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : f32
  tt.return
}

// -----

// types: a pointer has a pointee
// expected-error @+1 {{expected '<'}}
tt.func private @f(!tt.ptr)

// -----

// types: a descriptor holds a ranked tensor
// expected-error @+2 {{invalid kind of type specified}}
// expected-error @+1 {{failed to parse Triton_TensorDescType parameter 'blockType'}}
tt.func private @f(!tt.tensordesc<f32>)

// -----

// element types: no odd widths, no signed integers
tt.func @f(%x: tensor<8xi3>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = tt.broadcast %x : tensor<8xi3> -> tensor<8xi3>
  tt.return
}
