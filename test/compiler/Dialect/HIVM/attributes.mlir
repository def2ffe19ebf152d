// RUN: piton-opt %s | piton-opt | FileCheck %s
// Attributes that live on functions, loops and modules.

// CHECK: module attributes {hacc.target = #hacc.target<"Ascend910B3">, hivm.module_core_type = #hivm.module_core_type<MIX>}
module attributes {hacc.target = #hacc.target<"Ascend910B3">, hivm.module_core_type = #hivm.module_core_type<MIX>} {
  // CHECK: hivm.func_core_type = #hivm.func_core_type<AIC>
  func.func private @a() attributes {hivm.func_core_type = #hivm.func_core_type<AIC>}
  // CHECK: l = [#hivm.data_layout<dotA_ND, transpose = false>, #hivm.data_layout<zN, fractalSizes = [16, 16]>, #hivm.data_layout<ND>]
  func.func private @b() attributes {l = [#hivm.data_layout<dotA_ND, transpose = false>, #hivm.data_layout<zN, fractalSizes = [16, 16]>, #hivm.data_layout<ND>]}
  // CHECK: m = [#hivm.tcore_type_marker<CUBE>, #hivm.tightly_coupled_buffer<3>, #hivm.remain_in_l0c<2>, #hivm.aic_bitcode<"a.bc">]
  func.func private @c() attributes {m = [#hivm.tcore_type_marker<CUBE>, #hivm.tightly_coupled_buffer<3>, #hivm.remain_in_l0c<2>, #hivm.aic_bitcode<"a.bc">]}
  // CHECK: p = [#hivm.padmode<PadValue>, #hivm.round_mode<truncwithoverflow>, #hivm.cast<cast_unsigned>, #hivm.unsigned_mode<ui2si>, #hivm.compare_mode<le>, #hivm.reduce_op<max_with_index_left>, #hivm.event<EVENT_ID7>]
  func.func private @d() attributes {p = [#hivm.padmode<PadValue>, #hivm.round_mode<truncwithoverflow>, #hivm.cast<cast_unsigned>, #hivm.unsigned_mode<ui2si>, #hivm.compare_mode<le>, #hivm.reduce_op<max_with_index_left>, #hivm.event<EVENT_ID7>]}
  // CHECK: q = [#hivm.unit_flag<ENABLED_WITH_UPDATE>, #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>, #hivm.fixpipe_dual_dst_mode<ROW_SPLIT>, #hivm.inline_mode<no_inline>, #hivm.memory_effect<read_write>, #hivm.iterator_type<opaque>]
  func.func private @e() attributes {q = [#hivm.unit_flag<ENABLED_WITH_UPDATE>, #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>, #hivm.fixpipe_dual_dst_mode<ROW_SPLIT>, #hivm.inline_mode<no_inline>, #hivm.memory_effect<read_write>, #hivm.iterator_type<opaque>]}
}
