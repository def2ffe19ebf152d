# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only move elements: reshape, transpose, join, split, cat, broadcast, where."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import check_equal, name_of, piton_only, random_values


@triton.jit
def permute_kernel(
    x_ptr, out_ptr, P0: tl.constexpr, P1: tl.constexpr, P2: tl.constexpr, VIA: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + tl.arange(0, A * B * C)).reshape(A, B, C)
    if VIA == "permute":
        x = tl.permute(x, (P0, P1, P2))
    else:
        x = tl.trans(x, P0, P1, P2)
    tl.store(out_ptr + tl.arange(0, A * B * C), tl.ravel(x))


@pytest.mark.parametrize("via", ("permute", "trans"))
@pytest.mark.parametrize(
    "order", ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
)
def test_permute(order, via, rng):
    x = random_values(rng, torch.float32, (2, 8, 16))
    out = torch.zeros(256)
    p0, p1, p2 = order
    permute_kernel[(1,)](x, out, P0=p0, P1=p1, P2=p2, VIA=via, A=2, B=8, C=16)
    check_equal(out, x.permute(order).reshape(-1))


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :])
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], x.T)


@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.float16, torch.float32, torch.int64), ids=name_of
)
@pytest.mark.parametrize("shape", ((1, 16), (16, 1), (32, 64)), ids=str)
def test_transpose(shape, dtype, rng):
    x = random_values(rng, dtype, shape)
    out = torch.zeros(shape[::-1], dtype=dtype)
    transpose_kernel[(1,)](x, out, M=shape[0], N=shape[1])
    check_equal(out, x.t())


