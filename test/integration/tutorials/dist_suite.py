# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The four checks of the public suite for Ascend, as that suite runs: pytest marker `dist`, one
spawned process a rank, back end hccl, MASTER_PORT, failures through a queue.

Run with `piton exec -- pytest test/integration/tutorials/dist_suite.py -m dist`. WORLD is the
number of ranks (2), except where the check is made for two.
"""

import os
import pathlib
import sys
import traceback

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import triton
import triton.language as tl

import torch_npu  # noqa: F401

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import public_job  # noqa: E402
import shmem as ash  # noqa: E402
import triton_dist.language as dl  # noqa: E402
from triton_dist.language.extra import libshmem_device  # noqa: E402

pytestmark = pytest.mark.dist
WORLD = int(os.environ.get("WORLD", "2"))


@triton.jit
def add_my_pe(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.rank())


@triton.jit
def add_num_ranks(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.num_ranks())


@triton.jit
def read_next(data, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    next_rank = (dl.rank() + 1) % dl.num_ranks()
    tl.store(out + lanes, tl.load(dl.symm_at(data, next_rank) + lanes))
    libshmem_device.barrier_all_vec()


@triton.jit
def wait_and_notify(data, signal, out):
    pid, rank, world = tl.program_id(0), dl.rank(), dl.num_ranks()
    if rank == 0:
        token = dl.wait(signal + pid, world - 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token)
        tl.store(out + pid, tl.load(data + pid))
    else:
        tl.store(dl.symm_at(data, 0) + pid, (rank * 100 + pid).to(tl.int64))
        dl.notify(signal + pid, 0, signal=1, sig_op="set", comm_scope="intra_node")


def symmetric(count, rank, values):
    tensor = ash.aclshmem_create_tensor((count,), dtype=torch.int64, device_id=rank)
    tensor.copy_(values)
    torch.npu.synchronize()
    dist.barrier()
    return tensor


def check_my_pe(rank, world):
    out = torch.zeros(32, dtype=torch.int64, device="npu")
    add_my_pe[(3,)](out)
    wanted = torch.tensor([rank] * 3 + [0] * 29, dtype=torch.int64)
    torch.testing.assert_close(out.cpu(), wanted)


def check_num_ranks(rank, world):
    out = torch.zeros(32, dtype=torch.int64, device="npu")
    add_num_ranks[(3,)](out)
    wanted = torch.tensor([world] * 3 + [0] * 29, dtype=torch.int64)
    torch.testing.assert_close(out.cpu(), wanted)


def check_symm_at(rank, world):
    data = symmetric(32, rank, torch.arange(32) + 100 * rank)
    out = torch.empty(32, dtype=torch.int64, device=data.device)
    read_next[(1,)](data, out, 32)
    torch.testing.assert_close(out.cpu(), torch.arange(32) + 100 * ((rank + 1) % world))
    ash.aclshmem_free_tensor(data)


def check_wait_notify(rank, world):
    data, signal = (symmetric(8, rank, torch.zeros(8, dtype=torch.int64)) for _ in range(2))
    out = torch.zeros(8, dtype=torch.int64, device="npu")
    wait_and_notify[(1,)](data, signal, out)
    torch.npu.synchronize()
    if rank == 0:
        assert out[0].item() == 100 * (world - 1), out
    dist.barrier()
    ash.aclshmem_free_tensor(signal)
    ash.aclshmem_free_tensor(data)


def worker(rank, world, check, queue):
    try:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")
        torch.npu.set_device(rank)
        dist.init_process_group(backend="hccl", rank=rank, world_size=world)
        public_job.start_heap(rank, world)
        check(rank, world)
        public_job.end()
    except Exception:
        queue.put((rank, traceback.format_exc()))
        raise


def on_ranks(check, world):
    queue = mp.get_context("spawn").SimpleQueue()
    try:
        mp.spawn(worker, args=(world, check, queue), nprocs=world, join=True)
    except Exception as error:
        messages = []
        while not queue.empty():
            rank, text = queue.get()
            messages.append(f"rank {rank}:\n{text}")
        pytest.fail("\n".join(messages) or str(error))


def test_my_pe():
    on_ranks(check_my_pe, WORLD)


def test_num_ranks():
    on_ranks(check_num_ranks, WORLD)


def test_symm_at():
    on_ranks(check_symm_at, WORLD)


def test_wait_notify():
    on_ranks(check_wait_notify, 2)
