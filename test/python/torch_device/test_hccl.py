# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed with back end hccl on npu tensors, with 2, 3 and 4 ranks.

All ranks of all jobs come from one process (hccl_ranks.py); a test reads what its check said.
"""

import json
import os
import subprocess
import sys

import pytest

import hccl_ranks

SIZES = (2, 3, 4)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """A function of a file's name that gives what a rank wrote."""
    folder = tmp_path_factory.mktemp("hccl")
    child = subprocess.run(
        [sys.executable, hccl_ranks.__file__, str(folder), *map(str, SIZES)],
        capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip

    def read(name):
        path = folder / f"{name}.json"
        assert path.exists(), f"{name} wrote nothing:\n{child.stdout[-2000:]}{child.stderr[-4000:]}"
        return json.loads(path.read_text())

    return read


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", hccl_ranks.CHECKS)
def test_collective(outcome, name, size):
    for rank in range(size):
        said = outcome(f"ranks{size}-{rank}")
        # A check that failed ends the job: what comes after was not run.
        assert said.get(name, "not run: a check before this one failed") == "ok", said.get(name)


def test_the_death_of_a_rank_is_an_error_of_the_others(outcome):
    for rank in (0, 2):
        said = outcome(f"death-{rank}")
        assert said["error"].startswith("RuntimeError"), said
        assert said["seconds"] < 50, said
