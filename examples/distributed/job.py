# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every distributed example does around its kernel: start the job, allocate symmetric
tensors, compare, and say per rank how it went.

Run with ``piton exec -- torchrun --nproc-per-node=2 examples/distributed/<name>.py``.
"""

import contextlib
import os
import sys

import torch
import torch.distributed as dist

import shmem as ash

#: Words of a signal array that belong to one slot: a cache line, so that no two cores write one.
SLOT = 16

#: Blocks of a kernel whose blocks wait for each other: at most the NPU's cores.
BLOCKS = 20


def use_npu(rank):
    """Tensors lie on the npu device where torch has one (`piton exec`), else on the CPU."""
    try:
        import torch_npu  # noqa: F401 (makes torch.npu)
    except ImportError:
        return
    torch.npu.set_device(rank % torch.npu.device_count())


@contextlib.contextmanager
def job(heap_bytes=256 << 20):
    """The PE's rank and the number of PEs; the symmetric heap lives as long as the block."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    use_npu(rank)
    dist.init_process_group(backend="gloo")
    ash.set_conf_store_tls(False, "")
    attributes = ash.InitAttr()
    attributes.my_rank = rank
    attributes.n_ranks = world
    attributes.local_mem_size = heap_bytes
    attributes.ip_port = os.environ.get("PITON_EXAMPLE_STORE", "tcp://127.0.0.1:8666")
    attributes.option_attr.data_op_engine_type = ash.OpEngineType.MTE
    status = ash.aclshmem_init(attributes)
    if status != 0:
        raise RuntimeError(f"aclshmem_init gave {status}")
    try:
        yield rank, world
    finally:
        ash.aclshmem_finialize()
        dist.destroy_process_group()


def symmetric(shape, dtype, rank):
    """A zeroed tensor at the same place of every PE's heap. Collective."""
    tensor = ash.aclshmem_create_tensor(list(shape), dtype=dtype, device_id=rank)
    tensor.zero_()
    dist.barrier()
    return tensor


def free(*tensors):
    """Collective."""
    dist.barrier()
    for tensor in tensors:
        ash.aclshmem_free_tensor(tensor)


def refuse(rank, reason):
    """Ends every rank alike, with one line from rank 0. For arguments that do not fit."""
    if rank == 0:
        print(f"error: {reason}", file=sys.stderr, flush=True)
    raise SystemExit(2)


def difference(got, wanted, rtol=0.0, atol=0.0):
    """The error that says how the tensors differ, or None."""
    if got.shape == wanted.shape and torch.allclose(got, wanted, rtol=rtol, atol=atol):
        return None  # assert_close imports some seconds' worth of modules on its first call
    try:
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol)
    except AssertionError as error:
        return error
    return None


def report(name, rank, world, got, wanted, **tolerances):
    """Compares on every rank, prints one line a rank in order, raises where it differs."""
    error = difference(got.cpu(), wanted.cpu(), **tolerances)
    for turn in range(world):
        dist.barrier()
        if turn == rank:
            print(f"[{'FAIL' if error else 'PASS'}] Rank {rank}: {name}", flush=True)
    dist.barrier()
    if error:
        raise error
