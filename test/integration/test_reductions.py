# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions: every operation, type and axis, ties and NaN, combine functions of the user."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import (
    BF16,
    INTERPRETED,
    check_close,
    check_equal,
    each_dtype,
    piton_only,
    random_values,
    to_numpy,
)  # fmt: skip


@triton.jit
def reduce_1d_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if OP == "sum":
        r = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), axis=0)
    elif OP == "max":
        r = tl.max(tl.load(x_ptr + i), axis=0)
    elif OP == "min":
        r = tl.min(tl.load(x_ptr + i), axis=0)
    elif OP == "xor":
        r = tl.xor_sum(tl.load(x_ptr + i), axis=0)
    elif OP == "or":
        r = tl.reduce_or(tl.load(x_ptr + i), axis=0)
    elif OP == "argmax":
        r = tl.argmax(tl.load(x_ptr + i), axis=0)
    elif OP == "argmin":
        r = tl.argmin(tl.load(x_ptr + i), axis=0)
    else:
        tl.static_assert(False, "unknown OP")
    tl.store(out_ptr, r)


INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint32)


@pytest.mark.parametrize("op", ("sum", "max", "min", "xor", "or", "argmax", "argmin"))
@each_dtype(*INTEGERS)
@pytest.mark.parametrize("n", (1, 2, 64, 512))
def test_integer(op, dtype, n, rng):
    if INTERPRETED and op == "sum" and dtype == torch.int32:
        pytest.skip("the interpreter refuses an overflowing sum")
    x = random_values(rng, dtype, n, special=True)
    wide = torch.int64 if dtype in (torch.int64, torch.uint32) else torch.int32
    out = torch.zeros(1, dtype=wide)
    reduce_1d_kernel[(1,)](x, out, n, OP=op, BLOCK=n)
    v = to_numpy(x)
    narrow = {"u": np.uint32, "i": np.int32}[v.dtype.kind] if v.itemsize < 8 else np.int64
    with np.errstate(over="ignore"):
        want = {
            "sum": lambda: v.sum(dtype=narrow), "max": v.max, "min": v.min,
            "xor": lambda: np.bitwise_xor.reduce(v), "or": lambda: np.bitwise_or.reduce(v),
            "argmax": v.argmax, "argmin": v.argmin,
        }[op]()  # fmt: skip
    assert out.item() == int(want)


@pytest.mark.parametrize("op", ("sum", "max", "min", "argmax", "argmin"))
@each_dtype(torch.float16, BF16, torch.float32, torch.float64)
@pytest.mark.parametrize("n", (1, 16, 1024))
def test_float(op, dtype, n, rng):
    x = random_values(rng, dtype, n)
    out = torch.zeros(1, dtype=torch.int32 if "arg" in op else dtype)
    reduce_1d_kernel[(1,)](x, out, n, OP=op, BLOCK=n)
    v = to_numpy(x).astype(np.float64)
    want = {"sum": v.sum, "max": v.max, "min": v.min, "argmax": v.argmax, "argmin": v.argmin}[op]()
    tolerance = {"torch.float16": 2e-3, "torch.bfloat16": 8e-3, "torch.float32": 1e-5}
    rtol = tolerance.get(str(dtype), 1e-12) if op == "sum" else 0
    check_close(out, [want], rtol, rtol * np.abs(v).sum())


@pytest.mark.parametrize("op,want", (("max", 4.0), ("min", -3.0)))
def test_nan_is_skipped(op, want):
    if INTERPRETED:
        pytest.skip("the interpreter hands NaN on")
    x = torch.tensor([1.0, float("nan"), 4.0, -3.0] * 4)
    out = torch.zeros(1)
    reduce_1d_kernel[(1,)](x, out, 16, OP=op, BLOCK=16)
    assert out.item() == want
    reduce_1d_kernel[(1,)](torch.full((16,), float("nan")), out, 16, OP=op, BLOCK=16)
    assert out.isnan().all()


