# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`triton_dist.jit`: `triton.jit` with what the platform's communication library needs."""

from __future__ import annotations

import triton


def get_shmem_extern_lib() -> dict:
    """Bitcode libraries by name to link into every kernel.

    Empty on Ascend: the back end links its device library by the names that kernels call.
    """
    return {}


def jit(fn=None, **options):
    """As `triton.jit`, with or without options: `@jit`, `@jit(do_not_specialize=...)`."""
    return triton.jit(fn, **options)
