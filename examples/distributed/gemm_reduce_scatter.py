# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product and reduce-scatter in one kernel: rank r gets rows r of sum over ranks of A @ B.

Every PE multiplies tiles into its own symmetric buffer; after a barrier (or once the tile's signal
word says so) the owner of a row band pulls the tiles of all PEs and adds them up. With `--all`
every PE pulls everything: all-reduce in one shot.
"""

import argparse

import torch
import triton
import triton.language as tl
from triton.language.extra.cann.extension import sub_vec_id

import triton_dist.language as dl
from job import BLOCKS, SLOT, free, job, refuse, report, symmetric
from triton_dist.language.extra import libshmem_device


@triton.jit
def product_tile(a, b, row, col, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile of a @ b, fp32; sizes are multiples of the tile."""
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * K + inner[None, :])
        y = tl.load(b + inner[:, None] * N + cols[None, :])
        total = tl.dot(x, y, total)
    return total


@triton.jit
def pull_tile(c, partial, slots, row, col, first_row, M, N, WORLD: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr, SIGNAL: tl.constexpr, SLOT: tl.constexpr):  # fmt: skip
    """Adds up one tile over all PEs and stores it to `c`, which begins `first_row` tiles down."""
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    me = dl.rank()
    for turn in range(WORLD):
        peer = (me + turn) % WORLD
        remote = dl.symm_at(partial, peer)
        if SIGNAL:
            tile = row * (N // BN) + col
            token = dl.wait(slots + (tile * WORLD + peer) * SLOT, 1, "gpu", "acquire")
            remote = dl.consume_token(remote, token)
        total += tl.load(remote + rows[:, None] * N + cols[None, :])
    rows = rows - first_row * BM
    tl.store(c + rows[:, None] * N + cols[None, :], total)


@triton.jit
def gemm_reduce(a, b, c, partial, slots, M, N, K, WORLD: tl.constexpr, BM: tl.constexpr,
                BN: tl.constexpr, BK: tl.constexpr, EVERYWHERE: tl.constexpr,
                SIGNAL: tl.constexpr, SLOT: tl.constexpr):  # fmt: skip
    """a [M, K], b [K, N] fp16; partial [M, N] fp32, symmetric; c [M or M / WORLD, N] fp32."""
    me = dl.rank()
    row_tiles, col_tiles = M // BM, N // BN
    share = row_tiles // WORLD
    for step in range(tl.program_id(0), row_tiles * col_tiles, tl.num_programs(0)):
        row, col = step // col_tiles, step % col_tiles
        tile = product_tile(a, b, row, col, N, K, BM, BN, BK)
        rows = row * BM + tl.arange(0, BM)
        cols = col * BN + tl.arange(0, BN)
        tl.store(partial + rows[:, None] * N + cols[None, :], tile)
        if SIGNAL:
            libshmem_device.fence()
            for peer in range(WORLD):
                if EVERYWHERE or peer == row // share:
                    dl.notify(slots + (step * WORLD + me) * SLOT, peer, signal=1)
    if not SIGNAL:
        libshmem_device.barrier_all()
    if sub_vec_id() == 0:
        first = 0 if EVERYWHERE else me * share
        count = row_tiles if EVERYWHERE else share
        for step in range(tl.program_id(0), count * col_tiles, tl.num_programs(0)):
            pull_tile(c, partial, slots, first + step // col_tiles, step % col_tiles, first, M, N,
                      WORLD, BM, BN, SIGNAL, SLOT)  # fmt: skip


#: Rows, columns and depth of a tile.
TILE = (32, 64, 64)


def sizes(rank, world, shape, everywhere):
    """M, N, K: as given, or small ones that `world` ranks can share."""
    owners = 1 if everywhere else world
    if shape is None:
        return TILE[0] * owners * max(1, 8 // owners), 128, 128
    names, units = ("M", "N", "K"), (TILE[0] * owners, *TILE[1:])
    for name, size, unit in zip(names, shape, units, strict=True):
        if size <= 0 or size % unit:
            refuse(rank, f"{name} is {size}, but has to be a multiple of {unit} with {world} ranks")
    return shape


def run(rank, world, m, n, k, everywhere, signals):
    torch.manual_seed(42 + rank)
    a = torch.randn(m, k, dtype=torch.float16)
    b = torch.randn(k, n, dtype=torch.float16) / k**0.5
    tile = TILE
    partial = symmetric((m, n), torch.float32, rank)
    tiles = (m // tile[0]) * (n // tile[1])
    slots = symmetric((tiles * world * SLOT,), torch.int32, rank)
    a, b = a.to(partial.device), b.to(partial.device)
    rows = m if everywhere else m // world
    c = torch.empty(rows, n, dtype=torch.float32, device=partial.device)
    gemm_reduce[(BLOCKS,)](
        a, b, c, partial, slots, m, n, k, WORLD=world, BM=tile[0], BN=tile[1], BK=tile[2],
        EVERYWHERE=everywhere, SIGNAL=signals, SLOT=SLOT,
    )  # fmt: skip
    wanted = a.cpu().float() @ b.cpu().float()
    torch.distributed.all_reduce(wanted)
    if not everywhere:
        wanted = wanted[rank * rows : (rank + 1) * rows]
    name = "gemm_allreduce" if everywhere else "gemm_reduce_scatter"
    form = "signals" if signals else "barrier"
    report(f"{name} ({form})", rank, world, c, wanted, rtol=1e-3, atol=1e-3)
    free(partial, slots)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=3, metavar="SIZE")
    parser.add_argument("--all", action="store_true", help="all-reduce instead of reduce-scatter")
    arguments = parser.parse_args()
    with job() as (rank, world):
        shape = sizes(rank, world, arguments.shape, arguments.all)
        for signals in (False, True):
            run(rank, world, *shape, arguments.all, signals)