def test_infinities():
    x = torch.tensor([float("-inf")] * 16)
    out = torch.zeros(1)
    reduce_1d_kernel[(1,)](x, out, 16, OP="max", BLOCK=16)
    assert out.item() == float("-inf")
    reduce_1d_kernel[(1,)](-x, out, 16, OP="min", BLOCK=16)
    assert out.item() == float("inf")


@triton.jit
def reduce_axis_kernel(
    x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, KEEP: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a * B * C + b * C + c)
    if OP == "sum":
        r = tl.sum(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "max":
        r = tl.max(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "argmin":
        r = tl.argmin(x, axis=AXIS, keep_dims=KEEP)
    else:
        r = tl.xor_sum(x, axis=AXIS, keep_dims=KEEP)
    tl.store(out_ptr + tl.arange(0, SIZE), tl.reshape(r, (SIZE,)))


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize("op", ("sum", "max", "argmin", "xor"))
def test_axis(op, axis, keep, rng):
    shape = (4, 8, 16)
    x = random_values(rng, torch.int32, shape, low=-9, high=9)
    v = x.numpy()
    want = {
        "sum": v.sum, "max": v.max, "argmin": v.argmin,
        "xor": lambda axis: np.bitwise_xor.reduce(v, axis=axis),
    }[op](axis=axis)  # fmt: skip
    out = torch.zeros(want.shape, dtype=torch.int32)
    reduce_axis_kernel[(1,)](x, out, OP=op, AXIS=axis, KEEP=keep, A=4, B=8, C=16, SIZE=out.numel())
    check_equal(out, want)


@triton.jit
def reduce_all_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + where)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x))
    tl.store(out_ptr + 2, tl.min(x, axis=None))


def test_all_axes(rng):
    x = random_values(rng, torch.int32, (8, 16), low=-50, high=50)
    out = torch.zeros(3, dtype=torch.int32)
    reduce_all_kernel[(1,)](x, out, M=8, N=16)
    assert out.tolist() == [x.sum().item(), x.max().item(), x.min().item()]


@triton.jit
def with_index_kernel(
    x_ptr, value_ptr, index_ptr, MAX: tl.constexpr, LEFT: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, M)
    x = tl.load(x_ptr + rows[:, None] * N + tl.arange(0, N)[None, :])
    if MAX:
        v, i = tl.max(x, axis=1, return_indices=True, return_indices_tie_break_left=LEFT)
    else:
        v, i = tl.min(x, axis=1, return_indices=True, return_indices_tie_break_left=LEFT)
    tl.store(value_ptr + rows, v)
    tl.store(index_ptr + rows, i)


@pytest.mark.parametrize("left", (True, False))
@pytest.mark.parametrize("largest", (True, False))
@each_dtype(torch.int8, torch.int32, torch.float16, torch.float32)
def test_index_and_ties(dtype, largest, left, rng):
    x = random_values(rng, torch.int32, (8, 64), low=0, high=3).to(dtype)
    value, index = torch.zeros(8, dtype=dtype), torch.zeros(8, dtype=torch.int32)
    with_index_kernel[(1,)](x, value, index, MAX=largest, LEFT=left, M=8, N=64)
    v = x.numpy()
    want = v.max(1) if largest else v.min(1)
    check_equal(value, want)
    if left:
        check_equal(index, v.argmax(1) if largest else v.argmin(1))
    else:
        assert (v[np.arange(8), index.numpy()] == want).all()


@pytest.mark.parametrize("largest", (True, False))
def test_index_of_signed_zero_and_infinity(largest):
    x = torch.tensor([[0.0, -0.0] * 8, [float("-inf")] * 16, [float("inf")] * 16])
    x = torch.cat([x, torch.zeros(1, 16)])
    value, index = torch.zeros(4), torch.zeros(4, dtype=torch.int32)
    with_index_kernel[(1,)](x, value, index, MAX=largest, LEFT=True, M=4, N=16)
    assert index.tolist() == [0, 0, 0, 0]


@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    safe = tl.where(n == 0, 1.0, n)
    delta = mean_b - mean_a
    mean = mean_a + delta * (n_b / safe)
    return mean, m2_a + m2_b + delta * delta * (n_a * n_b / safe), n


