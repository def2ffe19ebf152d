# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler built with PITON_DISTRIBUTED=OFF: kernels of one device work, others say why not."""

import os

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from piton import _piton  # noqa: E402

pytestmark = pytest.mark.skipif(
    hasattr(_piton, "distributed"), reason="this compiler has the distributed part"
)


@triton.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def test_vector_add():
    x, y, out = torch.randn(1000), torch.randn(1000), torch.zeros(1000)
    _add[(4,)](x, y, out, 1000, 256)
    assert torch.equal(out, x + y)


@triton.jit
def _rank(out):
    tl.store(out, dl.rank())


def test_a_distributed_kernel_says_what_is_missing():
    with pytest.raises(triton.CompilationError) as caught:
        _rank[(1,)](torch.zeros(1, dtype=torch.int32))
    text = f"{caught.value} {caught.value.__cause__}"
    assert "rank needs a compiler with the distributed dialect" in text
    assert "PITON_DISTRIBUTED=OFF" in text and "dl.rank()" in text


def test_the_dialect_is_unknown():
    assert not hasattr(_piton.builder, "create_distributed_wait")
    from piton import stages

    assert stages.distributed is None
