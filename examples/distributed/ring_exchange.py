# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A ring: every PE's block of data visits every other PE, one step at a time, and is added up.

Two buffers alternate. The sender waits until its right neighbour has read a buffer before it writes
there again: one signal word says "full", another one, on the sender, says "empty". Data and its
signal go in one call, so the neighbour may be on another host.
"""

import argparse

import torch
import triton
import triton.language as tl

import triton_dist.language as dl
from job import SLOT, free, job, report, symmetric
from triton_dist.language.extra import libshmem_device


@triton.jit
def ring_sum(x, out, outgoing, buffers, full, empty, WORLD: tl.constexpr, BLOCK: tl.constexpr,
             SLOT: tl.constexpr):  # fmt: skip
    """x, out [programs * BLOCK] fp32; outgoing [programs * BLOCK] and buffers [2, programs *
    BLOCK], symmetric."""
    me, pid, programs = dl.rank(), tl.program_id(0), tl.num_programs(0)
    right, left = (me + 1) % WORLD, (me + WORLD - 1) % WORLD
    at = pid * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    total = value
    for step in range(WORLD - 1):
        side = step % 2
        word = (side * programs + pid) * SLOT
        place = buffers + side * programs * BLOCK
        dl.wait(empty + word, 1, "gpu", "acquire", waitValue=step // 2)
        tl.store(outgoing + at, value)
        libshmem_device.putmem_signal(
            place + pid * BLOCK, outgoing + pid * BLOCK, BLOCK * 4, full + word, step // 2 + 1,
            libshmem_device.ACLSHMEM_SIGNAL_SET, right,
        )  # fmt: skip
        token = dl.wait(full + word, 1, "gpu", "acquire", waitValue=step // 2 + 1)
        value = tl.load(dl.consume_token(place, token) + at)
        total += value
        libshmem_device.fence()
        dl.notify(empty + word, left, signal=step // 2 + 1)
    tl.store(out + at, total)


def run(rank, world, programs, block):
    torch.manual_seed(rank)
    x = torch.randn(programs * block)
    outgoing = symmetric((programs * block,), torch.float32, rank)
    buffers = symmetric((2, programs * block), torch.float32, rank)
    full = symmetric((2 * programs * SLOT,), torch.int32, rank)
    empty = symmetric((2 * programs * SLOT,), torch.int32, rank)
    device = buffers.device
    out = torch.empty(programs * block, device=device)
    ring_sum[(programs,)](
        x.to(device), out, outgoing, buffers, full, empty, WORLD=world, BLOCK=block, SLOT=SLOT
    )
    wanted = x.clone()
    torch.distributed.all_reduce(wanted)
    report("ring_exchange", rank, world, out, wanted, rtol=1e-5, atol=1e-5)
    free(outgoing, buffers, full, empty)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--block", type=int, default=1024)
    arguments = parser.parse_args()
    with job() as (rank, world):
        run(rank, world, arguments.programs, arguments.block)
