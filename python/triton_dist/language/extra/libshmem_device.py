# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device functions of the communication library, whatever the platform.

Each name calls the platform module's function of that name, looked up at the call; a name that the
platform lacks gives AttributeError there. On Ascend: ascend/libaclshmem_device.py.
"""

from __future__ import annotations

from triton.language import core

from ...utils import ModuleProxy, is_ascend, is_cuda, is_hip, is_maca
from .ascend import libaclshmem_device
from .platforms import missing

_proxy = ModuleProxy(
    [
        (is_ascend, libaclshmem_device),
        (is_cuda, missing("CUDA", "libshmem_device")),
        (is_hip, missing("HIP", "libshmem_device")),
        (is_maca, missing("MACA", "libshmem_device")),
    ]
)

_GROUPS = ("", "_block", "_warp", "_wave", "_wg")
_NAMES = [
    "my_pe", "n_pes", "team_my_pe", "team_n_pes", "team_translate_pe", "int_p", "remote_ptr",
    "remote_mc_ptr", "barrier_all_vec", "barrier_vec", "quiet", "quiet_pe", "fence", "signal_op",
    "signal_wait_until", "uint64_wait_until_equals", "ulong_put_signal", "putmem_rma",
    "putmem_rma_block", "putmem_rma_warp",
]  # fmt: skip
_NAMES += [
    f"{stem}{group}"
    for stem in (
        "barrier_all", "barrier", "sync_all", "team_sync", "broadcast", "fcollect", "getmem",
        "getmem_nbi", "putmem", "putmem_nbi", "putmem_signal", "putmem_signal_nbi",
    )
    for group in _GROUPS
]  # fmt: skip

NVSHMEM_CMP_EQ = core.constexpr(0)
NVSHMEM_CMP_NE = core.constexpr(1)
NVSHMEM_CMP_GT = core.constexpr(2)
NVSHMEM_CMP_LE = core.constexpr(3)
NVSHMEM_CMP_LT = core.constexpr(4)
NVSHMEM_CMP_GE = core.constexpr(5)
NVSHMEM_SIGNAL_SET = core.constexpr(9)
NVSHMEM_SIGNAL_ADD = core.constexpr(10)
ROCSHMEM_CMP_EQ = core.constexpr(0)
ROCSHMEM_CMP_NE = core.constexpr(1)
ROCSHMEM_CMP_GT = core.constexpr(2)
ROCSHMEM_CMP_GE = core.constexpr(3)
ROCSHMEM_CMP_LT = core.constexpr(4)
ROCSHMEM_CMP_LE = core.constexpr(5)
ROCSHMEM_SIGNAL_SET = core.constexpr(0)
ROCSHMEM_SIGNAL_ADD = core.constexpr(1)


_proxy.declare(_NAMES, globals())


def __getattr__(name):
    """Constants and functions that only this platform has."""
    return getattr(_proxy, name)
