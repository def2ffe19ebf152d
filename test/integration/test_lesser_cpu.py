# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole way for CPUs with less than this one: kernels and tile product without AVX-512."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("isa", ("avx2", "portable"))
def test_kernels_made_for_avx2(isa, tmp_path):
    files = ["test_dot.py", "test_elementwise.py", "test_examples.py", "test_math.py"]
    files += ["test_reductions.py"] if isa == "avx2" else []
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
        + [str(HERE / file) for file in files],
        capture_output=True,
        text=True,
        timeout=1500,
        env={
            **os.environ,
            "PITON_HOST_CPU": "x86-64-v3",
            "PITON_GEMM_ISA": isa,
            "TRITON_CACHE_DIR": str(tmp_path),
        },
    )
    assert child.returncode == 0, child.stdout[-4000:]
