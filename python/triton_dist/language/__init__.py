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
