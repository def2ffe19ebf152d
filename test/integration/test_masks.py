# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masked loads and stores: every predicate, boxes from both sides, masks from memory, holes.

A guard zone around each output shows that masked-off lanes stay untouched, and the inputs end
right at the last readable element.
"""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import check_equal, name_of, piton_only, random_values, to_numpy

GUARD = 64


@triton.jit
def predicate_kernel(x_ptr, out_ptr, a, b, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == "lt":
        mask = i < a
    elif KIND == "le":
        mask = i <= a
    elif KIND == "gt":
        mask = i > a
    elif KIND == "ge":
        mask = i >= a
    elif KIND == "eq":
        mask = i == a
    elif KIND == "ne":
        mask = i != a
    elif KIND == "flipped":
        mask = a > i
    elif KIND == "between":
        mask = (i >= a) & (i < b)
    elif KIND == "outside":
        mask = (i < a) | (i >= b)
    elif KIND == "not":
        mask = ~(i < a)
    elif KIND == "xor":
        mask = (i < a) ^ (i < b)
    elif KIND == "scaled":
        mask = i * 2 < a
    elif KIND == "odd":
        mask = (i % 2 == 1) & (i < a)
    elif KIND == "minus":
        mask = a - i > 0
    elif KIND == "unsigned":
        mask = i.to(tl.uint32) < a.to(tl.uint32)
    elif KIND == "wide":
        mask = i.to(tl.int64) < a.to(tl.int64)
    elif KIND == "never":
        mask = i < 0
    elif KIND == "always":
        mask = i >= 0
    elif KIND == "scalar":
        mask = (i < a) & (tl.program_id(0) == b)
    elif KIND == "nested":
        mask = ((i > a) & (i < b)) & ((i != a + 2) | (i == b - 1))
    elif KIND == "minmax":
        mask = i < tl.minimum(a, b)
    else:
        tl.static_assert(False, "unknown KIND")
    x = tl.load(x_ptr + i, mask=mask, other=-7.0)
    tl.store(out_ptr + i, x + 1, mask=mask)
    tl.store(out_ptr + i + 1024, x)


def predicate(kind, i, a, b, block):
    return {
        "lt": i < a, "le": i <= a, "gt": i > a, "ge": i >= a, "eq": i == a, "ne": i != a,
        "flipped": i < a, "between": (i >= a) & (i < b), "outside": (i < a) | (i >= b),
        "not": i >= a, "xor": (i < a) ^ (i < b), "scaled": i * 2 < a,
        "odd": (i % 2 == 1) & (i < a), "minus": i < a, "unsigned": i < a % 2**32, "wide": i < a,
        "never": i < 0, "always": i >= 0, "scalar": (i < a) & (i // block == b),
        "nested": (i > a) & (i < b) & ((i != a + 2) | (i == b - 1)), "minmax": i < min(a, b),
    }[kind]  # fmt: skip


KINDS = (
    "lt", "le", "gt", "ge", "eq", "ne", "flipped", "between", "outside", "not", "xor", "scaled",
    "odd", "minus", "unsigned", "wide", "never", "always", "scalar", "nested", "minmax",
)  # fmt: skip


@pytest.mark.parametrize("a,b", ((100, 200), (0, 256), (-5, 3), (300, 2), (63, 64), (1, 1)))
@pytest.mark.parametrize("kind", KINDS)
def test_predicate(kind, a, b, rng):
    if kind in ("unsigned", "wide") and a == 1:
        pytest.skip("the argument 1 is a constant, which has no .to")
    x = random_values(rng, torch.float32, 256)
    out = torch.full((2048,), 9.0)
    predicate_kernel[(4,)](x, out, a, b, KIND=kind, BLOCK=64)
    mask = predicate(kind, np.arange(256), a, b, 64)
    want = np.full(2048, 9.0, np.float32)
    want[:256][mask] = x.numpy()[mask] + 1
    want[1024:1280] = np.where(mask, x.numpy(), np.float32(-7))
    check_equal(out, want)


@triton.jit
def memory_mask_kernel(x_ptr, mask_ptr, out_ptr, n, BOTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    if BOTH:
        mask = mask & (i < n)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask, other=3), mask=mask)


@pytest.mark.parametrize("dtype", (torch.int8, torch.float16, torch.float32), ids=name_of)
@pytest.mark.parametrize("both", (False, True))
def test_mask_from_memory(both, dtype, rng):
    n = 200
    x = random_values(rng, dtype, n)
    keep = torch.from_numpy(rng.integers(0, 2, n).astype(np.int8))
    out = torch.full((n + GUARD,), 5, dtype=dtype)
    memory_mask_kernel[(4,)](x, keep, out, n, BOTH=both, BLOCK=64)
    want = np.full(n + GUARD, 5).astype(to_numpy(out).dtype)
    want[:n] = np.where(keep.numpy() != 0, to_numpy(x), want[:n])
    check_equal(out, want)


@triton.jit
def box_kernel(
    x_ptr, out_ptr, row_low, row_high, col_low, col_high, pad_ptr, stride,
    TENSOR_OTHER: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    mask = (rows >= row_low) & (rows < row_high) & (cols >= col_low) & (cols < col_high)
    where = rows * stride + cols
    if TENSOR_OTHER:
        x = tl.load(x_ptr + where, mask=mask, other=tl.load(pad_ptr + cols) + rows)
    else:
        x = tl.load(x_ptr + where, mask=mask, other=-2.0)
    tl.store(out_ptr + rows * N + cols, x)
    tl.store(out_ptr + M * N + rows * N + cols, x * 2, mask=mask)


BOXES = (
    (0, 16, 0, 32),
    (3, 9, 5, 30),
    (4, 4, 0, 32),
    (-3, 40, 31, 99),
    (15, 16, 0, 1),
    (9, 3, 2, 8),
)


@pytest.mark.parametrize("tensor_other", (False, True))
@pytest.mark.parametrize("box", BOXES, ids=str)
def test_box(box, tensor_other, rng):
    m, n, stride = 16, 32, 37
    x = random_values(rng, torch.float32, (m, stride))
    pad = random_values(rng, torch.float32, n)
    out = torch.full((2, m, n), 1.0)
    box_kernel[(1,)](x, out, *box, pad, stride, TENSOR_OTHER=tensor_other, M=m, N=n)
    r, c = np.ogrid[:m, :n]
    mask = (r >= box[0]) & (r < box[1]) & (c >= box[2]) & (c < box[3])
    other = pad.numpy() + r.astype(np.float32) if tensor_other else np.float32(-2)
    loaded = np.where(mask, x.numpy()[:, :n], other)
    check_equal(out, np.stack([loaded, np.where(mask, loaded * 2, np.float32(1))]))


@triton.jit
def broadcast_mask_kernel(x_ptr, out_ptr, rows_used, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    mask = tl.broadcast_to((rows < rows_used)[:, None], (M, N))
    where = rows[:, None] * N + cols[None, :]
    tl.store(out_ptr + where, tl.load(x_ptr + where, mask=mask, other=0) + 1, mask=mask)


@pytest.mark.parametrize("used", (0, 1, 7, 8, 12))
def test_row_mask(used, rng):
    x = random_values(rng, torch.int32, (8, 16), low=-99, high=99)
    out = torch.zeros((8, 16), dtype=torch.int32)
    broadcast_mask_kernel[(1,)](x[: max(used, 1)], out, used, M=8, N=16)
    want = np.zeros((8, 16), np.int32)
    want[:used] = x.numpy()[:used] + 1
    check_equal(out, want)


@triton.jit
def triangle_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    r = tl.arange(0, N)[:, None]
    c = tl.arange(0, N)[None, :]
    mask = (c <= r) & (r < n)
    x = tl.load(x_ptr + r * n + c, mask=mask, other=0.0)
    tl.store(out_ptr + r * N + c, x, mask=mask | (r == c))


@pytest.mark.parametrize("n", (1, 13, 16))
def test_triangle(n, rng):
    x = random_values(rng, torch.float32, (n, n))
    out = torch.full((16, 16), 4.0)
    triangle_kernel[(1,)](x, out, n, N=16)
    want = np.full((16, 16), 4.0, np.float32)
    low = np.tril(np.ones((n, n), bool))
    want[:n, :n][low] = x.numpy()[low]
    for i in range(n, 16):
        want[i, i] = 0
    check_equal(out, want)


@triton.jit
def loop_mask_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    ptr = x_ptr + lanes
    left = n
    while left > 0:
        total += tl.load(ptr, mask=mask, other=0.0)
        ptr += BLOCK
        left -= BLOCK
        mask = lanes < left
    tl.store(out_ptr + lanes, total)


@pytest.mark.parametrize("n", (0, 1, 31, 32, 33, 100))
def test_mask_carried_by_loop(n, rng):
    x = random_values(rng, torch.float32, n)
    out = torch.full((32,), 8.0)
    loop_mask_kernel[(1,)](x, out, n, BLOCK=32)
    want = np.zeros(32, np.float32)
    for first in range(0, n, 32):
        part = x.numpy()[first : first + 32]
        want[: len(part)] += part
    check_equal(out, want)


@triton.jit
def undefined_other_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr, tl.sum(tl.where(i < n, x, 0), axis=0))


def test_undefined_lanes_do_not_leak():
    x = torch.arange(10, dtype=torch.int32)
    out = torch.zeros(1, dtype=torch.int32)
    undefined_other_kernel[(1,)](x, out, 10, BLOCK=64)
    assert out.item() == 45


@triton.jit
def scalar_mask_kernel(x_ptr, out_ptr, n):
    i = tl.program_id(0)
    x = tl.load(x_ptr + i, mask=i < n, other=-1.0)
    tl.store(out_ptr + i, x, mask=i != 2)


def test_scalar_access():
    x = torch.arange(5.0)
    out = torch.full((8,), 9.0)
    scalar_mask_kernel[(8,)](x, out, 5)
    assert out.tolist() == [0, 1, 9, 3, 4, -1, -1, -1]


@triton.jit
def bool_buffer_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=False)
    y = tl.load(y_ptr + i, mask=i < n, other=True)
    tl.store(out_ptr + i, x & ~y, mask=i < n)


@piton_only  # the interpreter inverts a bool as an integer
def test_bool_buffers(rng):
    x, y = (random_values(rng, torch.bool, 77) for _ in range(2))
    out = torch.zeros(77, dtype=torch.bool)
    bool_buffer_kernel[(3,)](x, y, out, 77, BLOCK=32)
    check_equal(out, (x & ~y).numpy())
    assert set(out.view(torch.uint8).tolist()) <= {0, 1}


@triton.jit
def select_store_kernel(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, x, mask=x > limit)


def test_mask_from_values(rng):
    x = random_values(rng, torch.int32, 50, low=-100, high=100)
    out = torch.full((64,), 1, dtype=torch.int32)
    select_store_kernel[(1,)](x, out, 50, 10, BLOCK=64)
    want = np.ones(64, np.int32)
    want[:50][x.numpy() > 10] = x.numpy()[x.numpy() > 10]
    check_equal(out, want)


@piton_only
@pytest.mark.parametrize("block", (3, 50, 100))
@pytest.mark.parametrize("n", (1, 99, 100, 101))
def test_odd_blocks(n, block, rng):
    x = random_values(rng, torch.float32, n)
    keep = torch.ones(n, dtype=torch.int8)
    out = torch.full((n + GUARD,), 5.0)
    memory_mask_kernel[(triton.cdiv(n, block),)](x, keep, out, n, BOTH=True, BLOCK=block)
    check_equal(out[:n], x)
    assert (out[n:] == 5).all()
