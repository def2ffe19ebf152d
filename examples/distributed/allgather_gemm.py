# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather and matrix product in one kernel: C = concat(A of all ranks) @ B.

Every block first pushes rows of its rank's A into the gathered matrix of every PE, then multiplies.
With `barrier` one barrier lies between the two; with `signals` every band of rows has a signal
word, so that a block starts as soon as the rows that it needs are there.
"""

import argparse

import torch
import triton
import triton.language as tl
from triton.language.extra.cann.extension import sub_vec_id

import triton_dist.language as dl
from job import BLOCKS, SLOT, free, job, report, symmetric
from triton_dist.language.extra import libshmem_device


@triton.jit
def push_rows(a, gathered, signals, M, K, me, WORLD: tl.constexpr, BM: tl.constexpr,
              BK: tl.constexpr, SIGNAL: tl.constexpr, SLOT: tl.constexpr):  # fmt: skip
    """This block's bands of BM rows of `a`, into every PE's `gathered`."""
    bands = tl.cdiv(M, BM)
    for step in range(tl.program_id(0), bands * WORLD, tl.num_programs(0)):
        band = step % bands
        target = (me + step // bands) % WORLD  # spread: everybody starts with himself
        remote = dl.symm_at(gathered, target)
        rows = band * BM + tl.arange(0, BM)
        for k in range(0, K, BK):
            cols = k + tl.arange(0, BK)
            inside = (rows[:, None] < M) & (cols[None, :] < K)
            tile = tl.load(a + rows[:, None] * K + cols[None, :], mask=inside)
            tl.store(remote + (me * M + rows)[:, None] * K + cols[None, :], tile, mask=inside)
        if SIGNAL:
            libshmem_device.fence()
            dl.notify(signals + (me * bands + band) * SLOT, target, signal=1)


@triton.jit
def multiply_bands(b, c, gathered, signals, M, N, K, me, WORLD: tl.constexpr, BM: tl.constexpr,
                   BN: tl.constexpr, BK: tl.constexpr, SIGNAL: tl.constexpr,
                   SLOT: tl.constexpr):  # fmt: skip
    """This block's tiles of `c` = `gathered` @ `b`; with SIGNAL each waits for its band of rows."""
    bands, cols_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for step in range(tl.program_id(0), WORLD * bands * cols_n, tl.num_programs(0)):
        source = (me + step // (bands * cols_n)) % WORLD  # own rows first: they are there first
        band = (step // cols_n) % bands
        source_rows = gathered
        if SIGNAL:
            token = dl.wait(signals + (source * bands + band) * SLOT, 1, "gpu", "acquire")
            source_rows = dl.consume_token(gathered, token)
        rows = band * BM + tl.arange(0, BM)
        cols = (step % cols_n) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            inner = k + tl.arange(0, BK)
            x = tl.load(
                source_rows + (source * M + rows)[:, None] * K + inner[None, :],
                mask=(rows[:, None] < M) & (inner[None, :] < K),
                other=0.0,
            )
            y = tl.load(
                b + inner[:, None] * N + cols[None, :],
                mask=(inner[:, None] < K) & (cols[None, :] < N),
                other=0.0,
            )
            total = tl.dot(x, y, total)
        tl.store(
            c + (source * M + rows)[:, None] * N + cols[None, :],
            total.to(tl.float16),
            mask=(rows[:, None] < M) & (cols[None, :] < N),
        )


@triton.jit
def allgather_gemm(a, b, c, gathered, signals, M, N, K, WORLD: tl.constexpr, BM: tl.constexpr,
                   BN: tl.constexpr, BK: tl.constexpr, SIGNAL: tl.constexpr,
                   SLOT: tl.constexpr):  # fmt: skip
    """a [M, K], b [K, N] fp16 of this rank; c [WORLD * M, N] fp16; gathered [WORLD * M, K]."""
    me = dl.rank()
    if sub_vec_id() == 0:
        push_rows(a, gathered, signals, M, K, me, WORLD, BM, BK, SIGNAL, SLOT)
    if not SIGNAL:
        libshmem_device.barrier_all()
    multiply_bands(b, c, gathered, signals, M, N, K, me, WORLD, BM, BN, BK, SIGNAL, SLOT)


def run(rank, world, m, n, k, signals):
    torch.manual_seed(42 + rank)
    a = torch.randn(m, k, dtype=torch.float16)
    b = torch.randn(k, n, dtype=torch.float16) / k**0.5
    tile = (64, 128, 128)
    bands = triton.cdiv(m, tile[0])
    gathered = symmetric((world * m, k), torch.float16, rank)
    words = symmetric((world * bands * SLOT,), torch.int32, rank)
    a, b = a.to(gathered.device), b.to(gathered.device)
    c = torch.empty(world * m, n, dtype=torch.float16, device=gathered.device)
    allgather_gemm[(BLOCKS,)](
        a, b, c, gathered, words, m, n, k, WORLD=world, BM=tile[0], BN=tile[1], BK=tile[2],
        SIGNAL=signals, SLOT=SLOT,
    )  # fmt: skip
    shards = [torch.empty_like(a.cpu()) for _ in range(world)]
    torch.distributed.all_gather(shards, a.cpu())
    wanted = (torch.cat(shards).float() @ b.cpu().float()).half()
    form = "signals" if signals else "barrier"
    report(f"allgather_gemm ({form})", rank, world, c, wanted, rtol=1e-2, atol=1e-2)
    free(gathered, words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=3, default=(200, 256, 256), metavar="SIZE")
    arguments = parser.parse_args()
    with job() as (rank, world):
        for signals in (False, True):
            run(rank, world, *arguments.shape, signals)
