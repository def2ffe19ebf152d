// RUN: piton-opt %s -split-input-file -verify-diagnostics

// C1 of destination-style ops
func.func @store_no_result(%t: tensor<8xf32>) {
  // expected-error @+1 {{writes a tensor and must give the updated tensor}}
  hivm.hir.store ins(%t : tensor<8xf32>) outs(%t : tensor<8xf32>)
  return
}

// -----

func.func @copy_memref_result(%t: tensor<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{writes a memref in place and gives no result}}
  %0 = hivm.hir.copy ins(%t : tensor<8xf32>) outs(%m : memref<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @fixpipe_result_type(%t: tensor<8x8xf32>, %h: tensor<8x8xf16>) {
  // expected-error @+1 {{result type 'tensor<8x8xf32>' is not the destination's type 'tensor<8x8xf16>'}}
  %0 = hivm.hir.fixpipe ins(%t : tensor<8x8xf32>) outs(%h : tensor<8x8xf16>) -> tensor<8x8xf32>
  return
}

// -----

// C2 of load and store
func.func @load_element(%a: memref<8xf32>, %b: memref<8xf16>) {
  // expected-error @+1 {{differ in element type or rank}}
  hivm.hir.load ins(%a : memref<8xf32>) outs(%b : memref<8xf16>)
  return
}

// -----

func.func @store_rank(%a: memref<8xf32>, %b: memref<1x8xf32>) {
  // expected-error @+1 {{differ in element type or rank}}
  hivm.hir.store ins(%a : memref<8xf32>) outs(%b : memref<1x8xf32>)
  return
}

// -----

// C3 of load
func.func @load_shape(%a: memref<8xf32>, %b: memref<16xf32>) {
  // expected-error @+1 {{dimension 0 is 8 in the source and 16 in the destination}}
  hivm.hir.load ins(%a : memref<8xf32>) outs(%b : memref<16xf32>)
  return
}

// -----

// C4 of load
func.func @load_pad(%a: memref<8xf32>, %b: memref<16xf32>) {
  // expected-error @+1 {{pad mode PadValue needs a pad_value}}
  hivm.hir.load ins(%a : memref<8xf32>) outs(%b : memref<16xf32>) pad_mode = <PadValue>
  return
}

// -----

// C1 of set_flag and wait_flag, in generic form, as the text cannot express it
func.func @flag_twice(%i: i64) {
  // expected-error @+1 {{needs exactly one of a static and a dynamic event id}}
  "hivm.hir.set_flag"(%i) <{set_pipe = #hivm.pipe<PIPE_V>, wait_pipe = #hivm.pipe<PIPE_S>, static_event_id = #hivm.event<EVENT_ID0>}> : (i64) -> ()
  return
}

// -----

func.func @flag_none() {
  // expected-error @+1 {{needs exactly one of a static and a dynamic event id}}
  "hivm.hir.wait_flag"() <{set_pipe = #hivm.pipe<PIPE_V>, wait_pipe = #hivm.pipe<PIPE_S>}> : () -> ()
  return
}

// -----

// C1 of sync_block
func.func @sync_block_no_flag() {
  // expected-error @+1 {{mode ALL_CUBE needs a flag id}}
  hivm.hir.sync_block[<ALL_CUBE>]
  return
}

// -----

func.func @sync_block_flag() {
  // expected-error @+1 {{flag id 16 is outside 0 to 15}}
  hivm.hir.sync_block[<ALL>, 16]
  return
}

// -----

// C1 of sync_block_set
func.func @set_no_flag() {
  // expected-error @+1 {{needs exactly one of a static and a dynamic flag}}
  "hivm.hir.sync_block_set"() <{operandSegmentSizes = array<i32: 0, 0>, pipe = #hivm.pipe<PIPE_MTE2>, tcore_type = #hivm.tcore_type<CUBE>, tpipe = #hivm.pipe<PIPE_FIX>}> : () -> ()
  return
}

// -----

// C2 of sync_block_set and sync_block_wait
func.func @set_flag_id() {
  // expected-error @+1 {{flag id 99 is outside 0 to 15}}
  hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = 99
  return
}

// -----

func.func @wait_flag_id() {
  // expected-error @+1 {{flag id -1 is outside 0 to 15}}
  hivm.hir.sync_block_wait[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = -1
  return
}

// -----

// C1 of the lock ops
func.func @lock(%m: memref<2xi64>) {
  // expected-error @+1 {{lock must be a memref of one i64, but is 'memref<2xi64>'}}
  hivm.hir.sync_block_lock lock_var(%m : memref<2xi64>)
  return
}

// -----

func.func @unlock(%m: memref<1xi32>) {
  // expected-error @+1 {{lock must be a memref of one i64}}
  hivm.hir.sync_block_unlock lock_var(%m : memref<1xi32>)
  return
}

// -----

func.func @create() {
  // expected-error @+1 {{lock must be a memref of one i64}}
  %0 = hivm.hir.create_sync_block_lock : memref<?xi64>
  return
}

// -----

// C1 of custom
func.func @custom_symbol() {
  // expected-error @+1 {{'mine' is no builtin and needs the attribute 'symbol'}}
  hivm.hir.custom {hivm.pipe = #hivm.pipe<PIPE_S>, hivm.tcore_type = #hivm.tcore_type<VECTOR>} "mine"
  return
}

// -----

func.func @custom_core() {
  // expected-error @+1 {{needs the attribute 'hivm.tcore_type'}}
  hivm.hir.custom {symbol = "f"} "mine"
  return
}

// -----

// C1 and C2 of pointer_cast
func.func @cast_sizes(%a: i64) {
  // expected-error @+1 {{has 0 sizes for 1 dynamic dimensions}}
  %0 = hivm.hir.pointer_cast(%a) : memref<?xf32>
  return
}

// -----

func.func @cast_addresses() {
  // expected-error @+1 {{needs at least one address}}
  %0 = hivm.hir.pointer_cast() : memref<4xf32>
  return
}

// -----

// C1 of debug
func.func @debug(%x: f32) {
  // expected-error @+1 {{debugtype 'log' is neither print nor assert}}
  hivm.hir.debug {debugtype = "log", hex = false, prefix = ""} %x : f32
  return
}

// -----

// C1 of data_layout
// expected-error @+1 {{data layout dotA_ND needs 'transpose'}}
func.func private @layout() attributes {l = #hivm.data_layout<dotA_ND>}

// -----

// expected-error @+1 {{data layout zN takes no 'transpose'}}
func.func private @layout() attributes {l = #hivm.data_layout<zN, transpose = true>}

// -----

// expected-error @+1 {{unknown data layout 'xyz'}}
func.func private @layout() attributes {l = #hivm.data_layout<xyz>}
