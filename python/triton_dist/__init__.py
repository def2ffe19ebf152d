# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton-distributed for Ascend: kernels that run on several processing elements (PEs).

``triton_dist.language`` is what kernels use; memory is shared with the package ``shmem``.
"""

from .jit import jit

__all__ = ["jit"]
