# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end-to-end tests share: element types, random tensors, exact and close comparison.

Tensors are torch's; references are computed by numpy in the type itself (bf16 and fp8 in float32,
rounded afterwards). The tests also run under TRITON_INTERPRET=1, which is how they were checked
before there was a compiler; `piton_only` marks what that interpreter cannot do.
"""

import numpy as np
import pytest
import torch
import triton

INTERPRETED = bool(triton.knobs.runtime.interpret)
piton_only = pytest.mark.skipif(INTERPRETED, reason="the stock interpreter cannot run this")

SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
INTEGERS = SIGNED + UNSIGNED
BF16 = pytest.param(torch.bfloat16, marks=piton_only, id="bfloat16")
FLOATS = (torch.float16, BF16, torch.float32, torch.float64)


def name_of(value):
    """Test ids: the short name of a dtype, None (pytest's own) for the rest."""
    return str(value).removeprefix("torch.") if isinstance(value, torch.dtype) else None


def each_dtype(*dtypes):
    """Runs a test that takes `dtype` for each of them."""
    return pytest.mark.parametrize("dtype", dtypes, ids=name_of)


def to_numpy(tensor):
    """The tensor's values; bf16 and fp8 widened to float32."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16 or tensor.element_size() == 1 and tensor.is_floating_point():
        tensor = tensor.float()
    return tensor.numpy()


def to_torch(array, dtype):
    """Rounds a numpy array to a torch dtype (integers wrap)."""
    array = np.ascontiguousarray(array)
    if dtype in (torch.uint16, torch.uint32, torch.uint64):
        return torch.from_numpy(array.astype(numpy_type(dtype)))
    return torch.from_numpy(array).to(dtype)


def numpy_type(dtype):
    """The numpy type that holds the values of a torch dtype."""
    return to_numpy(torch.empty(0, dtype=dtype)).dtype


def random_values(rng, dtype, shape, special=False, low=None, high=None):
    """Random tensor. Integers spread over all magnitudes (or low..high), floats are normal.

    `special` overwrites some elements with the type's awkward values: NaN, infinities, both
    zeros, denormals and extremes; for integers the extremes, -1, 0 and 1.
    """
    kind = numpy_type(dtype)
    if dtype == torch.bool:
        return torch.from_numpy(rng.integers(0, 2, shape).astype(bool))
    if kind.kind == "f":
        out = (rng.standard_normal(shape) * (high or 4)).astype(kind)
        picks = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5]
        if dtype in (torch.float16, torch.float32, torch.float64):
            info = np.finfo(kind)
            picks += [info.max, info.min, info.tiny, info.smallest_subnormal]
    else:
        info = np.iinfo(kind)
        lo, hi = info.min if low is None else low, info.max if high is None else high
        out = rng.integers(lo, hi, shape, dtype=kind, endpoint=True)
        if low is None and high is None:
            out = out >> rng.integers(0, info.bits, shape).astype(kind)
        picks = [v for v in (info.min, info.max, -1, 0, 1, 2) if lo <= v <= hi]
    if special and out.size:
        where = rng.random(shape) < 0.3
        out[where] = rng.choice(np.array(picks).astype(kind), int(where.sum()))
    return to_torch(out, dtype)


def check_equal(got, want, signed_zero=True):
    """Bit equality of values, all NaNs being equal."""
    want = to_numpy(want) if isinstance(want, torch.Tensor) else np.asarray(want)
    got = to_numpy(got)
    assert got.shape == want.shape
    want = want.astype(got.dtype)
    np.testing.assert_array_equal(got, want)
    if signed_zero and got.dtype.kind == "f":
        zero = got == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def check_close(got, want, rtol, atol=0.0):
    """Closeness in float64; NaN and infinities must sit in the same places."""
    want = to_numpy(want) if isinstance(want, torch.Tensor) else np.asarray(want)
    got = to_numpy(got)
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol, atol)
