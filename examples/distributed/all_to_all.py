# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixture of experts: tokens go to the rank of their expert and come back (dispatch, combine).

Rank r has `tokens` rows, sorted by the rank that they go to. Dispatch puts each group where its
target expects it and signals the number of rows; the expert (here: times its rank + 1) waits, works
and puts the group back.
"""

import argparse

import torch
import triton
import triton.language as tl

import triton_dist.language as dl
from job import SLOT, free, job, report, symmetric
from triton_dist.language.extra import libshmem_device


@triton.jit
def dispatch(tokens, starts, inbox, arrived, CAPACITY: tl.constexpr, HIDDEN: tl.constexpr,
             SLOT: tl.constexpr):  # fmt: skip
    """Program p sends the rows for PE p. arrived[source] becomes their number + 1."""
    me, target = dl.rank(), tl.program_id(0)
    first, last = tl.load(starts + target), tl.load(starts + target + 1)
    place = inbox + me * CAPACITY * HIDDEN
    # dtypes of both ends are equal; sizes are in bytes
    libshmem_device.putmem(place, tokens + first * HIDDEN, (last - first) * HIDDEN * 4, target)
    libshmem_device.fence()
    dl.notify(arrived + me * SLOT, target, signal=last - first + 1)


@triton.jit
def expert(inbox, arrived, outbox, returned, CAPACITY: tl.constexpr, HIDDEN: tl.constexpr,
           BLOCK: tl.constexpr, SLOT: tl.constexpr):  # fmt: skip
    """Program p serves the rows that came from PE p and puts the results into its outbox."""
    me, source = dl.rank(), tl.program_id(0)
    count = libshmem_device.signal_wait_until(
        arrived + source * SLOT, libshmem_device.ACLSHMEM_CMP_GT, 0
    )
    rows = count - 1
    mine = inbox + source * CAPACITY * HIDDEN
    for start in range(0, rows * HIDDEN, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < rows * HIDDEN
        x = tl.load(mine + at, mask=inside)
        tl.store(mine + at, x * (me + 1).to(tl.float32), mask=inside)
    libshmem_device.putmem_signal(
        outbox + me * CAPACITY * HIDDEN, mine, rows * HIDDEN * 4, returned + me * SLOT, 1,
        libshmem_device.ACLSHMEM_SIGNAL_SET, source,
    )  # fmt: skip
    dl.wait(returned + source * SLOT, 1, "gpu", "acquire")


def run(rank, world, tokens, hidden):
    generator = torch.Generator().manual_seed(7 + rank)
    cuts = torch.sort(torch.randint(0, tokens + 1, (world - 1,), generator=generator)).values
    starts = torch.cat([torch.tensor([0]), cuts, torch.tensor([tokens])]).to(torch.int32)
    x = torch.randn(tokens, hidden, generator=generator)
    inbox = symmetric((world, tokens, hidden), torch.float32, rank)
    outbox = symmetric((world, tokens, hidden), torch.float32, rank)
    arrived = symmetric((world * SLOT,), torch.int32, rank)
    returned = symmetric((world * SLOT,), torch.int32, rank)
    x_device, starts_device = x.to(inbox.device), starts.to(inbox.device)
    sizes = {"CAPACITY": tokens, "HIDDEN": hidden, "SLOT": SLOT}
    dispatch[(world,)](x_device, starts_device, inbox, arrived, **sizes)
    expert[(world,)](inbox, arrived, outbox, returned, BLOCK=1024, **sizes)
    got = torch.cat([outbox[e, : starts[e + 1] - starts[e]].cpu() for e in range(world)])
    experts = torch.repeat_interleave(torch.arange(world), starts.diff().long())
    report("all_to_all", rank, world, got, x * (experts + 1)[:, None].float())
    free(inbox, outbox, arrived, returned)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--hidden", type=int, default=64)
    arguments = parser.parse_args()
    with job() as (rank, world):
        run(rank, world, arguments.tokens, arguments.hidden)
