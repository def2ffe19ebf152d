# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-to-all of bf16 rows with one signal slot per block and source, that the host zeroes before
each launch: as many programs as the NPU has vector cores, even ones send, odd ones receive.

Checked against dist.all_to_all_single at lengths that no tile divides.
"""

import sys

import torch
import torch.distributed as dist
import triton
import triton.language as tl

import shmem as ash
import triton_dist.language as dl
from public_job import end, start, verdict
from triton_dist.language.extra import libshmem_device

SIGNAL_SLOT_STRIDE = 64 // torch.int32.itemsize


@triton.jit
def copy_rows(source, target, count, HIDDEN, block, blocks, BM: tl.constexpr,
              BN: tl.constexpr):  # fmt: skip
    """This block's share of `count` rows."""
    for row in range(block * BM, count, blocks * BM):
        for col in range(0, HIDDEN, BN):
            r, c = row + tl.arange(0, BM), col + tl.arange(0, BN)
            inside = (r[:, None] < count) & (c[None, :] < HIDDEN)
            at = r[:, None] * HIDDEN + c[None, :]
            tl.store(target + at, tl.load(source + at, mask=inside), mask=inside)


@triton.jit
def kernel(x, out, box, words, counts, CAPACITY, HIDDEN, WORLD: tl.constexpr, BM: tl.constexpr,
           BN: tl.constexpr, SLOT: tl.constexpr):  # fmt: skip
    """x, out [rows, HIDDEN]; box [WORLD, CAPACITY, HIDDEN] symmetric; counts [from, to]."""
    me, pid = dl.rank(), tl.program_id(0)
    block, blocks = pid // 2, tl.num_programs(0) // 2
    first = 0
    if pid % 2 == 0:
        for target in range(WORLD):
            count = tl.load(counts + me * WORLD + target)
            remote = dl.symm_at(box + me * CAPACITY * HIDDEN, target)
            copy_rows(x + first * HIDDEN, remote, count, HIDDEN, block, blocks, BM, BN)
            libshmem_device.fence()
            dl.notify(words + (block * WORLD + me) * SLOT, target, signal=1)
            first += count
    else:
        for source in range(WORLD):
            count = tl.load(counts + source * WORLD + me)
            word = words + (block * WORLD + source) * SLOT
            token = dl.wait(word, 1, "gpu", "acquire", waitValue=1)
            rows = dl.consume_token(box + source * CAPACITY * HIDDEN, token)
            copy_rows(rows, out + first * HIDDEN, count, HIDDEN, block, blocks, BM, BN)
            first += count


def random_counts(world, length):
    """Rows from each rank to each: `length` rows of every rank, cut at random; equal everywhere."""
    generator = torch.Generator().manual_seed(length)
    cuts = torch.randint(0, length + 1, (world, world - 1), generator=generator).sort(dim=1).values
    ends = torch.cat([cuts, torch.full((world, 1), length)], dim=1)
    return torch.diff(ends, dim=1, prepend=torch.zeros(world, 1, dtype=ends.dtype))


def all_to_all(x, counts, box, words, rank, world):
    """Rows that all ranks have for this one."""
    cores = triton.runtime.driver.active.utils.get_device_properties(torch.npu.current_device())
    words.zero_()
    torch.npu.synchronize()
    dist.barrier()
    out = torch.empty((int(counts[:, rank].sum()), x.shape[1]), dtype=x.dtype, device=x.device)
    kernel[(cores["num_vectorcore"], 1, 1)](
        x, out, box, words, counts.to(torch.int32).npu(), x.shape[0], x.shape[1], WORLD=world,
        BM=16, BN=128, SLOT=SIGNAL_SLOT_STRIDE,
    )  # fmt: skip
    torch.npu.synchronize()
    return out


if __name__ == "__main__":
    lengths = [int(x) for x in sys.argv[1:]] or [2040, 2048, 4095, 8191]
    rank, world = start()
    box = ash.aclshmem_create_tensor(
        [world * max(lengths) * 7 * 128], dtype=torch.bfloat16, device_id=rank
    )
    words = ash.aclshmem_create_tensor(
        [20 * world * SIGNAL_SLOT_STRIDE], dtype=torch.int32, device_id=rank
    )
    torch.manual_seed(rank)
    for length in lengths:
        hidden = 128 * (length % 7 + 1)
        x = torch.randn((length, hidden), dtype=torch.bfloat16).npu()
        counts = random_counts(world, length)
        got = all_to_all(x, counts, box, words, rank, world)
        wanted = torch.empty_like(got)
        dist.all_to_all_single(wanted, x, counts[:, rank].tolist(), counts[rank].tolist())
        verdict(rank, world, got, wanted)
    ash.aclshmem_free_tensor(words)
    ash.aclshmem_free_tensor(box)
    end()
