# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of examples/npu on the npu device against the CPU. ddp.py is in
test_exec_torch.py: it needs several processes."""

import pytest
import torch

import convnet
import gpt
import streams


@pytest.fixture(autouse=True)
def one_thread():
    """Sums in the same order on both devices."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_gpt_equals_cpu():
    ours, theirs = (gpt.train(device, 5) for device in ("npu", "cpu"))
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_gpt_with_autocast():
    ours = gpt.train("npu", 8, torch.bfloat16)
    assert ours == pytest.approx(gpt.train("cpu", 8), rel=2e-2)
    assert ours != gpt.train("npu", 8)  # autocast did change the arithmetic
    assert ours[-1] < 0.8 * ours[0]


def test_convnet_equals_cpu():
    (ours, model), (theirs, reference) = (
        convnet.train(device, 5, mixed=False) for device in ("npu", "cpu")
    )
    assert ours == pytest.approx(theirs, rel=1e-5)
    for a, b in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(a.cpu(), b, rtol=1e-4, atol=1e-6)


def test_convnet_in_float16_with_a_scaler():
    losses, model = convnet.train("npu", 20)
    reference, _ = convnet.train("cpu", 20, mixed=False)
    assert losses[:3] == pytest.approx(reference[:3], rel=5e-2)
    assert convnet.accuracy(model, "npu") > 0.9


def test_streams_equal_cpu():
    torch.manual_seed(0)
    blocks = [torch.randn(33, columns) for columns in (1, 100, 1000)] * 3
    results, milliseconds = streams.normalised_blocks(blocks)
    assert milliseconds > 0
    for block, out in zip(blocks, results, strict=True):
        torch.testing.assert_close(out, torch.nn.functional.normalize(block), rtol=1e-5, atol=1e-6)
