# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`hccl` for torch.distributed: gloo on the memory of npu tensors, without copies.

The group's back end is gloo's. The device's C++ side sends each collective on npu tensors to it,
on CPU tensors over the same memory. An all-reduce of ranks that are all on one host goes through
memory that they share instead, if every rank can open it. As on hardware the back end serves npu
tensors only: a CPU tensor in an hccl group is torch's own error; `cpu:gloo,npu:hccl` takes both.
"""

from __future__ import annotations

import os

import torch.distributed as dist

from .npu._native import ops


def share(options) -> None:
    """Gives all ranks of the group the memory for all-reduces, or none of them.

    Every member calls this; it talks over the group's store. PITON_HCCL_SHARED=0 at any rank
    leaves the group to gloo.
    """
    store = dist.PrefixStore("piton", options.store)
    group, rank, size = options.group_id, options.group_rank, options.group_size
    willing = os.environ.get("PITON_HCCL_SHARED", "1") != "0"
    if rank == 0:
        address = ops().hccl_offer(group, size) if willing else ""
        store.set("memory", address)
        joined = [store.get(f"joined{other}") == b"1" for other in range(1, size)]
        decision = b"1" if address and all(joined) else b"0"
        store.set("decision", decision)
    else:
        address = store.get("memory").decode()
        joined = willing and address and ops().hccl_join(group, rank, size, address)
        store.set(f"joined{rank}", b"1" if joined else b"0")
        decision = store.get("decision")
    if decision != b"1":
        ops().hccl_drop(group)


def create(options, _backend_options):
    """The back end of one group. Called by torch on each member; `options` has the store, rank and
    size in the group, timeout and name."""
    backend = dist.ProcessGroupGloo(
        options.store, options.group_rank, options.group_size, options.timeout
    )
    if options.group_size > 1:
        share(options)
    return backend


def register() -> None:
    """Makes the name hccl known, once a process; nothing where torch has no gloo."""
    if not dist.is_available() or not dist.is_gloo_available() or hasattr(dist.Backend, "HCCL"):
        return
    dist.Backend.register_backend("hccl", create, extended_api=True, devices=["npu"])
