# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Product and reduce-scatter (or, `run(.., everywhere=True)`, all-reduce) by pulls.

Groups of 80 tiles: every PE computes them into its own buffer, a barrier, then each owner reads its
tiles from all PEs and adds them into C atomically. C starts as zeros.
"""

import sys

import torch
import torch.distributed as dist
import triton
import triton.language as tl
from triton.language.extra.cann.extension import sub_vec_id

import shmem as ash
import triton_dist.language as dl
from public_job import end, start, verdict
from triton_dist.language.extra import libshmem_device
from triton_dist.language.extra.ascend.algorithm import dist_swizzle2d_Nz, gemm_swizzle2d_Nz

BM, BN, BK = 128, 256, 256
PVALUE, BUFFERS = 4, 2
COMM_ROWS, COMM_COLS = 8, 256
CORES = 20


@triton.jit
def product_tile(a, b, slot, first_row, row_end, n_tile, N, K, BM: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr):  # fmt: skip
    """fp32 tile of a @ b into `slot` [BM, BN]; rows from row_end on belong to nobody here."""
    rows = first_row + tl.arange(0, BM)
    cols = n_tile * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        inner = k * BK + tl.arange(0, BK)
        x = tl.load(
            a + rows[:, None] * K + inner[None, :],
            mask=(rows[:, None] < row_end) & (inner[None, :] < K),
            other=0.0,
        )
        y = tl.load(
            b + inner[:, None] * N + cols[None, :],
            mask=(inner[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        total = tl.dot(x, y, total)
    tl.store(slot + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], total)


@triton.jit
def kernel(a, b, c, peer_mem, rows_per_rank, N, K, WORLD: tl.constexpr, PARTS: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SLOTS: tl.constexpr,
           BUFFERS: tl.constexpr, CR: tl.constexpr, CC: tl.constexpr):  # fmt: skip
    """a [PARTS * rows_per_rank, K], b [K, N]; c [rows_per_rank, N]; peer_mem [BUFFERS][SLOTS].

    PARTS: 1 if every PE wants all rows, else WORLD.
    """
    me = dl.rank()
    m_tiles = tl.cdiv(rows_per_rank, BM)
    tiles = m_tiles * tl.cdiv(N, BN)
    CHUNK: tl.constexpr = SLOTS // PARTS
    for group in range(tl.cdiv(tiles, CHUNK)):
        done = group * CHUNK
        here = tl.minimum(tiles - done, CHUNK)
        buffer = peer_mem + (group % BUFFERS) * SLOTS * BM * BN
        for step in range(tl.program_id(0), here * PARTS, tl.num_programs(0)):
            part = step // here
            m_tile, n_tile = gemm_swizzle2d_Nz(done + step % here, m_tiles * BM, N, BM, BN)
            product_tile(a, b, buffer + step * BM * BN, part * rows_per_rank + m_tile * BM,
                         (part + 1) * rows_per_rank, n_tile, N, K, BM, BN, BK)  # fmt: skip
        libshmem_device.barrier_all()
        if sub_vec_id() == 0:
            first_slot = (me % PARTS) * here
            pieces = tl.cdiv(here * BM, CR)
            for step in range(tl.program_id(0), pieces * WORLD, tl.num_programs(0)):
                piece, _, source, _, _ = dist_swizzle2d_Nz(step, WORLD, here * BM, CC, CR, CC)
                r = piece * CR + tl.arange(0, CR)
                remote = dl.symm_at(buffer, source)
                value = tl.load(
                    remote + (first_slot * BM + r)[:, None] * BN + tl.arange(0, CC)[None, :]
                )
                tile = piece * CR // BM
                m_tile, n_tile = gemm_swizzle2d_Nz(done + tile, m_tiles * BM, N, BM, BN)
                rows = m_tile * BM + r - tile * BM
                cols = n_tile * BN + tl.arange(0, CC)
                tl.atomic_add(
                    c + rows[:, None] * N + cols[None, :],
                    value,
                    mask=(rows[:, None] < rows_per_rank) & (cols[None, :] < N),
                )


def run(m, n, k, everywhere):
    """One launch and its comparison."""
    rank, world = start()
    torch.manual_seed(42 + rank)
    a = torch.randn((m, k), dtype=torch.float16).npu()
    b = torch.randn((k, n), dtype=torch.float16).npu()
    parts = 1 if everywhere else world
    if m % parts:
        raise ValueError(f"{m} rows cannot be split over {world} ranks")
    slots = PVALUE * CORES
    elements = BM * slots * BUFFERS * BN * (world if everywhere else 1)
    peer_mem = ash.aclshmem_create_tensor([elements], dtype=torch.float32, device_id=rank)
    c = torch.zeros((m // parts, n), dtype=torch.float32, device=a.device)
    kernel[(CORES, 1, 1)](
        a, b, c, peer_mem, m // parts, n, k, WORLD=world, PARTS=parts, BM=BM, BN=BN, BK=BK,
        SLOTS=slots, BUFFERS=BUFFERS, CR=COMM_ROWS, CC=COMM_COLS,
    )  # fmt: skip
    torch.npu.synchronize()
    wanted = a.float() @ b.float()
    dist.all_reduce(wanted, op=dist.ReduceOp.SUM)
    if not everywhere:
        wanted = wanted.chunk(world)[rank]
    verdict(rank, world, c.to(torch.float16), wanted.to(torch.float16))
    ash.aclshmem_free_tensor(peer_mem)
    end()


if __name__ == "__main__":
    m, n, k = (int(x) for x in sys.argv[1:4]) if sys.argv[1:] else (4096, 4096, 4096)
    run(m, n, k, everywhere=False)
