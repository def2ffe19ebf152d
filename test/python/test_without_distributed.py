# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler without the distributed part: kernels of one device work, others say why not.

The tests marked `without` run in a build with PITON_DISTRIBUTED=OFF (`make test-all` makes one).
In a build with that part they run in a process of their own, in which it is hidden before anything
imports it.
"""

import os
import subprocess
import sys

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from piton import _piton, stages  # noqa: E402

_HAS_IT = hasattr(_piton, "distributed")
without = pytest.mark.skipif(_HAS_IT, reason="this compiler has the distributed part")
with_it = pytest.mark.skipif(not _HAS_IT, reason="this compiler lacks the distributed part")

_HIDE_AND_TEST = """
import sys
from piton import _piton

builder = _piton.builder
for name in [name for name in dir(builder) if name.startswith("create_distributed_")]:
    delattr(builder, name)
    delattr(builder, name.replace("distributed_", ""))
del _piton.distributed
for name in [name for name in sys.modules if name.startswith("piton._piton.distributed")]:
    del sys.modules[name]
import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]]))
"""


@with_it
def test_with_the_part_hidden():
    run = subprocess.run(
        [sys.executable, "-c", _HIDE_AND_TEST, __file__],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 passed, 2 skipped" in run.stdout


@triton.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def _check_vector_add():
    x, y, out = torch.randn(1000), torch.randn(1000), torch.zeros(1000)
    _add[(4,)](x, y, out, 1000, 256)
    assert torch.equal(out, x + y)


@with_it
def test_the_pass_is_run_where_there_is_one(monkeypatch):
    ran = []
    passes = _piton.distributed.ascend_passes
    add = passes.add_convert_triton_distributed_to_hivm
    monkeypatch.setattr(
        passes,
        "add_convert_triton_distributed_to_hivm",
        lambda manager: (ran.append(manager), add(manager)),
    )
    _check_vector_add()
    assert len(ran) == 1


@without
def test_vector_add():
    assert stages.distributed is None
    _check_vector_add()


@triton.jit
def _rank(out):
    tl.store(out, dl.rank())


@without
def test_a_distributed_kernel_says_what_is_missing():
    with pytest.raises(triton.CompilationError) as caught:
        _rank[(1,)](torch.zeros(1, dtype=torch.int32))
    text = f"{caught.value} {caught.value.__cause__}"
    assert "rank needs a compiler with the distributed dialect" in text
    assert "PITON_DISTRIBUTED=OFF" in text and "dl.rank()" in text


@without
def test_the_dialect_is_unknown():
    assert not hasattr(_piton.builder, "create_distributed_wait")
    with pytest.raises(ImportError):
        from piton._piton import distributed  # noqa: F401
