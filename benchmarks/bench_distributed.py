# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather and matrix product in one kernel against its product alone, on two PEs.

Both kernels are made of the example's functions and run on both PEs at once; they take turns, and
what counts in a round is the slower PE.
"""

import os
import statistics
import subprocess
import sys
import time

import torch
import triton
import triton.language as tl
from allgather_gemm import allgather_gemm, multiply_bands

import shmem as ash
import triton_dist.language as dl
from job import BLOCKS, SLOT

PES = 2
SIZE = 1024  # of all three dimensions of a rank's product
TILE = {"BM": 64, "BN": 128, "BK": 128}
TARGET = 1.15


@triton.jit
def product(b, c, gathered, M, N, K, WORLD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):  # fmt: skip
    multiply_bands(b, c, gathered, gathered, M, N, K, dl.rank(), WORLD, BM, BN, BK, False, 1)


def measure(pe, url, rounds):
    """Body of a PE: prints form, seconds of the whole kernel and of the product, for each round."""
    ash.set_conf_store_tls(False, "")
    attributes = ash.InitAttr()
    attributes.my_rank, attributes.n_ranks = pe, PES
    attributes.local_mem_size = 64 << 20
    attributes.ip_port = url
    if ash.aclshmem_init(attributes) != 0:
        raise RuntimeError("aclshmem_init failed")
    bands = triton.cdiv(SIZE, TILE["BM"])
    gathered = ash.aclshmem_create_tensor([PES * SIZE, SIZE], dtype=torch.float16, device_id=pe)
    words = ash.aclshmem_create_tensor([PES * bands * SLOT], dtype=torch.int32, device_id=pe)
    shards = []
    for rank in range(PES):
        torch.manual_seed(rank)
        shards.append(torch.randn(SIZE, SIZE, dtype=torch.float16))
    a = shards[pe]
    b = torch.randn(SIZE, SIZE, dtype=torch.float16) / SIZE**0.5
    c = torch.empty(PES * SIZE, SIZE, dtype=torch.float16)
    wanted = (torch.cat(shards).float() @ b.float()).half()

    def whole(signals):
        allgather_gemm[(BLOCKS,)](
            a, b, c, gathered, words, SIZE, SIZE, SIZE, WORLD=PES, **TILE, SIGNAL=signals,
            SLOT=SLOT,
        )  # fmt: skip

    def alone():
        product[(BLOCKS,)](b, c, gathered, SIZE, SIZE, SIZE, WORLD=PES, **TILE)

    for signals in (False, True):
        form = "signals" if signals else "barrier"
        for index in range(rounds + 2):  # the first two compile and warm up
            seconds = []
            for call in (lambda signals=signals: whole(signals), alone):
                words.zero_()
                ash.barrier_all()
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
                ash.barrier_all()
                if index == 0:
                    torch.testing.assert_close(c, wanted, rtol=1e-2, atol=1e-2)
                    c.zero_()
            if index >= 2:
                print(form, *seconds, flush=True)
    ash.barrier_all()
    ash.aclshmem_finalize()


def allgather(report):
    from bench_shmem import free_url

    url = free_url()
    threads = str(max(1, len(os.sched_getaffinity(0)) // PES))
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "OMP_NUM_THREADS": threads, "PITON_NUM_THREADS": threads,
    }  # fmt: skip
    children = [
        subprocess.Popen(
            [sys.executable, __file__, str(pe), url, str(max(5, report.rounds // 2))],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for pe in range(PES)
    ]  # fmt: skip
    outputs = [child.communicate(timeout=300) for child in children]
    for child, (_, errors) in zip(children, outputs, strict=True):
        if child.returncode != 0:
            raise RuntimeError(f"a PE failed: {errors[-400:]}")
    sides = {}
    for lines in zip(*(text.splitlines() for text, _ in outputs), strict=True):
        words = [line.split() for line in lines]
        slowest = [max(float(of[i]) for of in words) for i in (1, 2)]
        sides.setdefault(words[0][0], []).append(slowest)
    for form, rounds in sides.items():
        whole, alone = (statistics.median(times) for times in zip(*rounds, strict=True))
        report.row(
            f"allgather-GEMM {SIZE}^3 fp16, {form} / its GEMM", f"{whole * 1e3:.1f} ms",
            f"{alone * 1e3:.1f} ms", whole / alone, TARGET,
        )  # fmt: skip


ITEMS = {"allgather_gemm": allgather}

if __name__ == "__main__":
    measure(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
