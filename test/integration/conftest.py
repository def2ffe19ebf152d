# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random inputs of the end-to-end tests: one seed a run, printed by each test that uses it."""

import os
import zlib

import numpy as np
import pytest

SEED = int(os.environ.get("PITON_TEST_SEED", "20"))


@pytest.fixture
def rng(request):
    """A numpy generator of the run's seed and the test's name, so that tests stay independent."""
    print(f"PITON_TEST_SEED={SEED}")
    return np.random.default_rng([SEED, zlib.crc32(request.node.name.encode())])
