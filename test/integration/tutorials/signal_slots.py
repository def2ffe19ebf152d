# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signal slots under load: the protocol that published kernels use instead of barriers.

Even programs produce, odd ones consume. The word of (side, block, source) stands SLOT elements from
the next one, because two cores must not write one cache line. Producer: wait until the target's
word is 0 again, store, fence, notify 1. Consumer: wait for 1, load through the token, fence, notify
0. Then: one word that everybody waits for, one that everybody adds to, and a wait over many slots.
"""

import sys

import torch
import torch.distributed as dist
import triton
import triton.language as tl

import shmem as ash
import triton_dist.language as dl
from public_job import end, start
from triton_dist.language.extra import libshmem_device

#: Bytes between two words that different cores write.
LINE = 64


@triton.jit
def sent(turn, block, source, target, lanes):
    """What `source` sends in a turn; no two messages are equal."""
    return ((turn * 64 + block) * 8 + source) * 8192 + target * 1024 + lanes


@triton.jit
def exchange(data, words, out, ROUNDS: tl.constexpr, WORLD: tl.constexpr, N: tl.constexpr,
             SLOT: tl.constexpr):  # fmt: skip
    """data [2, blocks, WORLD, N] int32, words [2, blocks, WORLD, SLOT], both symmetric;
    out [ROUNDS, blocks, WORLD, N] int32."""
    pid, me = tl.program_id(0), dl.rank()
    block, blocks = pid // 2, tl.num_programs(0) // 2
    lanes = tl.arange(0, N)
    for turn in range(ROUNDS):
        first = ((turn % 2) * blocks + block) * WORLD
        for i in range(WORLD):
            if pid % 2 == 0:
                target = (me + i) % WORLD
                word = words + (first + me) * SLOT
                dl.wait(dl.symm_at(word, target), 1, "sys", "acquire", waitValue=0)
                place = dl.symm_at(data + (first + me) * N, target)
                tl.store(place + lanes, sent(turn, block, me, target, lanes))
                libshmem_device.fence()
                dl.notify(word, target, signal=1)
            else:
                source = (me + WORLD - i) % WORLD
                word = words + (first + source) * SLOT
                token = dl.wait(word, 1, "gpu", "acquire", waitValue=1)
                place = dl.consume_token(data + (first + source) * N, token)
                value = tl.load(place + lanes)
                tl.store(out + ((turn * blocks + block) * WORLD + source) * N + lanes, value)
                libshmem_device.fence()
                dl.notify(word, me, signal=0)


@triton.jit
def one_word_many_waiters(word, seen, ROUNDS: tl.constexpr, WORLD: tl.constexpr,
                          SLOT: tl.constexpr):  # fmt: skip
    """All programs of all PEs wait for one word of their PE, then count themselves at PE 0, whose
    program 0 raises the words once all are there. word [2 * SLOT]: gate, counter; symmetric."""
    pid, me, programs = tl.program_id(0), dl.rank(), tl.num_programs(0)
    gate, count = word, word + SLOT
    for turn in range(ROUNDS):
        if (pid == 0) & (me == 0):
            dl.wait(count, 1, "gpu", "acquire", waitValue=turn * programs * WORLD)
            for pe in range(WORLD):
                dl.notify(gate, pe, signal=turn + 1)
        dl.wait(gate, 1, "gpu", "acquire", waitValue=turn + 1)
        tl.store(seen + turn * programs + pid, tl.load(gate))
        libshmem_device.fence()
        dl.notify(count, 0, signal=1, sig_op="add")


@triton.jit
def all_slots(words, data, out, WORLD: tl.constexpr, SLOT: tl.constexpr):
    """Every PE signals everybody; one wait stands for the slots of all. data [WORLD]."""
    me = dl.rank()
    for pe in range(WORLD):
        tl.store(dl.symm_at(data + me, pe), me * 7 + pe)
        dl.notify(words + me * SLOT, pe, signal=5)
    token = dl.wait(words, WORLD, "gpu", "acquire", waitValue=5)
    from_all = dl.consume_token(data, token)
    for source in range(WORLD):
        tl.store(out + source, tl.load(from_all + source))


def symmetric(shape, dtype, rank, value):
    tensor = ash.aclshmem_create_tensor(list(shape), dtype=dtype, device_id=rank)
    tensor.fill_(value)
    torch.npu.synchronize()
    dist.barrier()
    return tensor


def check_exchange(rank, world, blocks, rounds, n, dtype):
    slot = LINE // dtype.itemsize
    data = symmetric((2, blocks, world, n), torch.int32, rank, -1)
    words = symmetric((2, blocks, world, slot), dtype, rank, -9)
    words[..., 0] = 0
    torch.npu.synchronize()
    dist.barrier()
    out = torch.full((rounds, blocks, world, n), -2, dtype=torch.int32).npu()
    exchange[(2 * blocks,)](data, words, out, ROUNDS=rounds, WORLD=world, N=n, SLOT=slot)
    torch.npu.synchronize()
    dist.barrier()
    turn, block, source, lane = torch.meshgrid(
        *(torch.arange(extent, dtype=torch.int32) for extent in out.shape), indexing="ij"
    )
    wanted = ((turn * 64 + block) * 8 + source) * 8192 + rank * 1024 + lane
    assert torch.equal(out.cpu(), wanted), "a message was lost, late or twice"
    words = words.cpu()
    assert (words[..., 0] == 0).all(), "a slot was not given back"
    assert (words[..., 1:] == -9).all(), "something wrote between the slots"


def check_waiters(rank, world, programs, rounds):
    slot = LINE // 4
    word = symmetric((2 * slot,), torch.int32, rank, 0)
    seen = torch.zeros(rounds, programs, dtype=torch.int32).npu()
    one_word_many_waiters[(programs,)](word, seen, ROUNDS=rounds, WORLD=world, SLOT=slot)
    torch.npu.synchronize()
    dist.barrier()
    wanted = torch.arange(1, rounds + 1, dtype=torch.int32)[:, None].expand(rounds, programs)
    assert torch.equal(seen.cpu(), wanted), seen
    counted = rounds * programs * world if rank == 0 else 0
    assert word.cpu()[0] == rounds and word.cpu()[slot] == counted, word


def check_all_slots(rank, world, dtype):
    slot = LINE // dtype.itemsize
    words = symmetric((world * slot,), dtype, rank, 0)
    data = symmetric((world,), torch.int32, rank, 0)
    out = torch.zeros(world, dtype=torch.int32).npu()
    all_slots[(1,)](words, data, out, WORLD=world, SLOT=slot)
    assert out.cpu().tolist() == [source * 7 + rank for source in range(world)], out
    dist.barrier()


if __name__ == "__main__":
    blocks, rounds = (int(x) for x in sys.argv[1:3]) if sys.argv[1:] else (20, 20)
    rank, world = start(heap=64 << 20)
    for dtype in (torch.int32, torch.int64):
        check_exchange(rank, world, blocks, rounds, 64, dtype)
        check_all_slots(rank, world, dtype)
    check_waiters(rank, world, 2 * blocks, rounds)
    print(f"[PASS] Rank {rank}: signal slots", flush=True)
    end()
