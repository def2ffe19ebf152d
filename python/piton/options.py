# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of the npu target: one table with type, default and allowed values.

Every name can be given at launch (``kernel[grid](..., multibuffer=True)``) or in
``triton.Config``. What is checked here is the value; what an option does is decided
by the stage that reads it. ``Effect`` says which stage that is.
"""

from __future__ import annotations

import enum
import hashlib
import warnings
from dataclasses import MISSING, dataclass, field, fields

#: SoC names that TRITON_ASCEND_ARCH and GPUTarget("npu", ...) take.
TARGETS = (
    *(f"Ascend910B{n}" for n in range(1, 5)),
    *(f"Ascend910_{n}" for n in (9362, 9372, 9381, 9382, 9391, 9392)),
    *(f"Ascend310B{n}" for n in range(1, 5)),
    *(f"Ascend910_{n}" for n in (9579, 9581, 9589, 9599)),
    "Ascend910_95",
    "Ascend950",
)
DEFAULT_TARGET = "Ascend910B3"
COMPILE_MODES = ("simd", "unstructured_in_simt", "simt_only", "simd_simt")


class Effect(enum.Enum):
    """Who reads an option."""

    FRONT_END = "front end"
    PIPELINE = "pipeline"
    #: Below the hand-over IR: only the NPU compiler acts on it.
    BISHENG = "bisheng"
    #: Documented as a placeholder without effect on this target.
    NONE = "none"


def _opt(default, kind, effect, *, choices=None, low=None, optional=False):
    return field(
        default=default,
        metadata=dict(kind=kind, effect=effect, choices=choices, low=low, optional=optional),
    )


def _switch(default, effect=Effect.BISHENG):
    return _opt(default, bool, effect, optional=default is None)


def _int(default, effect=Effect.BISHENG, *, low=0, choices=None):
    return _opt(default, int, effect, low=low, choices=choices, optional=default is None)


def _any(default, effect=Effect.NONE):
    return _opt(default, object, effect, optional=True)


@dataclass(frozen=True)
class NPUOptions:
    """Options of one compilation. ``NPUOptions()`` is the default configuration."""

    # Public tables.
    multibuffer: bool = _switch(True)
    enable_auto_bind_sub_block: bool = _switch(None)
    enable_hivm_auto_cv_balance: bool = _switch(None)
    sync_solver: bool = _switch(None)
    unit_flag: bool = _switch(None)
    inject_barrier_all: bool = _switch(None)
    inject_block_all: bool = _switch(None)
    limit_auto_multi_buffer_only_for_local_buffer: bool = _switch(None)
    limit_auto_multi_buffer_of_local_buffer: str = _opt(
        None, str, Effect.BISHENG, choices=("no-limit", "no-l0c"), optional=True
    )
    set_workspace_multibuffer: int = _int(None, choices=(2, 4))
    tile_mix_vector_loop: int = _int(None, choices=(1, 2, 4, 8))
    tile_mix_cube_loop: int = _int(None, choices=(1, 2, 4, 8))
    disable_auto_inject_block_sync: bool = _switch(None)
    stream: int = _int(None, Effect.FRONT_END)
    enable_linearize: bool = _switch(True, Effect.PIPELINE)
    enable_nd2nz_on_vector: bool = _switch(False, Effect.PIPELINE)
    auto_blockify_size: int = _int(1, Effect.PIPELINE, low=1)
    compile_mode: str = _opt("simd", str, Effect.PIPELINE, choices=COMPILE_MODES)

    # What the stock front end and JIT read.
    debug: bool = _switch(False, Effect.PIPELINE)
    sanitize_overflow: bool = _switch(False, Effect.FRONT_END)
    arch: str = _opt("", str, Effect.PIPELINE)
    num_warps: int = _int(32, Effect.NONE, low=1)
    num_stages: int = _int(1, Effect.NONE, low=0)
    num_ctas: int = _int(1, Effect.NONE, low=1)
    cluster_dims: tuple = _any((1, 1, 1))
    warp_size: int = _int(32, Effect.NONE, low=1)
    maxnreg: int = _int(None, Effect.NONE)
    enable_fp_fusion: bool = _switch(True, Effect.NONE)
    launch_cooperative_grid: bool = _switch(False, Effect.NONE)
    extern_libs: dict = _any(None)
    ir_override: str = _any(None, Effect.FRONT_END)
    instrumentation_mode: str = _any("", Effect.FRONT_END)
    backend_name: str = _any("npu")
    supported_fp8_dtypes: tuple = _any(
        ("fp8e5", "fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5b16"), Effect.FRONT_END
    )
    deprecated_fp8_dtypes: tuple = _any((), Effect.FRONT_END)
    deprecated_fp8_dot_operand_dtypes: tuple = _any((), Effect.FRONT_END)
    allow_fp8e4nv: bool = _switch(False, Effect.NONE)
    default_dot_input_precision: str = _any("ieee", Effect.FRONT_END)
    allowed_dot_input_precisions: tuple = _any(("ieee", "hf32"), Effect.FRONT_END)
    max_num_imprecise_acc_default: int = _int(0, Effect.FRONT_END)

    # Placeholders of other targets that scripts pass along.
    kernel_name: str = _any("triton_")
    llvm_version: int = _any(15)
    num_buffers_warp_spec: int = _any(0)
    num_consumer_groups: int = _any(0)
    reg_dec_producer: int = _any(0)
    reg_inc_consumer: int = _any(0)
    enable_warp_specialization: bool = _any(False)
    enable_persistent: bool = _any(False)
    optimize_epilogue: bool = _any(False)

    # Analyses of the middle end.
    compile_on_910_95: bool = _switch(None, Effect.PIPELINE)
    optimize_dynamic_offset: bool = _switch(False, Effect.PIPELINE)
    enable_mask_fallback_conversion: bool = _switch(False, Effect.PIPELINE)
    enable_select_analysis: bool = _switch(True, Effect.PIPELINE)
    discrete_mask: str = _opt("exact", str, Effect.PIPELINE, choices=("exact", "documented"))
    enable_sync_block_lock: bool = _switch(False)
    add_auto_scheduling: bool = _switch(False)

    # Flags of the NPU compiler.
    auto_tile_and_bind_subblock: bool = _switch(True)
    bisheng_options: str = _any(None, Effect.BISHENG)
    enable_ubuf_saving: bool = _switch(None)
    disable_tightly_coupled_buffer_reuse: bool = _switch(False)
    enable_mixed_cv: bool = _switch(None)
    enable_vf_fusion: bool = _switch(False)
    vf_merge_level: int = _int(1)
    hfusion_enable_multiple_consumer_fusion: bool = _switch(False)
    enable_cce_vf_auto_sync: bool = _switch(None)
    enable_cce_vf_remove_membar: bool = _switch(None)
    enable_drop_unit_dims: bool = _switch(None)
    enable_flatten: bool = _switch(None)
    enable_auto_vectorize_v2: bool = _switch(None)
    auto_vectorize_v2_max_fused_ops_num: int = _int(None)
    prevec_max_fused_ops_num: int = _int(None)
    disable_size_align_for_cast: bool = _switch(None)
    parallel_mode: str = _opt(
        "simd", str, Effect.PIPELINE, choices=("simd", "simt", "mix_simd_simt")
    )
    force_simt_only: bool = _switch(False, Effect.PIPELINE)
    force_simt_template: bool = _switch(False, Effect.PIPELINE)
    shared_mem_dynamic_size: int = _int(None)
    enable_bishengir_simt_optimization: int = _int(0)
    simt_stack_limit: int = _int(None)
    enable_simt_reorder_instruction: bool = _switch(False)
    disable_fma: bool = _switch(False)
    mix_mode: str = _opt("", str, Effect.BISHENG, choices=("", "aiv", "aic", "mix"))
    use_bytecode: bool = _switch(True, Effect.NONE)

    # Names of newer revisions.
    storage_align: object = _any(None, Effect.BISHENG)
    ops_reorder: object = _any(None, Effect.BISHENG)
    code_motion: object = _any(None, Effect.BISHENG)
    vf_fusion_mode: object = _any(None, Effect.BISHENG)
    enable_preload: object = _any(None, Effect.BISHENG)
    limit_auto_multi_buffer_buffer: object = _any(None, Effect.BISHENG)
    enable_dynamic_cv_pipeline: object = _any(None, Effect.BISHENG)
    enable_cube_block_merge: object = _any(None, Effect.BISHENG)
    has_auto_blockify_blacklist_op: object = _any(None, Effect.BISHENG)
    intra_cache_num: object = _any(None, Effect.BISHENG)
    inter_cache_num: object = _any(None, Effect.BISHENG)
    load_cache_num: object = _any(None, Effect.BISHENG)
    enable_costmodel_backend: object = _any(None, Effect.BISHENG)
    auto_simt_scope_mode: object = _any(None, Effect.BISHENG)
    auto_simt_scope_dump: object = _any(None, Effect.BISHENG)
    auto_simt_scope_margin: object = _any(None, Effect.BISHENG)
    superblock_factor: object = _any(None, Effect.BISHENG)

    def __post_init__(self):
        for spec in fields(self):
            value = _checked(spec, getattr(self, spec.name))
            object.__setattr__(self, spec.name, value)
        if self.compile_mode == "simt_only":
            object.__setattr__(self, "force_simt_only", True)
            object.__setattr__(self, "parallel_mode", "simt")
        elif self.compile_mode == "unstructured_in_simt":
            object.__setattr__(self, "force_simt_template", True)
        if self.extern_libs is not None and not isinstance(self.extern_libs, tuple):
            object.__setattr__(self, "extern_libs", tuple(dict(self.extern_libs).items()))

    def hash(self) -> str:
        """Digest of all names and values, part of the cache key."""
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return hashlib.sha256(text.encode()).hexdigest()


def _checked(spec, value):
    """`value` as the option stores it. Raises TypeError or ValueError naming the option."""
    rule = spec.metadata
    kind = rule["kind"]
    if value is None and rule["optional"]:
        return None
    if spec.name == "limit_auto_multi_buffer_of_local_buffer" and isinstance(value, bool):
        return "no-l0c" if value else "no-limit"
    if kind is bool:
        if value in (0, 1):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise TypeError(f"option {spec.name} takes True or False, not {value!r}")
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"option {spec.name} takes an integer, not {value!r}")
        if rule["choices"] is None and value < rule["low"]:
            raise ValueError(f"option {spec.name} is {value}; the smallest value is {rule['low']}")
    if kind is str and not isinstance(value, str):
        raise TypeError(f"option {spec.name} takes a string, not {value!r}")
    if rule["choices"] is not None and value not in rule["choices"]:
        allowed = ", ".join(repr(c) for c in rule["choices"])
        raise ValueError(f"option {spec.name} is {value!r}; it takes one of {allowed}")
    return value


_reported: set[str] = set()


def report_inert(given: dict, backend: str) -> None:
    """Says once a process and option that a non-default value has no effect here yet.

    given: the options the user named, checked or not. backend: simulator or bisheng.
    """
    if backend != "simulator":
        return
    for spec in fields(NPUOptions):
        if spec.metadata["effect"] is not Effect.BISHENG or spec.name not in given:
            continue
        default = None if spec.default is MISSING else spec.default
        value = given[spec.name]
        if value is None or value == default or spec.name in _reported:
            continue
        _reported.add(spec.name)
        warnings.warn(
            f"npu option {spec.name}={value!r} is checked and kept, but acts below the hand-over "
            "IR: it has no effect on the simulator's fast mode",
            stacklevel=2,
        )


def known_options() -> frozenset[str]:
    """The names that a launch or a Config may use."""
    return frozenset(spec.name for spec in fields(NPUOptions))