@triton.jit
def welford_kernel(x_ptr, mean_ptr, var_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + cols, mask=cols < n, other=0.0)
    count = tl.broadcast_to((cols < n).to(tl.float32), (M, N))
    mean, m2, total = tl.reduce((x, tl.zeros_like(x), count), 1, welford)
    tl.store(mean_ptr + rows, mean)
    tl.store(var_ptr + rows, m2 / total)


@pytest.mark.parametrize("n", (1, 37, 64))
def test_welford(n, rng):
    x = random_values(rng, torch.float32, (4, n)) + 100
    mean, var = torch.zeros(4), torch.zeros(4)
    welford_kernel[(1,)](x, mean, var, n, M=4, N=64)
    check_close(mean, x.double().mean(1), 1e-6)
    check_close(var, x.double().var(1, unbiased=False), 1e-4, 1e-5)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def keep_larger_size(a, b):
    return tl.where(tl.abs(a) >= tl.abs(b), a, b)


@triton.jit
def logsumexp(a, b):
    top = tl.maximum(a, b)
    return top + tl.log(tl.exp(a - top) + tl.exp(b - top))


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def custom_kernel(x_ptr, out_ptr, OP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    x = tl.load(x_ptr + rows[:, None] * N + tl.arange(0, N)[None, :])
    if OP == "product":
        r = tl.reduce(x, 1, product)
    elif OP == "size":
        r = tl.reduce(x, 1, keep_larger_size)
    elif OP == "logsumexp":
        r = tl.reduce(x, 1, logsumexp)
    else:
        r = tl.reduce((x > -9), 1, both).to(tl.float32)
    tl.store(out_ptr + rows, r)


@pytest.mark.parametrize("op", ("product", "size", "logsumexp", "and"))
def test_custom_combine(op, rng):
    x = random_values(rng, torch.float32, (8, 32))
    out = torch.zeros(8)
    custom_kernel[(1,)](x, out, OP=op, M=8, N=32)
    v = x.double().numpy()
    want = {
        "product": v.prod(1),
        "size": v[np.arange(8), np.abs(v).argmax(1)],
        "logsumexp": np.log(np.exp(v).sum(1)),
        "and": (v > -9).all(1).astype(np.float64),
    }[op]
    check_close(out, want, 1e-4)


@triton.jit
def pair_max(value_a, key_a, value_b, key_b):
    better = (value_a > value_b) | ((value_a == value_b) & (key_a < key_b))
    return tl.where(better, value_a, value_b), tl.where(better, key_a, key_b)


@triton.jit
def pair_kernel(x_ptr, key_ptr, value_out, key_out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value, key = tl.reduce((tl.load(x_ptr + i), tl.load(key_ptr + i)), 0, pair_max)
    tl.store(value_out, value)
    tl.store(key_out, key)


def test_pair_with_own_keys(rng):
    x = random_values(rng, torch.float32, 64).round()
    key = torch.from_numpy(rng.permutation(64).astype(np.int64))
    value_out, key_out = torch.zeros(1), torch.zeros(1, dtype=torch.int64)
    pair_kernel[(1,)](x, key, value_out, key_out, BLOCK=64)
    assert value_out.item() == x.max().item()
    assert key_out.item() == key[x == x.max()].min().item()


@triton.jit
def loop_reduction_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    tl.store(out_ptr + row, top + tl.log(total))


@pytest.mark.parametrize("n", (5, 64, 333))
def test_online_logsumexp(n, rng):
    x = random_values(rng, torch.float32, (6, n))
    out = torch.zeros(6)
    loop_reduction_kernel[(6,)](x, out, n, BLOCK=64)
    check_close(out, torch.logsumexp(x.double(), 1), 1e-5, 1e-6)


@triton.jit
def masked_sum_kernel(x_ptr, out_ptr, n, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr, tl.sum(x, axis=0, dtype=DTYPE))


def test_sum_in_wider_type(rng):
    x = torch.full((1000,), 2**30, dtype=torch.int32)
    out = torch.zeros(1, dtype=torch.int64)
    masked_sum_kernel[(1,)](x, out, 1000, DTYPE=tl.int64, BLOCK=1024)
    assert out.item() == 1000 * 2**30


@triton.jit
def count_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1.0)
    tl.store(out_ptr, tl.sum((x > 0).to(tl.int32), axis=0))
    tl.store(out_ptr + 1, tl.sum(x > 0, axis=0))


def test_count(rng):
    x = random_values(rng, torch.float32, 200)
    out = torch.zeros(2, dtype=torch.int32)
    count_kernel[(1,)](x, out, 200, BLOCK=256)
    assert out.tolist() == [(x > 0).sum().item()] * 2


@piton_only
@pytest.mark.parametrize("n", (3, 7, 100, 781))
@pytest.mark.parametrize("op", ("sum", "max", "argmax"))
def test_odd_sizes(op, n, rng):
    x = random_values(rng, torch.int32, n, low=-99, high=99)
    out = torch.zeros(1, dtype=torch.int32)
    reduce_1d_kernel[(1,)](x, out, n, OP=op, BLOCK=n)
    v = x.numpy()
    assert out.item() == {"sum": v.sum, "max": v.max, "argmax": v.argmax}[op]()


@triton.jit
def nested_axes_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    centred = x - tl.sum(x, axis=1)[:, None] / N
    scaled = centred / tl.max(tl.abs(centred), axis=0)[None, :]
    tl.store(out_ptr, tl.sum(tl.sum(scaled, axis=0), axis=0))


def test_reductions_over_both_axes(rng):
    x = random_values(rng, torch.float32, (16, 32))
    out = torch.zeros(1)
    nested_axes_kernel[(1,)](x, out, M=16, N=32)
    v = x.double()
    centred = v - v.mean(1, keepdim=True)
    check_close(out, [(centred / centred.abs().amax(0)).sum().item()], 1e-3, 1e-4)


@triton.jit
def first_extreme_kernel(x_ptr, v_ptr, i_ptr, columns, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    if LARGEST:
        x = tl.load(x_ptr + row * columns + lanes, mask=inside, other=-128)
        value, index = tl.max(x, axis=0, return_indices=True)
    else:
        x = tl.load(x_ptr + row * columns + lanes, mask=inside, other=127)
        value, index = tl.min(x, axis=0, return_indices=True)
    tl.store(v_ptr + row, value)
    tl.store(i_ptr + row, index)


@pytest.mark.parametrize("largest", (True, False))
@pytest.mark.parametrize("columns", (1, 31, 37, 200, 1000, 1024))
@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.int8, torch.int64))
def test_first_of_equals(dtype, columns, largest):
    """Many equal extremes, spread over the lanes of vectors: the first one counts."""
    rng = np.random.default_rng(columns)
    v = rng.integers(-2, 3, (16, columns))
    x = torch.from_numpy(v).to(dtype)
    value, index = torch.empty(16, dtype=dtype), torch.empty(16, dtype=torch.int32)
    first_extreme_kernel[(16,)](x, value, index, columns, LARGEST=largest, BLOCK=1024)
    check_equal(index, (v.argmax(1) if largest else v.argmin(1)).astype(np.int32))
    check_equal(value, to_numpy(x).max(1) if largest else to_numpy(x).min(1))


@triton.jit
def keep_later(value1, index1, value2, index2):
    """Associative, but not commutative: nothing is compared with what came before."""
    take = value2 != 0
    return tl.where(take, value2, value1), tl.where(take, index2, index1)


@triton.jit
def last_nonzero_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    _, index = tl.reduce((tl.load(x_ptr + lanes), lanes), 0, keep_later)
    tl.store(out_ptr, index)


@piton_only
def test_order_is_kept():
    x = torch.zeros(256)
    x[torch.tensor([3, 77, 130, 141, 200])] = torch.tensor([5.0, 1.0, 9.0, 2.0, 4.0])
    out = torch.empty(1, dtype=torch.int32)
    last_nonzero_kernel[(1,)](x, out, BLOCK=256)
    assert out.item() == 200
