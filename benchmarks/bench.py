# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The speed table: Piton against torch, Triton's interpreter and stock Triton's compiler.

    python benchmarks/bench.py [--only NAME ...] [--rounds N] [--list]

Each measurement is a ratio taken in this one run: both sides alternate in one process with two
threads each, and the medians are compared. A target is printed beside its measurement with ok or
MISS; figures without a target are there to read. Piton's kernels write into tensors that exist;
torch is called as a user calls it (add with `out=`, as its target says).

The items that are bound by memory (bench_kernels, signals, copies) run in a process of their own,
in which the memory of both sides lies in huge pages and is kept by malloc (MALLOC below;
GLIBC_TUNABLES of the caller goes before it): else the ratios tell where the system's small pages
happened to lie. The same softmax took 1.7 or 3.4 ms, by what ran before it, and torch paid for new
pages in some runs. Other items have malloc as it is.
"""

import os
import sys

MALLOC = {"hugetlb": 1, "mmap_threshold": 32 << 20, "trim_threshold": 4 << 30}

THREADS = 2
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
os.environ.setdefault("PITON_NUM_THREADS", str(THREADS))

import argparse  # noqa: E402
import pathlib  # noqa: E402
import subprocess  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
sys.path[:0] = [str(HERE), str(EXAMPLES), str(EXAMPLES / "distributed")]


def in_huge_pages(report, names):
    """The items in a child process; its rows are printed here, its counts added to the report."""
    tunables = ":".join(f"glibc.malloc.{key}={value}" for key, value in MALLOC.items())
    command = [sys.executable, __file__, f"--rounds={report.rounds}"]
    child = subprocess.Popen(
        command + [f"--only={name}" for name in names], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "GLIBC_TUNABLES": tunables},
    )  # fmt: skip
    lines = iter(child.stdout)
    for line in lines:
        if line.startswith("measurement"):
            break
    for line in lines:
        if " targets met, " not in line:
            print(line, end="", flush=True)
            continue
        counts, _, broken = line.strip().partition(", not measured: ")
        words = counts.split()
        report.met += int(words[0])
        report.missed += int(words[3])
        report.broken += broken.split(", ") if broken else []
    if child.wait() != 0:
        report.broken += names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="run only these items")
    parser.add_argument("--rounds", type=int, default=21, help="runs of each side (default 21)")
    parser.add_argument("--list", action="store_true", help="print the names of the items")
    options = parser.parse_args()

    import bench_distributed
    import bench_hccl
    import bench_host
    import bench_kernels
    import bench_roce
    import bench_shmem
    import bench_torch
    from bench_report import Report, cpu_line

    items = {
        **bench_kernels.ITEMS,
        **bench_host.ITEMS,
        **bench_shmem.ITEMS,
        **bench_distributed.ITEMS,
        **bench_roce.ITEMS,
        **bench_torch.ITEMS,
        **bench_hccl.ITEMS,
    }
    if options.list:
        print("\n".join(items))
        return 0
    names = options.only or list(items)
    unknown = [name for name in names if name not in items]
    if unknown:
        parser.error(f"no item {', '.join(unknown)}; there are {', '.join(items)}")

    import torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    print(cpu_line())
    print(f"{THREADS} threads on both sides, median of {options.rounds}, torch {torch.__version__}")
    report = Report(rounds=options.rounds)
    tensors = [n for n in names if n in bench_kernels.ITEMS or n in ("signals", "copies")]
    if tensors and "GLIBC_TUNABLES" not in os.environ:
        in_huge_pages(report, tensors)
        names = [name for name in names if name not in tensors]
    for name in names:
        report.run(name, items[name])
    report.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
