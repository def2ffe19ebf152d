# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the stand-in torch_npu holds: the device under its names, fused operators, the profiler."""

import sys

import torch

if not hasattr(torch, "npu"):  # TORCH_DEVICE_BACKEND_AUTOLOAD=0, or the device is not installed
    try:
        import piton_torch.device  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "torch_npu's stand-in needs Piton's npu device for torch: install piton-torch, built "
            f"for this torch ({torch.__version__}); {error}"
        ) from error

import torch.npu as npu  # noqa: E402

from piton_torch import profiler  # noqa: E402

npu.name_submodules("torch_npu.npu")
sys.modules["torch_npu.profiler"] = profiler

from . import _C, contrib, version  # noqa: E402
from ._attention import npu_fusion_attention  # noqa: E402
from ._operators import (  # noqa: E402
    empty_with_format,
    fast_gelu,
    get_npu_format,
    npu_dtype_cast,
    npu_fast_gelu,
    npu_format_cast,
    npu_format_cast_,
    npu_rms_norm,
    npu_rotary_mul,
    npu_silu,
    npu_swiglu,
)

__version__ = version.__version__

__all__ = [
    "_C",
    "contrib",
    "empty_with_format",
    "fast_gelu",
    "get_npu_format",
    "npu",
    "npu_dtype_cast",
    "npu_fast_gelu",
    "npu_format_cast",
    "npu_format_cast_",
    "npu_fusion_attention",
    "npu_rms_norm",
    "npu_rotary_mul",
    "npu_silu",
    "npu_swiglu",
    "profiler",
    "version",
]


def missing_attribute(name: str) -> str:
    """The text of the error for a name that the stand-in does not have."""
    return (
        f"Piton's stand-in for torch_npu has no {name!r}; it has "
        f"{', '.join(sorted(n for n in __all__ if not n.startswith('_')))}"
    )
