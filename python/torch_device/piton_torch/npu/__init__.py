# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.npu`: the Python side of the simulated NPU device of torch.

Devices, streams, events, memory figures, random numbers and mixed precision under the names that
Ascend scripts use. The work is torch's own (`torch.accelerator`, `torch.amp`) over the C++
device; the module adds names and checks.
"""

from __future__ import annotations

import sys

import torch

from . import amp, backends, memory, random, streams, utils
from ._device import (
    DeviceProperties,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    set_device,
)
from .backends import (
    aclnn,
    config,
    conv,
    get_option,
    is_jit_compile_false,
    matmul,
    set_compile_mode,
    set_option,
)
from .memory import (
    empty_cache,
    get_allocator_backend,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
    synchronize,
)

__all__ = [
    "DeviceProperties",
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "aclnn",
    "amp",
    "backends",
    "can_device_access_peer",
    "config",
    "conv",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_allocator_backend",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_option",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_jit_compile_false",
    "manual_seed",
    "manual_seed_all",
    "matmul",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "random",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_compile_mode",
    "set_device",
    "set_option",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "streams",
    "synchronize",
    "utils",
]


def init() -> None:
    """Nothing to do: the device is ready when torch is imported."""


_lazy_init = init  # torch's C++ calls it when a tensor is made


def is_initialized() -> bool:
    """True: see init()."""
    return True


def _is_in_bad_fork() -> bool:
    return False


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The types that autocast takes on this device."""
    return [torch.float16, torch.bfloat16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True: every SoC that is simulated has bfloat16."""
    return True


def __getattr__(name: str):
    if name == "default_generators":
        return tuple(random.default_generator(index) for index in range(device_count()))
    raise AttributeError(f"module 'torch.npu' has no attribute {name!r}")


def name_submodules(name: str) -> None:
    """Makes `import <name>.amp` and the like give these modules, not second copies of them."""
    for part in ("amp", "backends", "memory", "random", "streams", "utils"):
        sys.modules[f"{name}.{part}"] = sys.modules[f"{__name__}.{part}"]
    for module in (aclnn, config, conv, matmul):
        sys.modules[f"{name}.{module.__name__.rpartition('.')[2]}"] = module
    sys.modules.setdefault(name, sys.modules[__name__])


name_submodules("torch.npu")
