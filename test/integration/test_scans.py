# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans, sort, topk, flip, histogram and gather."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import INTERPRETED, check_close, check_equal, name_of, piton_only, random_values


@triton.jit
def keep_max(a, b):
    return tl.maximum(a, b)


@triton.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def scan_kernel(
    x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + where)
    if OP == "sum":
        r = tl.cumsum(x, axis=AXIS, reverse=REVERSE)
    elif OP == "prod":
        r = tl.cumprod(x, axis=AXIS, reverse=REVERSE)
    elif OP == "max":
        r = tl.associative_scan(x, AXIS, keep_max, reverse=REVERSE)
    elif OP == "last":
        r = tl.associative_scan(x, AXIS, last_nonzero, reverse=REVERSE)
    else:
        tl.static_assert(False, "unknown OP")
    tl.store(out_ptr + where, r)


def scan_reference(op, v, axis, reverse):
    if reverse:
        return np.flip(scan_reference(op, np.flip(v, axis), axis, False), axis)
    if op == "last":
        out = v.copy()
        moved = np.moveaxis(out, axis, 0)
        for i in range(1, moved.shape[0]):
            moved[i] = np.where(moved[i] != 0, moved[i], moved[i - 1])
        return out
    fn = {"sum": np.add, "prod": np.multiply, "max": np.maximum}[op]
    return fn.accumulate(v, axis=axis, dtype=v.dtype)


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("op", ("sum", "prod", "max", "last"))
@pytest.mark.parametrize("dtype", (torch.int32, torch.int64, torch.float32), ids=name_of)
def test_scan(op, dtype, axis, reverse, rng):
    if INTERPRETED and op == "last":
        pytest.skip("the interpreter scans by adding and multiplying only")
    x = random_values(rng, torch.int32, (8, 32), low=-2, high=2).to(dtype)
    out = torch.zeros_like(x)
    scan_kernel[(1,)](x, out, OP=op, AXIS=axis, REVERSE=reverse, M=8, N=32)
    check_close(out, scan_reference(op, x.numpy(), axis, reverse), 1e-6)


@triton.jit
def scan_1d_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.cumsum(x, axis=0), mask=i < n)


@pytest.mark.parametrize("dtype", (torch.int8, torch.float16, torch.float32), ids=name_of)
@pytest.mark.parametrize("n", (1, 100, 256))
def test_cumsum_1d(n, dtype, rng):
    x = random_values(rng, torch.int32, n, low=-3, high=3).to(dtype)
    out = torch.zeros(n, dtype=dtype)
    scan_1d_kernel[(1,)](x, out, n, BLOCK=256)
    check_equal(out, x.to(torch.int32).cumsum(0).numpy().astype(x.numpy().dtype), False)


