# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Low-level functions of a core (thread ids, atomics, raw loads), where the platform has them.

Looked up at the call, as in libshmem_device. Ascend has none.
"""

from __future__ import annotations

from triton.language import core

from ...utils import ModuleProxy, is_ascend, is_cuda, is_hip, is_maca
from .ascend import language_extra as _ascend
from .platforms import missing

_proxy = ModuleProxy(
    [
        (is_ascend, _ascend),
        (is_cuda, missing("CUDA", "language_extra")),
        (is_hip, missing("HIP", "language_extra")),
        (is_maca, missing("MACA", "language_extra")),
    ]
)


_NAMES = [
    "tid", "atomic_cas", "atomic_add", "__syncthreads", "ld", "st", "ld_vector", "st_vector",
    "pack", "unpack", "num_threads", "num_warps",
]  # fmt: skip
_proxy.declare(_NAMES, globals())


@core.builtin
def threads_per_warp(_semantic=None):
    """Threads of a warp: 32 on CUDA, 64 on HIP. NotImplementedError elsewhere."""
    if is_cuda():
        return core.constexpr(32)
    if is_hip():
        return core.constexpr(64)
    raise NotImplementedError("threads_per_warp: this platform has no warps")
