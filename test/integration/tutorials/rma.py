# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the device library as the later public checks use them: teams, the six forms of put and
get on a ring with epochs made of signals, signal_op, ping-pong, single words, remote pointers.

With an engine as argument (MTE, SDMA, UDMA) the job starts with that one; kernels stay the same.
"""

import sys

import torch
import torch.distributed as dist
import triton
import triton.language as tl

import shmem as ash
import triton_dist
from public_job import end, start
from triton_dist.language.extra import libshmem_device

SLOT = 16


@triton.jit
def team_rounds(counter, seen, team, ROUNDS: tl.constexpr, VEC: tl.constexpr):
    """Members add 1 on the next member of the team in every round; the barrier separates them."""
    me, n = libshmem_device.team_my_pe(team), libshmem_device.team_n_pes(team)
    if me >= 0:
        right = libshmem_device.team_translate_pe(team, (me + 1) % n, 0)
        for turn in range(ROUNDS):
            remote = libshmem_device.remote_ptr(counter, right)
            tl.store(remote, tl.load(remote) + 1)
            if VEC:
                libshmem_device.barrier_vec(team)
            else:
                libshmem_device.barrier(team)
            tl.store(seen + turn, tl.load(counter))
            libshmem_device.barrier(team)


@triton.jit
def six_forms(src, box, back, epoch, nbytes, N: tl.constexpr, SLOT: tl.constexpr):
    """Puts to the right into rows 0 to 3 of `box`; gets from the left into rows 0 and 1 of `back`.
    After each put the epoch word of the receiver says how many have come."""
    me, n = libshmem_device.my_pe(), libshmem_device.n_pes()
    right, left = (me + 1) % n, (me + n - 1) % n
    ge = libshmem_device.ACLSHMEM_CMP_GE
    add, set_ = libshmem_device.ACLSHMEM_SIGNAL_ADD, libshmem_device.ACLSHMEM_SIGNAL_SET
    libshmem_device.putmem(box, src, nbytes, right)
    libshmem_device.putmem_nbi(box + N, src, nbytes, right)
    libshmem_device.quiet()
    libshmem_device.signal_op(epoch, 1, set_, right)
    libshmem_device.signal_wait_until(epoch, ge, 1)
    libshmem_device.putmem_signal(box + 2 * N, src, nbytes, epoch, 1, add, right)
    libshmem_device.signal_wait_until(epoch, ge, 2)
    libshmem_device.putmem_signal_nbi(box + 3 * N, src, nbytes, epoch, 1, add, right)
    libshmem_device.quiet()
    libshmem_device.signal_wait_until(epoch, ge, 3)
    libshmem_device.getmem(back, src, nbytes, left)
    libshmem_device.getmem_nbi(back + N, src, nbytes, left)
    libshmem_device.quiet()
    libshmem_device.barrier_all()


@triton.jit
def signals_and_words(word, out, ROUNDS: tl.constexpr, SLOT: tl.constexpr):
    """word [3 * SLOT]: a ring of 42, ping-pong between PEs 0 and 1, a word stored by int_p."""
    me, n = libshmem_device.my_pe(), libshmem_device.n_pes()
    eq = libshmem_device.ACLSHMEM_CMP_EQ
    set_ = libshmem_device.ACLSHMEM_SIGNAL_SET
    libshmem_device.signal_op(word, 42, set_, (me + 1) % n)
    tl.store(out, libshmem_device.signal_wait_until(word, eq, 42))
    if me < 2:
        for turn in range(ROUNDS):
            if me == turn % 2:
                libshmem_device.signal_op(word + SLOT, turn + 1, set_, 1 - me)
            else:
                libshmem_device.signal_wait_until(word + SLOT, eq, turn + 1)
    libshmem_device.int_p(word + 2 * SLOT, me + 7, (me + 1) % n)
    libshmem_device.barrier_all()
    tl.store(out + 1, tl.load(word + 2 * SLOT))


@triton_dist.jit
def copy_from(x, out, pe, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, tl.load(libshmem_device.remote_ptr(x, pe) + lanes))


def symmetric(count, dtype, rank, value=0):
    tensor = ash.aclshmem_create_tensor([count], dtype=dtype, device_id=rank)
    tensor.fill_(value)
    torch.npu.synchronize()
    dist.barrier()
    return tensor


def check_teams(rank, world):
    """PEs with odd numbers, as a strided split; all PEs call it."""
    size = world // 2
    team = ash.team_split_strided(0, 1, 2, size) if size else -1
    for vec in (False, True):
        counter, seen = symmetric(16, torch.int32, rank), torch.zeros(8, dtype=torch.int32).npu()
        team_rounds[(1,)](counter, seen, team, ROUNDS=8, VEC=vec)
        member = rank % 2 == 1 and rank // 2 < size
        wanted = list(range(1, 9)) if member else [0] * 8
        assert seen.cpu().tolist() == wanted, (rank, vec, seen)
        dist.barrier()


def check_forms(rank, world, dtype, n):
    # Rows of n elements; bytes of the values are those of small integers, exact in every type.
    src = symmetric(n, dtype, rank)
    src.copy_((torch.arange(n) % 17 + rank).to(dtype))
    box, back = symmetric(4 * n, dtype, rank), torch.zeros(2 * n, dtype=dtype).npu()
    epoch = symmetric(SLOT, torch.int32, rank)
    six_forms[(1,)](src, box, back, epoch, n * dtype.itemsize, N=n, SLOT=SLOT)
    torch.npu.synchronize()
    left = (torch.arange(n) % 17 + (rank - 1) % world).to(dtype)
    for row in (*box.cpu().chunk(4), *back.cpu().chunk(2)):
        assert torch.equal(row, left), (rank, dtype, row, left)
    dist.barrier()


def check_signals(rank, world):
    word, out = symmetric(3 * SLOT, torch.int32, rank), torch.zeros(2, dtype=torch.int32).npu()
    signals_and_words[(1,)](word, out, ROUNDS=100 if world > 1 else 0, SLOT=SLOT)
    assert out.cpu().tolist() == [42, (rank - 1) % world + 7], out
    x = symmetric(64, torch.float16, rank, float(rank))
    y = torch.empty(64, dtype=torch.float16).npu()
    for pe in range(world):
        copy_from[(1,)](x, y, pe, N=64)
        assert (y.cpu() == pe).all(), y
    dist.barrier()


if __name__ == "__main__":
    engine = sys.argv[1] if sys.argv[1:] else "MTE"
    rank, world = start(heap=64 << 20, engine=engine)
    check_teams(rank, world)
    for dtype in (torch.float16, torch.float32, torch.bfloat16, torch.int8, torch.int64):
        check_forms(rank, world, dtype, 1000)
    check_forms(rank, world, torch.int32, 300_000)
    check_signals(rank, world)
    print(f"[PASS] Rank {rank}: rma {engine}", flush=True)
    end()
