# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather and product by pushes into a double buffer, one barrier per group of rows.

Group g of every rank's A goes into buffer g mod 2 of every PE. One barrier a group is enough: who
overwrites a buffer has passed the barrier before it, which says that all have read it.

With UDMA as fourth argument the other sub-vector of one program per target puts all rows of a group
at once, by that engine; the rank's own rows are copied as before.
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
COMM_ROWS, COMM_COLS = 20, 256
CORES = 20


@triton.jit
def push_group(a, buffer, first, rows_here, K, stride_am, stride_ak, GROUP: tl.constexpr,
               CR: tl.constexpr, CC: tl.constexpr, SPLIT: tl.constexpr):  # fmt: skip
    """Rows first.. of `a` into the part of `buffer` that belongs to this rank, on every PE."""
    me, world = dl.rank(), dl.num_ranks()
    tiles = tl.cdiv(rows_here, CR) * tl.cdiv(K, CC)
    for step in range(tl.program_id(0), tiles * world, tl.num_programs(0)):
        row, col, target, rows, cols = dist_swizzle2d_Nz(
            step, world, rows_here, K, CR, CC, comm_npu_split=SPLIT
        )
        r, c = tl.arange(0, CR), tl.arange(0, CC)
        inside = (r[:, None] < rows) & (c[None, :] < cols)
        r, c = row * CR + r, col * CC + c
        tile = tl.load(
            a + (first + r)[:, None] * stride_am + c[None, :] * stride_ak, mask=inside, other=0.0
        )
        remote = dl.symm_at(buffer, target)
        tl.store(remote + (me * GROUP + r)[:, None] * K + c[None, :], tile, mask=inside)


@triton.jit
def put_group(a, buffer, first, rows_here, K, GROUP: tl.constexpr, CR: tl.constexpr,
              CC: tl.constexpr):  # fmt: skip
    """The same by one transfer per target; `a` is contiguous."""
    me, world, pid = dl.rank(), dl.num_ranks(), tl.program_id(0)
    if sub_vec_id() == 1:
        if (pid < world) & (pid != me):
            place = buffer + me * GROUP * K
            libshmem_device.putmem(place, a + first * K, rows_here * K * 2, pid)
            libshmem_device.quiet()
    if sub_vec_id() == 0:
        for row in range(pid * CR, rows_here, tl.num_programs(0) * CR):
            for col in range(0, K, CC):
                r, c = row + tl.arange(0, CR), col + tl.arange(0, CC)
                inside = (r[:, None] < rows_here) & (c[None, :] < K)
                tile = tl.load(a + (first + r)[:, None] * K + c[None, :], mask=inside, other=0.0)
                tl.store(buffer + (me * GROUP + r)[:, None] * K + c[None, :], tile, mask=inside)


@triton.jit
def kernel(a, b, c, peer_mem, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
           stride_cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PVALUE: tl.constexpr,
           BUFFERS: tl.constexpr, CR: tl.constexpr, CC: tl.constexpr, SPLIT: tl.constexpr,
           BY_ENGINE: tl.constexpr):  # fmt: skip
    """a [M, K] of this rank, b [K, N], c [world * M, N]; peer_mem [BUFFERS][rank][GROUP] of K."""
    GROUP: tl.constexpr = BM * PVALUE
    world = dl.num_ranks()
    for group in range(tl.cdiv(M, GROUP)):
        first = group * GROUP
        rows_here = tl.minimum(M - first, GROUP)
        buffer = peer_mem + (group % BUFFERS) * world * GROUP * K
        if BY_ENGINE:
            put_group(a, buffer, first, rows_here, K, GROUP, CR, CC)
        elif sub_vec_id() == 0:
            push_group(a, buffer, first, rows_here, K, stride_am, stride_ak, GROUP, CR, CC, SPLIT)
        libshmem_device.barrier_all()
        m_tiles = tl.cdiv(rows_here, BM)
        tiles = m_tiles * world * tl.cdiv(N, BN)
        for step in range(tl.program_id(0), tiles, tl.num_programs(0)):
            m_tile, n_tile = gemm_swizzle2d_Nz(step, m_tiles * world * BM, N, BM, BN)
            source = m_tile // m_tiles
            rows = (m_tile % m_tiles) * BM + tl.arange(0, BM)
            cols = n_tile * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, tl.cdiv(K, BK)):
                inner = k * BK + tl.arange(0, BK)
                x = tl.load(
                    buffer + (source * GROUP + rows)[:, None] * K + inner[None, :],
                    mask=(rows[:, None] < rows_here) & (inner[None, :] < K),
                    other=0.0,
                )
                y = tl.load(
                    b + inner[:, None] * stride_bk + cols[None, :] * stride_bn,
                    mask=(inner[:, None] < K) & (cols[None, :] < N),
                    other=0.0,
                )
                total = tl.dot(x, y, total)
            tl.store(
                c + (source * M + first + rows)[:, None] * stride_cm + cols[None, :] * stride_cn,
                total.to(c.dtype.element_ty),
                mask=(rows[:, None] < rows_here) & (cols[None, :] < N),
            )


def allgather_gemm(a, b, rank, world, by_engine):
    """c of all ranks' a times b."""
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m * world, n), dtype=a.dtype, device=a.device)
    elements = BM * PVALUE * world * BUFFERS * max(k, 256)
    peer_mem = ash.aclshmem_create_tensor([elements], dtype=torch.float16, device_id=rank)
    grid = (CORES, 1, 1)
    kernel[grid](
        a, b, c, peer_mem, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        c.stride(0), c.stride(1), BM=BM, BN=BN, BK=BK, PVALUE=PVALUE, BUFFERS=BUFFERS,
        CR=COMM_ROWS, CC=COMM_COLS, SPLIT=world, BY_ENGINE=by_engine,
    )  # fmt: skip
    torch.npu.synchronize()
    dist.barrier()
    ash.aclshmem_free_tensor(peer_mem)
    return c


if __name__ == "__main__":
    m, n, k = (int(x) for x in sys.argv[1:4]) if sys.argv[1:] else (4096, 4096, 4096)
    engine = sys.argv[4] if sys.argv[4:] else "MTE"
    rank, world = start(engine=engine)
    torch.manual_seed(42 + rank)
    a = torch.randn((m, k), dtype=torch.float16).npu()
    torch.manual_seed(42)
    b = torch.randn((k, n), dtype=torch.float16).npu()
    c = allgather_gemm(a, b, rank, world, engine == "UDMA")
    shards = [torch.empty_like(a) for _ in range(world)]
    dist.all_gather(shards, a)
    wanted = torch.cat(shards, dim=0) @ b
    verdict(rank, world, c, wanted)
    end()
