# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hccl on npu tensors against gloo on CPU tensors: one collective, the same two processes."""

import os
import pathlib
import subprocess
import sys
import tempfile
from datetime import timedelta

import torch
from bench_report import alternate

SIZES = {"16 floats": 16, "1 MiB": 1 << 18, "16 MiB": 1 << 22}
RANKS = 2


def hccl(report):
    if not hasattr(torch, "npu"):
        report.note("hccl all_reduce", "the npu device is not built (see docs/howto/torch.md)")
        return
    here = pathlib.Path(__file__).resolve()
    path = os.pathsep.join(p for p in sys.path if p)
    child = subprocess.run(
        [sys.executable, str(here), str(report.rounds)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        capture_output=True, text=True,
    )  # fmt: skip
    if child.returncode != 0:
        raise RuntimeError(f"the hccl run failed: {child.stderr[-400:]}")
    for line in child.stdout.splitlines():
        name, ours, theirs = line.split("\t")
        ours, theirs = float(ours), float(theirs)
        report.row(
            f"hccl all_reduce of {name}, {RANKS} ranks", f"{ours * 1e3:.3f} ms",
            f"{theirs * 1e3:.3f} ms", ours / theirs, 1.1,
        )  # fmt: skip


def measure(rank, store, rounds):
    """Body of a rank: seconds of all_reduce on npu and on CPU tensors, taken in turns."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:gloo,npu:hccl", init_method=f"file://{store}", rank=rank, world_size=RANKS,
        timeout=timedelta(seconds=120),
    )  # fmt: skip
    for name, size in SIZES.items():
        tensors = torch.zeros(size, device=f"npu:{rank}"), torch.zeros(size)
        batch = max(1, (1 << 19) // max(size, 1 << 14))
        times = alternate([lambda t=t: dist.all_reduce(t) for t in tensors], rounds, batch)
        if rank == 0:
            print(name, *times, sep="\t", flush=True)
    dist.destroy_process_group()


def main():
    rounds = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(1, RANKS):
            pid = os.fork()
            if pid == 0:
                measure(rank, f"{folder}/store", rounds)
                os._exit(0)
            children.append(pid)
        measure(0, f"{folder}/store", rounds)
        for pid in children:
            os.waitpid(pid, 0)


ITEMS = {"hccl": hccl}

if __name__ == "__main__":
    main()
