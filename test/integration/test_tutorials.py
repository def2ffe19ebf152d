# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts for 1 to 8 ranks under `piton exec -- torchrun`: the examples, and scripts written as the
published ones for Ascend: the three tutorials, signal slots under load, the public suite.

A start of 8 ranks takes 30 s of processor time for `import torch` alone, so that one start runs all
scripts of a number of ranks.
"""

import os
import pathlib
import subprocess
import sys

import pytest

from ports import free_port
from test_torchrun import EXAMPLES, torchrun

TUTORIALS = pathlib.Path(__file__).parent / "tutorials"
NAMES = ("ring_exchange", "all_to_all", "allgather_gemm", "gemm_reduce_scatter", "gemm_allreduce")


def run_scripts(world, lines, **options):
    """All scripts in one start-up of `world` ranks; each line is a path and its arguments."""
    job = torchrun(world, TUTORIALS / "run_all.py", *lines, **options)
    assert job.returncode == 0 and "[FAIL]" not in job.stdout, job.stdout
    for rank in range(world):
        assert job.stdout.count(f"[END] Rank {rank}: ") == len(lines), job.stdout
    return job.stdout


def tutorial_lines(world):
    """The tutorials at small sizes (two groups of tiles each, tails in every direction), and what
    the other engines serve."""
    columns = (80 // world + 1) * 128  # more tiles than a rank's share of one group
    return [
        f"{TUTORIALS / 'allgather_gemm.py'} 600 300 300",
        f"{TUTORIALS / 'gemm_reduce_scatter.py'} {150 * world} {columns} 100",
        f"{TUTORIALS / 'gemm_allreduce.py'} 1300 2300 100",
        f"{TUTORIALS / 'allgather_gemm.py'} 600 300 300 UDMA",
        f"{TUTORIALS / 'all_to_all.py'} 100 513",
        f"{TUTORIALS / 'rma.py'} SDMA",
        f"{TUTORIALS / 'rma.py'} UDMA",
    ]


@pytest.mark.parametrize(
    "world,slots,tutorials",
    [
        (2, "10 20", True),
        (3, "10 20", False),
        (8, "4 6", False),
        pytest.param(1, "20 20", False, marks=pytest.mark.slow),
        pytest.param(4, "20 20", True, marks=pytest.mark.slow),
        pytest.param(8, "20 20", True, marks=pytest.mark.slow),
    ],
)
def test_scripts(world, slots, tutorials):
    """Examples with barriers and with signal slots; stride, reset and many waiters of slots; teams,
    transfers and signals of the library."""
    lines = [f"{EXAMPLES / name}.py" for name in NAMES]
    lines += [f"{TUTORIALS / 'signal_slots.py'} {slots}", f"{TUTORIALS / 'rma.py'} MTE"]
    if tutorials:
        lines += tutorial_lines(world)
    output = run_scripts(world, lines)
    for rank in range(world):
        for name in NAMES:
            for form in (" (barrier)", " (signals)") if "gemm" in name else ("",):
                assert f"[PASS] Rank {rank}: {name}{form}" in output, output
        assert f"[PASS] Rank {rank}: signal slots" in output, output
        for engine in ("MTE", "SDMA", "UDMA") if tutorials else ("MTE",):
            assert f"[PASS] Rank {rank}: rma {engine}" in output, output
        # Four products and two lengths of the all-to-all.
        assert output.count(f"[PASS] Rank {rank}: results match\n") == 6 * tutorials, output


@pytest.mark.slow
def test_sizes_that_do_not_fit_are_one_message():
    job = torchrun(2, EXAMPLES / "gemm_reduce_scatter.py", "--shape", "250", "128", "128")
    said = [line for line in job.stdout.splitlines() if "error: M is" in line]
    assert job.returncode != 0 and len(said) == 1, job.stdout
    assert "error: M is 250, but has to be a multiple of 64 with 2 ranks" in said[0]
    assert "[rank" not in job.stdout, job.stdout  # no traceback of a rank


@pytest.mark.slow
@pytest.mark.parametrize("name", ["allgather_gemm", "gemm_reduce_scatter", "gemm_allreduce"])
def test_the_published_size(name):
    """M = N = K = 4096, fp16."""
    job = torchrun(2, TUTORIALS / f"{name}.py", timeout=1800)
    assert job.returncode == 0 and job.stdout.count("results match") == 2, job.stdout


@pytest.mark.parametrize(
    "world,only",
    [
        (2, "wait_notify"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in ((2, ""), (4, ""), (8, "symm_at"))
        ),
    ],
)
def test_the_public_suite(world, only):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "PYTEST_"))}
    job = subprocess.run(
        [sys.executable, "-m", "piton", "exec", "--", sys.executable, "-m", "pytest", "-q",
         "-p", "no:cacheprovider", "-m", "dist", "-k", only, str(TUTORIALS / "dist_suite.py")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
        cwd=pathlib.Path(__file__).parents[2],
        env={**inherited, "WORLD": str(world), "MASTER_PORT": str(free_port()),
             "PITON_EXAMPLE_STORE": f"tcp://127.0.0.1:{free_port()}"},
    )  # fmt: skip
    wanted = "1 passed" if only else "4 passed"
    assert job.returncode == 0 and wanted in job.stdout, job.stdout
