# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What distributed kernels use: ``import triton_dist.language as dl``."""

from .distributed_ops import (
    consume_token,
    extern_call,
    notify,
    num_ranks,
    rank,
    symm_at,
    wait,
)

__all__ = ["consume_token", "extern_call", "notify", "num_ranks", "rank", "symm_at", "wait"]

_FOR_GPUS = (
    "extract", "insert", "ld_vector", "make_vector", "simt_exec_region", "st_vector", "tma",
    "vector", "zeros_vector",
)  # fmt: skip


def __getattr__(name):
    if name in _FOR_GPUS:
        raise AttributeError(f"dl.{name} is for GPUs; it is not built yet")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
