# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`hccl` for torch.distributed: gloo on the memory of npu tensors, without copies.

The group's back end is gloo's. The device's C++ side sends each collective on npu tensors to it,
on CPU tensors over the same memory. As on hardware the back end serves npu tensors only: a CPU
tensor in an hccl group is torch's own error; `cpu:gloo,npu:hccl` takes both.
"""

from __future__ import annotations

import torch.distributed as dist


def create(store, rank: int, size: int, timeout):
    """The back end of one group. Called by torch on each member, with a timedelta as timeout."""
    return dist.ProcessGroupGloo(store, rank, size, timeout)


def register() -> None:
    """Makes the name hccl known, once a process; nothing where torch has no gloo."""
    if not dist.is_available() or not dist.is_gloo_available() or hasattr(dist.Backend, "HCCL"):
        return
    dist.Backend.register_backend("hccl", create, devices=["npu"])