@triton.jit
def linear_recurrence_kernel(a_ptr, b_ptr, out_ptr, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    _, h = tl.associative_scan((tl.load(a_ptr + i), tl.load(b_ptr + i)), 0, affine, reverse=REVERSE)
    tl.store(out_ptr + i, h)


@piton_only
@pytest.mark.parametrize("reverse", (False, True))
def test_linear_recurrence(reverse, rng):
    a = torch.from_numpy(rng.uniform(0.5, 0.9, 64).astype(np.float32))
    b = random_values(rng, torch.float32, 64)
    out = torch.zeros(64)
    linear_recurrence_kernel[(1,)](a, b, out, REVERSE=reverse, BLOCK=64)
    h, want = 0.0, np.zeros(64)
    order = range(63, -1, -1) if reverse else range(64)
    for i in order:
        h = h * float(a[i]) + float(b[i])
        want[i] = h
    check_close(out, want, 1e-4, 1e-4)


@triton.jit
def running_total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    carry = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(out_ptr + i, tl.cumsum(x, axis=0) + carry, mask=i < n)
        carry += tl.sum(x, axis=0)


def test_running_total(rng):
    x = random_values(rng, torch.float32, 300)
    out = torch.zeros(300)
    running_total_kernel[(1,)](x, out, 300, BLOCK=64)
    check_close(out, x.double().cumsum(0), 1e-4, 1e-4)


@triton.jit
def sort_kernel(
    x_ptr, out_ptr, K: tl.constexpr, DESC: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    rows = tl.arange(0, M)[:, None]
    x = tl.load(x_ptr + rows * N + tl.arange(0, N)[None, :])
    if K == 0:
        tl.store(out_ptr + rows * N + tl.arange(0, N)[None, :], tl.sort(x, descending=DESC))
    else:
        tl.store(out_ptr + rows * K + tl.arange(0, K)[None, :], tl.topk(x, K))


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("shape", ((1, 2), (1, 64), (4, 32)), ids=str)
@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.int32, torch.float16, torch.float32), ids=name_of
)
def test_sort(dtype, shape, descending, rng):
    x = random_values(rng, dtype, shape)
    out = torch.zeros_like(x)
    sort_kernel[(1,)](x, out, K=0, DESC=descending, M=shape[0], N=shape[1])
    check_equal(out, x.sort(1, descending=descending).values)


@pytest.mark.parametrize("k", (1, 4, 16))
def test_topk(k, rng):
    x = random_values(rng, torch.float32, (4, 64))
    out = torch.zeros((4, k))
    sort_kernel[(1,)](x, out, K=k, DESC=True, M=4, N=64)
    check_equal(out, x.topk(k, 1).values)


@triton.jit
def flip_kernel(x_ptr, out_ptr, DIM: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + where, tl.flip(tl.load(x_ptr + where), DIM))


@pytest.mark.parametrize("dim", (0, 1))
def test_flip(dim, rng):
    x = random_values(rng, torch.float32, (8, 16))
    out = torch.zeros_like(x)
    flip_kernel[(1,)](x, out, DIM=dim, M=8, N=16)
    check_equal(out, x.flip(dim))


@triton.jit
def histogram_kernel(
    x_ptr, out_ptr, n, MASKED: tl.constexpr, BINS: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if MASKED:
        h = tl.histogram(x, BINS, mask=i < n)
    else:
        h = tl.histogram(x, BINS)
    tl.store(out_ptr + tl.arange(0, BINS), h)


@pytest.mark.parametrize("masked", (False, True))
@pytest.mark.parametrize("n", (1, 100, 512))
def test_histogram(n, masked, rng):
    x = random_values(rng, torch.int32, n, low=0, high=15)
    out = torch.zeros(16, dtype=torch.int32)
    histogram_kernel[(1,)](x, out, n, MASKED=masked, BINS=16, BLOCK=512)
    want = np.bincount(x.numpy(), minlength=16)
    if not masked:
        want[0] += 512 - n
    check_equal(out, want)


@triton.jit
def gather_kernel(
    x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    R: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    where = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out_ptr + where, tl.gather(x, tl.load(index_ptr + where), AXIS))


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", (torch.int8, torch.float16, torch.float32), ids=name_of)
def test_gather(dtype, axis, rng):
    x = random_values(rng, dtype, (8, 32))
    shape = (16, 32) if axis == 0 else (8, 64)
    index = random_values(rng, torch.int32, shape, low=0, high=x.shape[axis] - 1)
    out = torch.zeros(shape, dtype=dtype)
    gather_kernel[(1,)](x, index, out, AXIS=axis, M=8, N=32, R=shape[0], C=shape[1])
    check_equal(out, torch.gather(x, axis, index.long()))


@triton.jit
def permutation_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.gather(x, (i * 5 + 3) % N, 0))


def test_gather_1d(rng):
    x = random_values(rng, torch.float32, 64)
    out = torch.zeros(64)
    permutation_kernel[(1,)](x, out, N=64)
    check_equal(out, x[(torch.arange(64) * 5 + 3) % 64])
