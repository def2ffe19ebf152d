# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by every Python test: an empty Triton cache for the session, seeds, and the folder of the
test's own helpers on the path."""

import os
import pathlib
import random
import sys
import tempfile
import zlib

import pytest

_CACHE = tempfile.TemporaryDirectory(prefix="piton-test-cache-")
os.environ["TRITON_CACHE_DIR"] = _CACHE.name
sys.path.insert(0, str(pathlib.Path(__file__).parent / "integration"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
# As under `piton exec -- python examples/npu/...`: the examples, and the stand-in torch_npu.
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples" / "npu"))
sys.path.append(str(pathlib.Path(__file__).parent.parent / "python" / "piton" / "standins"))


def _has_distributed():
    try:
        from piton import _piton
    except ImportError:
        return True  # the tests say what is missing
    return hasattr(_piton, "distributed")


if not _has_distributed():  # built with PITON_DISTRIBUTED=OFF; test_without_distributed.py stays
    collect_ignore_glob = [
        "compiler/Dialect/Distributed/*", "integration/test_distributed*",
        "integration/test_torchrun.py", "integration/test_tutorials.py",
        "integration/test_random_kills.py",
        "python/test_distributed*", "python/test_bisheng_distributed.py",
        "python/test_oracle_distributed.py",
    ]  # fmt: skip


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: runs only in `make test-all`")
    config.addinivalue_line("markers", "dist: of the public suite, spawns one process a rank")


@pytest.fixture(autouse=True)
def seeds(request):
    """What a test draws from the generators of torch, numpy, Python or its module (`RNG`) depends
    on its name and PITON_TEST_SEED, and not on which tests the worker has run before."""
    text = os.environ.get("PITON_TEST_SEED", "20") + request.node.nodeid
    seed = zlib.crc32(text.encode())
    random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        numpy.random.seed(seed)
        if isinstance(generator := getattr(request.module, "RNG", None), numpy.random.Generator):
            generator.bit_generator.state = numpy.random.default_rng(seed).bit_generator.state


@pytest.fixture(scope="session")
def triton_cache():
    """The session's cache folder."""
    return pathlib.Path(_CACHE.name)
