# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the torch `npu` device; skipped where it is not built."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

torch = pytest.importorskip("torch")
if not hasattr(torch, "npu"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def script():
    """Runs Python code in a process of its own: (return code, output of both streams)."""

    def run(code, *arguments, timeout=300, **environment):
        env = {**os.environ, **environment}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={name: value for name, value in env.items() if value is not None},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        return done.returncode, done.stdout

    return run


@pytest.fixture(autouse=True)
def first_device():
    """Every test starts and ends on npu:0."""
    torch.npu.set_device(0)
    yield
    torch.npu.set_device(0)
