# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of the npu target: every documented name is taken, values are checked."""

import re
import subprocess
import sys
import warnings

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from piton import options
from piton.compiler import NPUOptions, PitonBackend
from tracing import TARGET, source

#: The names of the public tables and of newer revisions (spec: options).
DOCUMENTED = """
multibuffer enable_auto_bind_sub_block enable_hivm_auto_cv_balance sync_solver unit_flag
inject_barrier_all inject_block_all limit_auto_multi_buffer_only_for_local_buffer
limit_auto_multi_buffer_of_local_buffer set_workspace_multibuffer tile_mix_vector_loop
tile_mix_cube_loop disable_auto_inject_block_sync stream enable_linearize enable_nd2nz_on_vector
auto_blockify_size compile_mode debug sanitize_overflow arch kernel_name llvm_version num_warps
num_stages num_ctas cluster_dims warp_size num_buffers_warp_spec num_consumer_groups
reg_dec_producer reg_inc_consumer enable_warp_specialization enable_persistent optimize_epilogue
enable_fp_fusion allow_fp8e4nv supported_fp8_dtypes deprecated_fp8_dtypes
default_dot_input_precision allowed_dot_input_precisions max_num_imprecise_acc_default extern_libs
compile_on_910_95 optimize_dynamic_offset enable_mask_fallback_conversion enable_select_analysis
auto_tile_and_bind_subblock enable_sync_block_lock bisheng_options enable_ubuf_saving
disable_tightly_coupled_buffer_reuse enable_mixed_cv enable_vf_fusion vf_merge_level
hfusion_enable_multiple_consumer_fusion enable_cce_vf_auto_sync enable_cce_vf_remove_membar
enable_drop_unit_dims enable_flatten enable_auto_vectorize_v2 auto_vectorize_v2_max_fused_ops_num
prevec_max_fused_ops_num disable_size_align_for_cast add_auto_scheduling parallel_mode
force_simt_only force_simt_template shared_mem_dynamic_size enable_bishengir_simt_optimization
simt_stack_limit enable_simt_reorder_instruction disable_fma mix_mode use_bytecode storage_align
ops_reorder code_motion vf_fusion_mode enable_preload limit_auto_multi_buffer_buffer
enable_dynamic_cv_pipeline enable_cube_block_merge has_auto_blockify_blacklist_op intra_cache_num
inter_cache_num load_cache_num enable_costmodel_backend auto_simt_scope_mode auto_simt_scope_dump
auto_simt_scope_margin superblock_factor
instrumentation_mode launch_cooperative_grid ir_override deprecated_fp8_dot_operand_dtypes maxnreg
""".split()


def test_every_documented_name_is_an_option():
    assert sorted(set(DOCUMENTED) - options.known_options()) == []


def test_defaults():
    default = NPUOptions()
    assert default.multibuffer is True
    assert default.enable_linearize is True
    assert default.compile_mode == "simd"
    assert len(default.hash()) == 64
    assert default.hash() != NPUOptions(multibuffer=False).hash()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    (
        ("multibuffer", 3, "multibuffer takes True or False"),
        ("num_warps", "4", "num_warps takes an integer"),
        ("set_workspace_multibuffer", 3, "set_workspace_multibuffer is 3; it takes one of 2, 4"),
        ("tile_mix_vector_loop", 5, "it takes one of 1, 2, 4, 8"),
        ("auto_blockify_size", 0, "the smallest value is 1"),
        ("compile_mode", "fast", "compile_mode is 'fast'"),
        ("limit_auto_multi_buffer_of_local_buffer", "all", "'no-limit', 'no-l0c'"),
    ),
)
def test_bad_values_name_option_and_limit(name, value, text):
    with pytest.raises((TypeError, ValueError), match=re.escape(text)):
        NPUOptions(**{name: value})


def test_switches_take_bools():
    assert NPUOptions(limit_auto_multi_buffer_of_local_buffer=True) == NPUOptions(
        limit_auto_multi_buffer_of_local_buffer="no-l0c"
    )
    on = NPUOptions(limit_auto_multi_buffer_of_local_buffer=False)
    assert on.limit_auto_multi_buffer_of_local_buffer == "no-limit"


def test_compile_modes_set_their_flags():
    simt = NPUOptions(compile_mode="simt_only")
    assert simt.force_simt_only and simt.parallel_mode == "simt"
    assert NPUOptions(compile_mode="unstructured_in_simt").force_simt_template


def test_parse_options_ignores_unknown_names_and_fills_arch():
    parsed = PitonBackend(TARGET).parse_options({"no_such_option": 1, "num_warps": 8})
    assert parsed.arch == "Ascend910B3" and parsed.num_warps == 8
    a5 = PitonBackend(GPUTarget("npu", "Ascend910_9589", 0)).parse_options({})
    assert a5.compile_on_910_95 is True


def test_unknown_target_lists_the_candidates():
    with pytest.raises(ValueError, match="Ascend910B1"):
        PitonBackend(GPUTarget("npu", "Ascend1", 0))


def test_an_option_without_effect_says_so_once(monkeypatch):
    monkeypatch.setattr(options, "_reported", set())
    backend = PitonBackend(TARGET)
    with pytest.warns(UserWarning, match="unit_flag=True"):
        backend.parse_options({"unit_flag": True})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backend.parse_options({"unit_flag": True})
        backend.parse_options({"num_warps": 4, "num_stages": 3, "num_ctas": 1})


@triton.jit
def store_one(out):
    tl.store(out, 1)


def test_unknown_launch_keyword_is_refused_by_name():
    with pytest.raises(KeyError, match="Keyword argument foo was specified but unrecognised"):
        store_one[(1,)](torch.zeros(1), foo=3)


def test_wrong_arch_variable_lists_the_candidates(monkeypatch):
    monkeypatch.setenv("TRITON_ASCEND_ARCH", "Ascend1")
    with pytest.raises(ValueError, match="TRITON_ASCEND_ARCH = Ascend1 is invalid!"):
        triton.runtime.driver.active.get_current_target()


def test_cache_key_holds_the_variables_that_change_code(monkeypatch):
    before = PitonBackend(TARGET).hash()
    monkeypatch.setenv("TRITON_ALL_BLOCKS_PARALLEL", "1")
    assert PitonBackend(TARGET).hash() != before


def test_cache_key_holds_the_cpu_that_images_are_made_for(monkeypatch):
    monkeypatch.setenv("PITON_HOST_CPU", "x86-64-v4")
    before = PitonBackend(TARGET).hash()
    monkeypatch.setenv("PITON_HOST_CPU", "x86-64-v3")
    assert PitonBackend(TARGET).hash() != before
    monkeypatch.setenv("PITON_HOST_CPU", "pentium9")
    with pytest.raises(ValueError, match="no CPU is called 'pentium9'"):
        PitonBackend(TARGET).hash()


def test_store_binary_only_is_refused(monkeypatch):
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")
    with pytest.raises(ValueError, match="TRITON_STORE_BINARY_ONLY"):
        triton.compile(source(store_one, {"out": "*fp32"}), target=TARGET)


def test_missing_native_module_says_what_is_missing():
    script = (
        "import sys; sys.modules['piton._piton'] = None\n"
        "import triton\n"
        "from triton.backends.compiler import GPUTarget\n"
        "from piton.compiler import PitonBackend\n"
        "PitonBackend(GPUTarget('npu', 'Ascend910B3', 0))\n"
    )
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert child.returncode == 1
    assert "_piton" in child.stderr and "reinstall" in child.stderr
