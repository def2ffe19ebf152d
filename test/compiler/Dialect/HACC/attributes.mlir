// RUN: piton-opt %s | piton-opt | FileCheck %s

// CHECK: module attributes {hacc.hivmc_version = #hacc.hivmc_version<"0.2.0">, hacc.target = #hacc.target<"Ascend910B1">}
module attributes {hacc.hivmc_version = #hacc.hivmc_version<"0.2.0">, hacc.target = #hacc.target<"Ascend910B1">} {
  // CHECK: @device(memref<?xi8> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, memref<?xf32> {hacc.input_idx = #hacc.input_idx<0>, hacc.output_idx = #hacc.output_idx<1>})
  // CHECK-SAME: hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>
  func.func private @device(memref<?xi8> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, memref<?xf32> {hacc.input_idx = #hacc.input_idx<0>, hacc.output_idx = #hacc.output_idx<1>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>}
  // CHECK: hacc.host_func_type = #hacc.host_func_type<infer_task_type_function>
  func.func private @host() attributes {hacc.function_kind = #hacc.function_kind<HOST>, hacc.host_func_type = #hacc.host_func_type<infer_task_type_function>}
  // CHECK: a = [#hacc.tiling_function<@f>, #hacc.infer_output_shape_function<@f>, #hacc.infer_workspace_shape_function<@f>, #hacc.infer_sync_block_lock_num_function<@f>, #hacc.infer_sync_block_lock_init_function<@f>, #hacc.infer_task_type_function<@f>, #hacc.rename_func<@f>]
  func.func private @links() attributes {a = [#hacc.tiling_function<@f>, #hacc.infer_output_shape_function<@f>, #hacc.infer_workspace_shape_function<@f>, #hacc.infer_sync_block_lock_num_function<@f>, #hacc.infer_sync_block_lock_init_function<@f>, #hacc.infer_task_type_function<@f>, #hacc.rename_func<@f>]}
}