@triton.jit
def reshape_kernel(x_ptr, out_ptr, KIND: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    if KIND == "split_sum":
        r = tl.sum(tl.reshape(x, (N // 8, 8)), axis=1)
        tl.store(out_ptr + tl.arange(0, N // 8), r)
    elif KIND == "column_sum":
        r = tl.sum(tl.reshape(x, (8, N // 8)), axis=0)
        tl.store(out_ptr + tl.arange(0, N // 8), r)
    elif KIND == "view":
        r = tl.view(x, (N // 4, 2, 2))
        tl.store(out_ptr + tl.arange(0, N // 2), tl.ravel(tl.max(r, axis=2)))
    elif KIND == "expand":
        r = tl.expand_dims(tl.expand_dims(x, 0), 2)
        tl.store(out_ptr + tl.arange(0, N), tl.reshape(r * 2, (N,)))
    elif KIND == "scalar":
        r = tl.sum(x.reshape(1, N), axis=1)
        tl.store(out_ptr + tl.arange(0, 1), r)
    else:
        tl.static_assert(False, "unknown KIND")


@pytest.mark.parametrize("kind", ("split_sum", "column_sum", "view", "expand", "scalar"))
def test_reshape(kind, rng):
    n = 64
    x = random_values(rng, torch.int32, n, low=-99, high=99)
    v = x.numpy()
    want = {
        "split_sum": v.reshape(-1, 8).sum(1), "column_sum": v.reshape(8, -1).sum(0),
        "view": v.reshape(-1, 2).max(1), "expand": v * 2, "scalar": v.sum(keepdims=True),
    }[kind]  # fmt: skip
    out = torch.zeros(len(want), dtype=torch.int32)
    reshape_kernel[(1,)](x, out, KIND=kind, N=n)
    check_equal(out, want)


@triton.jit
def join_kernel(x_ptr, y_ptr, out_ptr, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    if KIND == "join":
        r = tl.ravel(tl.join(x, y))
    elif KIND == "interleave":
        r = tl.interleave(x, y)
    elif KIND == "split":
        a, b = tl.split(tl.reshape(tl.interleave(x, y), (N, 2)))
        r = tl.interleave(b, a)
    elif KIND == "halves":
        a, b = tl.split(tl.trans(tl.reshape(x, (2, N // 2))))
        r = tl.interleave(tl.interleave(a, b), y)
    elif KIND == "cat":
        r = tl.cat(x, y, can_reorder=True)
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + tl.arange(0, 2 * N), r)


@pytest.mark.parametrize("dtype", (torch.int8, torch.float16, torch.float32), ids=name_of)
@pytest.mark.parametrize("kind", ("join", "interleave", "split", "halves", "cat"))
def test_join(kind, dtype, rng):
    x, y = (random_values(rng, dtype, 32) for _ in range(2))
    out = torch.zeros(64, dtype=dtype)
    join_kernel[(1,)](x, y, out, KIND=kind, N=32)
    if kind == "cat":
        check_equal(out.sort().values, torch.cat([x, y]).sort().values)
        return
    a, b = x.numpy(), y.numpy()
    if kind == "split":
        a, b = b, a
    if kind == "halves":
        a = np.stack([a[:16], a[16:]], 1).ravel()
    check_equal(out, np.stack([a, b], 1).ravel())


@triton.jit
def join_2d_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    j = tl.join(tl.load(x_ptr + where), tl.load(y_ptr + where))
    j = tl.permute(j, (0, 2, 1)).reshape(2 * M, N)
    tl.store(out_ptr + tl.arange(0, 2 * M)[:, None] * N + tl.arange(0, N)[None, :], j)


def test_join_2d(rng):
    x, y = (random_values(rng, torch.float32, (8, 16)) for _ in range(2))
    out = torch.zeros((16, 16))
    join_2d_kernel[(1,)](x, y, out, M=8, N=16)
    check_equal(out, torch.stack([x, y], 1).reshape(16, 16))


@triton.jit
def broadcast_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M))
    y = tl.load(y_ptr + tl.arange(0, N))
    a, b = tl.broadcast(x[:, None], y[None, :])
    r = a * 10 + b + tl.broadcast_to(tl.sum(x, axis=0), (M, N)) + tl.full((M, 1), 3, tl.int32)
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + where, r)


def test_broadcast(rng):
    x = random_values(rng, torch.int32, 8, low=-9, high=9)
    y = random_values(rng, torch.int32, 16, low=-9, high=9)
    out = torch.zeros((8, 16), dtype=torch.int32)
    broadcast_kernel[(1,)](x, y, out, M=8, N=16)
    check_equal(out, (x[:, None] * 10 + y[None] + x.sum() + 3).to(torch.int32))


@triton.jit
def where_kernel(c_ptr, x_ptr, out_ptr, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    c = tl.load(c_ptr + i)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.where(c != 0, x, -x))
    tl.store(out_ptr + N + i, tl.where(flag > 0, x, 5.0))
    tl.store(out_ptr + 2 * N + i, tl.where(c, 1.0, 2.0))


@pytest.mark.parametrize("flag", (0, 1))
def test_where(flag, rng):
    c = random_values(rng, torch.int32, 32, low=0, high=2)
    x = random_values(rng, torch.float32, 32)
    out = torch.zeros((3, 32))
    where_kernel[(1,)](c, x, out, flag, N=32)
    keep = c != 0
    want = torch.stack(
        [torch.where(keep, x, -x), x if flag else torch.full((32,), 5.0), 2.0 - keep.float()]
    )
    check_equal(out, want, signed_zero=False)


@triton.jit
def iota_kernel(out_ptr, START: tl.constexpr, END: tl.constexpr):
    i = tl.arange(START, END)
    tl.store(out_ptr + i - START, i * i)


@pytest.mark.parametrize("start,end", ((0, 16), (5, 21), (100, 164)))
def test_arange_from(start, end):
    out = torch.zeros(end - start, dtype=torch.int32)
    iota_kernel[(1,)](out, START=start, END=end)
    check_equal(out, np.arange(start, end) ** 2)


@triton.jit
def slice_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A))[:, None, None]
    y = tl.load(x_ptr + tl.arange(0, B))[None, None, :]
    r = (x + y * 2).reshape(A, B)
    tl.store(out_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], r)


def test_index_with_none(rng):
    x = random_values(rng, torch.float32, 32)
    out = torch.zeros((8, 32))
    slice_kernel[(1,)](x, out, A=8, B=32)
    check_equal(out, x[:8, None] + x[None] * 2)


@piton_only
@pytest.mark.parametrize("shape", ((3, 5), (7, 1), (10, 33)), ids=str)
def test_odd_transpose(shape, rng):
    x = random_values(rng, torch.float32, shape)
    out = torch.zeros(shape[::-1])
    transpose_kernel[(1,)](x, out, M=shape[0], N=shape[1])
    check_equal(out, x.t())


@piton_only
def test_odd_permute(rng):
    x = random_values(rng, torch.float32, (3, 5, 7))
    out = torch.zeros(105)
    permute_kernel[(1,)](x, out, P0=2, P1=0, P2=1, VIA="permute", A=3, B=5, C=7)
    check_equal(out, x.permute(2, 0, 1).reshape(-1))


@piton_only
@pytest.mark.parametrize("kind", ("join", "interleave", "split"))
def test_odd_join(kind, rng):
    x, y = (random_values(rng, torch.float32, 21) for _ in range(2))
    out = torch.zeros(42)
    join_kernel[(1,)](x, y, out, KIND=kind, N=21)
    pair = (y, x) if kind == "split" else (x, y)
    check_equal(out, torch.stack(pair, 1).reshape(-1))
