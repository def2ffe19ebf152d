# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile products: types, accumulators, batches, transposed operands, odd sizes, precisions."""

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
    name_of,
    piton_only,
    random_values,
)


@triton.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, TA: tl.constexpr, TB: tl.constexpr, ACC: tl.constexpr,
    PRECISION: tl.constexpr, OUT: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    if TA:
        a = tl.trans(tl.load(a_ptr + k[:, None] * M + m[None, :]))
    else:
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    if TB:
        b = tl.trans(tl.load(b_ptr + n[:, None] * K + k[None, :]))
    else:
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    where = m[:, None] * N + n[None, :]
    if ACC == "none":
        r = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    elif ACC == "argument":
        r = tl.dot(a, b, tl.load(c_ptr + where), input_precision=PRECISION, out_dtype=OUT)
    else:
        r = tl.load(c_ptr + where)
        r += tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    tl.store(out_ptr + where, r)


def run_dot(dtype, m, n, k, rng, ta=False, tb=False, acc="none", precision=None):
    small = dict(low=-128, high=127) if dtype == torch.int8 else dict(high=1)
    a = random_values(rng, dtype, (k, m) if ta else (m, k), **small)
    b = random_values(rng, dtype, (n, k) if tb else (k, n), **small)
    result = (
        torch.int32 if dtype == torch.int8 else dtype if dtype == torch.float64 else torch.float32
    )
    c = random_values(rng, result, (m, n), high=100, low=-100)
    if result != torch.int32:
        c /= 50
    out = torch.zeros((m, n), dtype=result)
    dot_kernel[(1,)](
        a, b, c, out, TA=ta, TB=tb, ACC=acc, PRECISION=precision,
        OUT={torch.int32: tl.int32, torch.float64: tl.float64}.get(result, tl.float32),
        M=m, N=n, K=k,
    )  # fmt: skip
    want = (a.t() if ta else a).double() @ (b.t() if tb else b).double()
    if acc != "none":
        want += c.double()
    if dtype == torch.int8:
        check_equal(out, want.to(torch.int32))
    else:
        tight = {"tf32": 5e-3, "hf32": 5e-3}.get(precision, 1e-5 if k < 200 else 5e-5)
        check_close(out, want, tight, tight * k**0.5)


@pytest.mark.parametrize("acc", ("none", "argument", "add"))
@each_dtype(torch.int8, torch.float16, BF16, torch.float32, torch.float64)
@pytest.mark.parametrize("shape", ((16, 16, 16), (32, 64, 16), (16, 32, 128)), ids=str)
def test_dot(shape, dtype, acc, rng):
    run_dot(dtype, *shape, rng, acc=acc)


@pytest.mark.parametrize("ta,tb", ((False, True), (True, False), (True, True)))
@each_dtype(torch.int8, torch.float16, BF16, torch.float32)
def test_transposed(dtype, ta, tb, rng):
    run_dot(dtype, 32, 16, 64, rng, ta, tb, "argument")


@pytest.mark.parametrize("precision", ("ieee", "tf32", pytest.param("hf32", marks=piton_only)))
def test_precision(precision, rng):
    run_dot(torch.float32, 32, 32, 64, rng, precision=precision)


@piton_only
@pytest.mark.parametrize(
    "shape", ((1, 1, 1), (3, 5, 7), (17, 33, 9), (1, 64, 33), (40, 24, 100)), ids=str
)
@each_dtype(torch.int8, torch.float16, torch.bfloat16, torch.float32)
def test_odd_sizes(dtype, shape, rng):
    run_dot(dtype, *shape, rng, acc="add")
    run_dot(dtype, *shape, rng, ta=True, tb=True)


@each_dtype(torch.float16, torch.float32)
def test_large_tile(dtype, rng):
    run_dot(dtype, 128, 128, 64, rng, acc="argument")


@triton.jit
def half_result_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr):
    i = tl.arange(0, M)
    where = i[:, None] * M + i[None, :]
    r = tl.dot(tl.load(a_ptr + where), tl.load(b_ptr + where), out_dtype=tl.float16)
    tl.store(out_ptr + where, r)


def test_half_result(rng):
    a, b = (random_values(rng, torch.float16, (16, 16), high=1) for _ in range(2))
    out = torch.zeros((16, 16), dtype=torch.float16)
    half_result_kernel[(1,)](a, b, out, M=16)
    check_close(out, a.double() @ b.double(), 2e-2, 2e-2)


