// RUN: piton-opt %s -split-input-file -verify-diagnostics

// C1 of the structured ops
func.func @no_result(%a: tensor<8xf32>) {
  // expected-error @+1 {{gives (), but its destinations are ('tensor<8xf32>')}}
  hfusion.elemwise_unary ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>)
  return
}

// -----

// C2
func.func @mixed(%a: tensor<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{mixes tensors and memrefs}}
  hfusion.load ins(%a : tensor<8xf32>) outs(%m : memref<8xf32>)
  return
}

// -----

// C3
func.func @binary_inputs(%a: tensor<8xf32>) {
  // expected-error @+1 {{has 1 inputs, expected 2}}
  %0 = hfusion.elemwise_binary ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @mx_inputs(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{has 2 inputs, expected 4}}
  %0 = hfusion.matmul_mx ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// C4 of compare
func.func @compare(%a: tensor<8xf32>) {
  // expected-error @+1 {{destination must have i1 elements, but is 'tensor<8xf32>'}}
  %0 = hfusion.compare ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// C4 of bitcast
func.func @bitcast(%a: tensor<8xf32>, %b: tensor<8xi16>) {
  // expected-error @+1 {{element types 'f32' and 'i16' differ in width}}
  %0 = hfusion.bitcast ins(%a : tensor<8xf32>) outs(%b : tensor<8xi16>) -> tensor<8xi16>
  return
}

// -----

// C2 of reduce_with_index
func.func @reduce(%x: tensor<4x8xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{has 1 destinations, expected 2}}
  %0 = hfusion.reduce_with_index <max> ins(%x : tensor<4x8xf32>) outs(%v : tensor<4xf32>) dimensions = [1] -> tensor<4xf32>
  return
}

// -----

func.func @reduce_dim(%x: tensor<4x8xf32>, %v: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{axis 2 is outside the rank 2}}
  %0, %1 = hfusion.reduce_with_index <min> ins(%x : tensor<4x8xf32>) outs(%v, %i : tensor<4xf32>, tensor<4xi32>) dimensions = [2] -> tensor<4xf32>, tensor<4xi32>
  return
}

// -----

// C1 of arange
func.func @arange(%o: index, %r: tensor<4x8xi32>) {
  // expected-error @+1 {{has 1 strides for rank 2}}
  %0 = hfusion.arange strides[%o] outs(%r : tensor<4x8xi32>) -> tensor<4x8xi32>
  return
}

// -----

// C1 of the running ops, gather, sort and flip
func.func @cumsum(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis 1 is outside the rank 1}}
  %0 = hfusion.cumsum %x : tensor<8xf32> cum_dims = [1] reverse = false -> tensor<8xf32>
  return
}

// -----

func.func @gather(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{axis 1 is outside the rank 1}}
  %0 = hfusion.gather ins(%x, %i : tensor<8xf32>, tensor<8xi32>) outs(%x : tensor<8xf32>) axis = 1 -> tensor<8xf32>
  return
}

// -----

func.func @sort(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis -1 is outside the rank 1}}
  %0 = hfusion.sort ins(%x : tensor<8xf32>) descending = false sort_axis = -1 -> tensor<8xf32>
  return
}

// -----

// C2 of sort
func.func @sort_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{has not the shape of 'tensor<8xf32>'}}
  %0 = hfusion.sort ins(%x : tensor<8xf32>) descending = false sort_axis = 0 -> tensor<4xf32>
  return
}

// -----

func.func @flip(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis 3 is outside the rank 1}}
  %0 = hfusion.flip %x : tensor<8xf32> flip_axis = 3 -> tensor<8xf32>
  return
}

// -----

// C1 and C2 of histogram
func.func @histogram(%x: tensor<8xi32>) {
  // expected-error @+1 {{bin count 16 does not give 'tensor<8xi32>'}}
  %0 = hfusion.histogram %x, 16 : tensor<8xi32> -> tensor<8xi32>
  return
}

// -----

func.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{mask 'tensor<4xi1>' has not the shape of 'tensor<8xi32>'}}
  %0 = hfusion.histogram %x, 16, %m : tensor<8xi32>, tensor<4xi1> -> tensor<16xi32>
  return
}

// -----

// C1 of interleave and deinterleave
func.func @interleave(%x: tensor<8xf32>) {
  // expected-error @+1 {{2 inputs of 'tensor<8xf32>' do not give 'tensor<8xf32>'}}
  %0 = hfusion.interleave %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @deinterleave(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 1 results, expected 2}}
  %0 = hfusion.deinterleave %x channel<all> : tensor<8xf32> -> tensor<4xf32>
  return
}
