# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's own operator database on npu against the cpu: a slice in every run, all of it in
`make test-all`. What differs is listed, with its reason, in opdb.py."""

import pytest
import torch

pytest.importorskip("expecttest")
opdb = pytest.importorskip("opdb")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def check(known, **options):
    agree, differ, idle = opdb.run(**options)
    unexplained = {name: why for name, why in differ.items() if name not in known}
    assert not unexplained, "\n".join(f"{name}: {why}" for name, why in unexplained.items())
    return agree + idle, differ


def test_slice_forward():
    agree, _ = check(opdb.KNOWN_FORWARD, samples=2, part=(3, 12))
    assert len(agree) > 45


def test_slice_backward():
    agree, _ = check(opdb.KNOWN_BACKWARD, samples=1, gradient=True, part=(5, 24))
    assert len(agree) > 15


@pytest.mark.slow
def test_all_forward():
    """Every operator of the database; float32, or another type where that is not taken."""
    equal, differ = check(opdb.KNOWN_FORWARD, others=True)
    assert len(equal) >= 696 and len(differ) == 3, differ


@pytest.mark.slow
def test_all_backward():
    equal, differ = check(opdb.KNOWN_BACKWARD, samples=2, gradient=True)
    assert len(equal) >= 535 and len(differ) <= 5, differ


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_all_forward_of(dtype):
    check(opdb.KNOWN_FORWARD, dtype=dtype, samples=6)


def test_no_data_is_copied():
    """A fallback makes no copies: torch's own profiler sees the same copying operators on npu."""

    def copies(device):
        x = torch.randn(64, 64, device=device)
        index = torch.arange(0, 64, 2, device=device)
        out = torch.empty(0, device=device)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            y = (x @ x).softmax(1)
            y.add_(x.t())[index].sum()
            torch.cat([x, y], out=out)
            torch.sort(x)
            torch.nn.functional.layer_norm(x, [64])
            x.unfold(0, 4, 2).max(dim=1)
        names = ("aten::copy_", "aten::clone", "aten::_to_copy", "aten::contiguous")
        return {e.key: e.count for e in profile.key_averages() if e.key in names}

    copies("cpu")
    before = torch.ops.piton.copied_bytes()
    assert copies("npu") == copies("cpu")
    assert torch.ops.piton.copied_bytes() == before