@triton.jit
def batch_kernel(
    a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    batch = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    k = tl.arange(0, K)
    n = tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + batch * M * K + m * K + k[None, None, :])
    b = tl.load(b_ptr + batch * K * N + k[None, :, None] * N + n)
    tl.store(out_ptr + batch * M * N + m * N + n, tl.dot(a, b))


@pytest.mark.parametrize("batch", (1, 2, 4))
@each_dtype(torch.float16, torch.float32)
def test_batch(dtype, batch, rng):
    a = random_values(rng, dtype, (batch, 16, 32), high=1)
    b = random_values(rng, dtype, (batch, 32, 16), high=1)
    out = torch.zeros((batch, 16, 16))
    batch_kernel[(1,)](a, b, out, B=batch, M=16, N=16, K=32)
    check_close(out, a.double() @ b.double(), 1e-5, 1e-4)


@triton.jit
def chained_kernel(q_ptr, k_ptr, v_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[:, None]
    d = tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + m * D + d)
    s = tl.dot(q, tl.trans(tl.load(k_ptr + n * D + d)))
    s = s - tl.max(s, axis=1)[:, None]
    p = tl.exp(s)
    p = p / tl.sum(p, axis=1)[:, None]
    tl.store(out_ptr + m * D + d, tl.dot(p.to(q.dtype), tl.load(v_ptr + n * D + d)))


@each_dtype(torch.float16, BF16, torch.float32)
def test_chained(dtype, rng):
    q, k, v = (random_values(rng, dtype, (32, 16), high=1) for _ in range(3))
    out = torch.zeros((32, 16))
    chained_kernel[(1,)](q, k, v, out, M=32, N=32, D=16)
    p = torch.softmax(q.double() @ k.double().t(), 1)
    tight = {torch.float32: 1e-5, torch.float16: 2e-3}.get(dtype, 2e-2)
    check_close(out, p @ v.double(), tight, tight)


@triton.jit
def loop_kernel(
    a_ptr, b_ptr, out_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVERY: tl.constexpr
):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), tl.float32)
    best = tl.full((M,), -float("inf"), tl.float32)
    for first in range(0, k, K):
        inner = first + tl.arange(0, K)
        a = tl.load(a_ptr + m * k + inner[None, :], mask=inner[None, :] < k, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * N + n, mask=inner[:, None] < k, other=0.0)
        acc = tl.dot(a, b, acc)
        if EVERY:
            best = tl.maximum(best, tl.max(acc, axis=1))
            acc = acc * 0.5
    tl.store(out_ptr + m * N + n, acc + tl.where(best > -1e30, best, 0.0)[:, None])


@pytest.mark.parametrize("every", (False, True))
@pytest.mark.parametrize("k", (16, 50, 128))
def test_accumulating_loop(k, every, rng):
    a, b = (
        random_values(rng, torch.float32, (16, k), high=1),
        random_values(rng, torch.float32, (k, 32), high=1),
    )
    out = torch.zeros((16, 32))
    loop_kernel[(1,)](a, b, out, k, M=16, N=32, K=32, EVERY=every)
    acc, best = torch.zeros((16, 32), dtype=torch.float64), None
    for first in range(0, k, 32):
        acc = acc + a[:, first : first + 32].double() @ b[first : first + 32].double()
        if every:
            row = acc.amax(1)
            best = row if best is None else torch.maximum(best, row)
            acc = acc * 0.5
    check_close(out, acc + best[:, None] if every else acc, 1e-4, 1e-4)


@triton.jit
def two_results_kernel(a_ptr, b_ptr, sum_ptr, max_ptr, n, K: tl.constexpr):
    i = tl.arange(0, K)
    where = i[:, None] * K + i[None, :]
    a = tl.load(a_ptr + where)
    total = tl.zeros((K, K), tl.float32)
    power = tl.load(b_ptr + where)
    for _ in range(n):
        power = tl.dot(a, power)
        total += power
    tl.store(sum_ptr + where, total)
    tl.store(max_ptr + where, power)


def test_power_series(rng):
    a = random_values(rng, torch.float32, (16, 16), high=1) / 4
    b = random_values(rng, torch.float32, (16, 16), high=1)
    total, power = torch.zeros((16, 16)), torch.zeros((16, 16))
    two_results_kernel[(1,)](a, b, total, power, 4, K=16)
    p, t = b.double(), torch.zeros((16, 16), dtype=torch.float64)
    for _ in range(4):
        p = a.double() @ p
        t += p
    check_close(total, t, 1e-4, 1e-4)
    check_close(power, p, 1e-4, 1e-4)


