# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts for Triton-distributed on Ascend do around their kernels, call by call: device by
LOCAL_RANK, process group `hccl`, symmetric heap with the published address, collectives on npu
tensors, one line a rank in order.

These scripts are tests of the surface that unmodified programs touch; examples/distributed/ shows
how Piton's own are written. PITON_EXAMPLE_STORE overrides the address, for several jobs at once.
"""

import os

import torch
import torch.distributed as dist

import shmem as ash
import torch_npu  # noqa: F401

GIB = 1024 * 1024 * 1024


def start(heap=GIB, engine="MTE"):
    """Rank and number of ranks of this process under torchrun."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.npu.set_device(rank)
    dist.init_process_group(backend="hccl", rank=rank)
    world = dist.get_world_size()
    start_heap(rank, world, heap, engine)
    return rank, world


def start_heap(rank, world, heap=GIB, engine="MTE"):
    """The five steps."""
    assert ash.set_conf_store_tls(False, "") == 0
    attributes = ash.InitAttr()
    attributes.my_rank = rank
    attributes.n_ranks = world
    attributes.local_mem_size = heap
    attributes.ip_port = os.environ.get("PITON_EXAMPLE_STORE", "tcp://127.0.0.1:8666")
    attributes.option_attr.data_op_engine_type = getattr(ash.OpEngineType, engine)
    status = ash.aclshmem_init(attributes)
    assert status == 0, f"aclshmem_init gave {status}"


def end():
    """Heap, then process group."""
    ash.aclshmem_finialize()
    dist.destroy_process_group()


def verdict(rank, world, got, wanted, rtol=1e-3, atol=1e-3):
    """Compares, gathers every rank's flag, prints its line in order, raises what differed. The
    published tolerances are more than one unit of fp16, where two sums round apart."""
    failure = None
    try:
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol)
    except AssertionError as error:
        failure = error
    flag = torch.tensor([failure is None], dtype=torch.int32).npu()
    flags = [torch.zeros_like(flag) for _ in range(world)]
    dist.all_gather(flags, flag)
    for turn in range(world):
        if turn == rank:
            mark = "PASS" if flags[rank].item() else "FAIL"
            print(f"[{mark}] Rank {rank}: {failure or 'results match'}", flush=True)
        dist.barrier()
    if failure is not None:
        raise failure
