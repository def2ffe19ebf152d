# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels against a numpy evaluation of the same statements (kernel_maker.py).

A failure prints the seed and both texts. PITON_TEST_SEED moves the whole set; the long run takes
a new one from the clock and prints it.
"""

import importlib.util
import os
import time

import numpy as np
import pytest
import torch
from conftest import SEED
from kernel_maker import make_kernel

ROWS, COLS, PROGRAMS = 8, 32, 3


def load_module(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_one(seed, statements, folder):
    """Builds the kernel of `seed`, runs both forms and compares what they stored."""
    text, reference_text = make_kernel(seed, statements)
    print(f"kernel seed {seed}\n{text}\n{reference_text}")
    kernel = load_module(folder / f"kernel_{seed}.py", text).kernel
    reference = load_module(folder / f"reference_{seed}.py", reference_text).kernel
    rng = np.random.default_rng(seed)
    size = ROWS * COLS * PROGRAMS
    ints = rng.integers(-50, 50, size + 16).astype(np.int32)
    floats = np.clip(rng.standard_normal(size + 16) * 3, -8, 8).astype(np.float32)
    iout, fout = np.full(size, -1, np.int32), np.full(size, -1, np.float32)
    scalars = dict(
        m=int(rng.integers(0, ROWS * PROGRAMS + 2)), n=int(rng.integers(0, COLS + 2)),
        low=int(rng.integers(0, 6)), steps=int(rng.integers(0, 4)),
    )  # fmt: skip
    buffers = [torch.from_numpy(a.copy()) for a in (ints, floats, iout, fout)]
    kernel[(PROGRAMS,)](*buffers, **scalars, ROWS=ROWS, COLS=COLS)
    with np.errstate(all="ignore"):
        for program in range(PROGRAMS):
            reference(program, ints, floats, iout, fout, **scalars, ROWS=ROWS, COLS=COLS)
    np.testing.assert_array_equal(buffers[2].numpy(), iout)
    np.testing.assert_allclose(buffers[3].numpy(), fout, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("index", range(40))
def test_random_kernel(index, tmp_path):
    run_one(SEED * 100_000 + index, statements=4 + index % 12, folder=tmp_path)


@pytest.mark.slow
def test_many_random_kernels(tmp_path):
    first = int(os.environ.get("PITON_TEST_SEED", time.time())) * 1000
    for seed in range(first, first + 600):
        run_one(seed, statements=3 + seed % 25, folder=tmp_path)