@triton.jit
def scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, FORMAT: tl.constexpr, RHS_SCALED: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    g = tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + g[None, :])
    if RHS_SCALED:
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + g[None, :])
        r = tl.dot_scaled(a, a_scale, FORMAT, b, b_scale, FORMAT)
    else:
        r = tl.dot_scaled(a, a_scale, FORMAT, b, None, FORMAT)
    tl.store(out_ptr + m[:, None] * N + n[None, :], r)


@piton_only
@pytest.mark.parametrize("rhs", (False, True))
@pytest.mark.parametrize("fmt", ("bf16", "fp16", "e4m3", "e5m2"))
def test_dot_scaled(fmt, rhs, rng):
    m, n, k = 16, 32, 64
    dtype = {
        "bf16": torch.bfloat16, "fp16": torch.float16, "e4m3": torch.float8_e4m3fn,
        "e5m2": torch.float8_e5m2,
    }[fmt]  # fmt: skip
    a, b = (random_values(rng, torch.float32, s, high=1).to(dtype) for s in ((m, k), (k, n)))
    sa = torch.from_numpy(rng.integers(120, 134, (m, k // 32)).astype(np.uint8))
    sb = torch.from_numpy(rng.integers(120, 134, (n, k // 32)).astype(np.uint8))
    out = torch.zeros((m, n))
    view = (lambda t: t.view(torch.uint8)) if fmt.startswith("e") else (lambda t: t)
    scaled_kernel[(1,)](view(a), sa, view(b), sb, out, FORMAT=fmt, RHS_SCALED=rhs, M=m, N=n, K=k)
    x = a.double() * (2.0 ** (sa.double() - 127)).repeat_interleave(32, 1)
    y = b.double()
    if rhs:
        y = y * (2.0 ** (sb.double() - 127)).repeat_interleave(32, 1).t()
    check_close(out, x @ y, 1e-2, 1e-2 * (x.abs() @ y.abs()).max().item())


@piton_only
@pytest.mark.parametrize("fp8", (torch.float8_e4m3fn, torch.float8_e5m2), ids=name_of)
def test_dot_fp8(fp8, rng):
    a, b = (random_values(rng, torch.float32, (32, 32), high=1).to(fp8) for _ in range(2))
    c = torch.zeros((32, 32))
    out = torch.zeros((32, 32))
    dot_kernel[(1,)](
        a,
        b,
        c,
        out,
        TA=False,
        TB=False,
        ACC="none",
        PRECISION=None,
        OUT=tl.float32,
        M=32,
        N=32,
        K=32,
    )
    check_close(out, a.double() @ b.double(), 1e-4, 1e-3)


@triton.jit
def mixed_use_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr):
    i = tl.arange(0, M)
    where = i[:, None] * M + i[None, :]
    a = tl.load(a_ptr + where)
    b = tl.load(b_ptr + where)
    r = tl.dot(a * 2 + 1, tl.where(b > 0, b, 0.0)) + a
    tl.store(out_ptr + where, tl.dot(r, b) - tl.sum(a, axis=0)[None, :])


def test_computed_operands(rng):
    a, b = (random_values(rng, torch.float32, (32, 32), high=1) for _ in range(2))
    out = torch.zeros((32, 32))
    mixed_use_kernel[(1,)](a, b, out, M=32)
    x, y = a.double(), b.double()
    r = (x * 2 + 1) @ y.clamp(min=0) + x
    check_close(out, r @ y - x.sum(0), 1e-4, 1e-3)


def test_zero_times_infinity(rng):
    if INTERPRETED:
        pytest.skip("numpy warns")
    a = torch.zeros((16, 16))
    b = torch.zeros((16, 16))
    a[0, 0], b[0, 0] = float("inf"), 1.0
    a[1, 1], b[1, 1] = float("nan"), 1.0
    c, out = torch.zeros((16, 16)), torch.zeros((16, 16))
    dot_kernel[(1,)](
        a,
        b,
        c,
        out,
        TA=False,
        TB=False,
        ACC="none",
        PRECISION=None,
        OUT=tl.float32,
        M=16,
        N=16,
        K=16,
    )
    check_equal(out, a @ b, signed_zero=False)
