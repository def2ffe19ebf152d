# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block pointers and tensor descriptors: every boundary check, padding, order, advance."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from e2e import check_close, check_equal, name_of, piton_only, random_values


def window(x, row, col, m, n, pad=0):
    """The m x n window of a matrix at (row, col), `pad` outside the matrix."""
    r, c = np.ogrid[row : row + m, col : col + n]
    inside = (r >= 0) & (r < x.shape[0]) & (c >= 0) & (c < x.shape[1])
    got = x[np.clip(r, 0, x.shape[0] - 1), np.clip(c, 0, x.shape[1] - 1)]
    return np.where(inside, got, np.array(pad).astype(x.dtype))


@triton.jit
def block_load_kernel(
    x_ptr, out_ptr, rows, cols, sm, sn, row, col,
    CHECK: tl.constexpr, PAD: tl.constexpr, ORDER: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    p = tl.make_block_ptr(
        x_ptr, shape=(rows, cols), strides=(sm, sn), offsets=(row, col), block_shape=(M, N),
        order=ORDER,
    )  # fmt: skip
    x = tl.load(p, boundary_check=CHECK, padding_option=PAD)
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + where, x)


def run_block_load(x, out, row, col, check, pad="zero", order=(1, 0)):
    block_load_kernel[(1,)](
        x, out, *x.shape, *x.stride(), row, col,
        CHECK=check, PAD=pad, ORDER=order, M=out.shape[0], N=out.shape[1],
    )  # fmt: skip


@pytest.mark.parametrize("at", ((0, 0), (3, 5), (9, 0), (0, 30), (12, 33), (50, 60)), ids=str)
@pytest.mark.parametrize("dtype", (torch.int8, torch.float16, torch.float32), ids=name_of)
def test_checked_load(dtype, at, rng):
    x = random_values(rng, dtype, (13, 37))
    out = torch.full((8, 16), 3, dtype=dtype)
    run_block_load(x, out, *at, check=(0, 1))
    check_equal(out, window(x.numpy(), *at, 8, 16))


@pytest.mark.parametrize("at", ((-3, 0), (0, -5), (-8, -16), (-20, 2), (10, -4)), ids=str)
@piton_only  # the interpreter checks the upper bounds only
def test_negative_offsets(at, rng):
    x = random_values(rng, torch.float32, (13, 37))
    out = torch.full((8, 16), 3.0)
    run_block_load(x, out, *at, check=(0, 1))
    check_equal(out, window(x.numpy(), *at, 8, 16))


@pytest.mark.parametrize("check", ((), (0,), (1,), (0, 1), (1, 0)), ids=str)
def test_subset_of_checks(check, rng):
    memory = random_values(rng, torch.float32, 600)
    x = memory.as_strided((13, 24), (40, 1))
    out = torch.full((8, 16), 3.0)
    run_block_load(x, out, 10 if 0 in check else 2, 15 if 1 in check else 4, check=check)
    row, col = 10 if 0 in check else 2, 15 if 1 in check else 4
    want = window(memory.as_strided((14, 40), (40, 1)).numpy(), row, col, 8, 16)
    if 0 in check:
        want[3:] = 0
    if 1 in check:
        want[:, 9:] = 0
    check_equal(out, want)


def test_nan_padding(rng):
    x = random_values(rng, torch.float32, (5, 7))
    out = torch.zeros((8, 8))
    run_block_load(x, out, 0, 0, check=(0, 1), pad="nan")
    check_equal(out, window(x.numpy(), 0, 0, 8, 8, np.nan))


@pytest.mark.parametrize("order", ((1, 0), (0, 1)), ids=str)
@pytest.mark.parametrize("at", ((0, 0), (7, 9)), ids=str)
def test_column_major(order, at, rng):
    x = random_values(rng, torch.float32, (21, 13)).t()
    out = torch.zeros((8, 16))
    run_block_load(x, out, *at, check=(0, 1), order=order)
    check_equal(out, window(x.contiguous().numpy(), *at, 8, 16))


@triton.jit
def block_copy_kernel(x_ptr, out_ptr, rows, cols, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    col = tl.program_id(1) * N
    source = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (row, col), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (cols, rows), (rows, 1), (col, row), (N, M), (1, 0))
    x = tl.load(source, boundary_check=(0, 1))
    tl.store(target, tl.trans(x), boundary_check=(0, 1))


@pytest.mark.parametrize("shape", ((8, 16), (13, 37), (1, 1), (40, 5)), ids=str)
def test_transposing_copy(shape, rng):
    x = random_values(rng, torch.float32, shape)
    memory = torch.full((x.numel() + 64,), 4.0)
    block_copy_kernel[(triton.cdiv(shape[0], 8), triton.cdiv(shape[1], 16))](
        x, memory, *shape, M=8, N=16
    )
    check_equal(memory[: x.numel()].view(shape[1], shape[0]), x.t())
    assert (memory[x.numel() :] == 4).all()


@triton.jit
def block_matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    row = tl.program_id(0) * M
    col = tl.program_id(1) * N
    a = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (row, 0), (M, K), (1, 0))
    b = tl.make_block_ptr(b_ptr, (k, n), (n, 1), (0, col), (K, N), (1, 0))
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(b, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(x, y)
        a = tl.advance(a, (0, K))
        b = tl.advance(b, (K, 0))
    c = tl.make_block_ptr(c_ptr, (m, n), (n, 1), (row, col), (M, N), (1, 0))
    tl.store(c, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@pytest.mark.parametrize("shape", ((16, 16, 16), (33, 47, 20), (5, 90, 65)), ids=str)
@pytest.mark.parametrize("dtype", (torch.float16, torch.float32), ids=name_of)
def test_advance_in_matmul(dtype, shape, rng):
    m, n, k = shape
    a, b = random_values(rng, dtype, (m, k)), random_values(rng, dtype, (k, n))
    c = torch.zeros((m, n))
    block_matmul_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
        a, b, c, m, n, k, M=16, N=32, K=16
    )
    check_close(c, a.double() @ b.double(), 1e-4, 1e-3)


@triton.jit
def rank_one_kernel(x_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(steps):
        if i % 2 == 0:
            total += tl.load(p, boundary_check=(0,), padding_option="zero")
        p = tl.advance(p, (BLOCK // 2,))
    q = tl.make_block_ptr(out_ptr, (BLOCK,), (1,), (0,), (BLOCK,), (0,))
    tl.store(q, total)


@pytest.mark.parametrize("steps", (0, 1, 4, 9))
def test_rank_one(steps, rng):
    x = random_values(rng, torch.float32, 70)
    out = torch.full((32,), 2.0)
    rank_one_kernel[(1,)](x, out, 70, steps, BLOCK=32)
    padded = np.zeros(400, np.float32)
    padded[:70] = x.numpy()
    want = np.zeros(32, np.float32)
    for i in range(0, steps, 2):
        want += padded[i * 16 : i * 16 + 32]
    check_close(out, want, 1e-6, 1e-6)


@triton.jit
def chosen_block_kernel(x_ptr, y_ptr, out_ptr, n, flag, BLOCK: tl.constexpr):
    if flag > 0:
        p = tl.make_block_ptr(x_ptr, (n,), (1,), (3,), (BLOCK,), (0,))
    else:
        p = tl.make_block_ptr(y_ptr, (n,), (2,), (0,), (BLOCK,), (0,))
    x = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(out_ptr + tl.arange(0, BLOCK), x)


@pytest.mark.parametrize("flag", (0, 1))
@piton_only
def test_block_pointer_through_if(flag, rng):
    x, y = (random_values(rng, torch.float32, 64) for _ in range(2))
    out = torch.zeros(32)
    chosen_block_kernel[(1,)](x, y, out, 30, flag, BLOCK=32)
    want = torch.zeros(32)
    if flag:
        want[:27] = x[3:30]
    else:
        want[:30] = y[:60:2]
    check_equal(out, want)


@triton.jit
def rank_three_kernel(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (a, b, c), (b * c, c, 1), (1, 0, 2), (A, B, C), (2, 1, 0))
    x = tl.load(p, boundary_check=(0, 1, 2), padding_option="zero")
    q = tl.make_block_ptr(out_ptr, (A, B, C), (B * C, C, 1), (0, 0, 0), (A, B, C), (2, 1, 0))
    tl.store(q, x)


def test_rank_three(rng):
    x = random_values(rng, torch.float32, (4, 7, 15))
    out = torch.full((4, 8, 16), 2.0)
    rank_three_kernel[(1,)](x, out, 4, 7, 15, A=4, B=8, C=16)
    want = torch.zeros((4, 8, 16))
    want[:3, :7, :13] = x[1:, :, 2:]
    check_equal(out, want)


@triton.jit
def descriptor_copy_kernel(
    x_ptr, out_ptr, rows, cols, stride, PAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    row = tl.program_id(0) * M
    col = tl.program_id(1) * N
    x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [stride, 1], [M, N], padding_option=PAD)
    out = tl.make_tensor_descriptor(out_ptr, [rows, cols], [stride, 1], [M, N])
    value = x.load([row - 2, col])
    out.store([row, col], value)


@pytest.mark.parametrize("pad", ("zero", "nan"))
@pytest.mark.parametrize("shape", ((8, 16), (13, 20), (1, 4)), ids=str)
def test_descriptor_made_on_device(shape, pad, rng):
    rows, cols = shape
    stride = 24
    x = random_values(rng, torch.float32, (rows, stride))
    out = torch.full((rows + 8, stride), 4.0)
    descriptor_copy_kernel[(triton.cdiv(rows, 8), triton.cdiv(cols, 16))](
        x, out, rows, cols, stride, PAD=pad, M=8, N=16
    )
    want = np.full((rows + 8, stride), 4.0, np.float32)
    inner = window(x.numpy()[:, :cols], -2, 0, rows, cols, np.nan if pad == "nan" else 0)
    want[:rows, :cols] = inner
    check_equal(out, want)


@triton.jit
def descriptor_argument_kernel(x, out, row, M: tl.constexpr, N: tl.constexpr):
    value = x.load([row, 0])
    out.store([0, row], value * 2)


@pytest.mark.parametrize("dtype", (torch.float16, torch.float32, torch.int32), ids=name_of)
def test_descriptor_argument(dtype, rng):
    x = random_values(rng, dtype, (12, 16), high=3, low=-9)
    out = torch.zeros((8, 24), dtype=dtype)
    descriptor_argument_kernel[(1,)](
        TensorDescriptor.from_tensor(x, [8, 16]),
        TensorDescriptor.from_tensor(out, [8, 16]),
        8, M=8, N=16,
    )  # fmt: skip
    want = np.zeros((8, 24), x.numpy().dtype)
    want[:, 8:] = window(x.numpy(), 8, 0, 8, 16) * 2
    check_equal(out, want)


@triton.jit
def descriptor_atomic_kernel(out_ptr, rows, cols, KIND: tl.constexpr, M: tl.constexpr):
    d = tl.make_tensor_descriptor(out_ptr, [rows, cols], [cols, 1], [M, 16])
    value = tl.arange(0, M)[:, None] * 16 + tl.arange(0, 16)[None, :]
    if KIND == "add":
        d.atomic_add([2, 0], value)
    elif KIND == "max":
        d.atomic_max([2, 0], value)
    elif KIND == "min":
        d.atomic_min([2, 0], value)
    elif KIND == "or":
        d.atomic_or([2, 0], value)
    else:
        d.atomic_xor([2, 0], value)


@piton_only
@pytest.mark.parametrize("kind", ("add", "max", "min", "or", "xor"))
def test_descriptor_atomics(kind, rng):
    x = random_values(rng, torch.int32, (7, 12), low=0, high=100)
    out = x.clone()
    descriptor_atomic_kernel[(3,)](out, 7, 12, KIND=kind, M=8)
    value = (np.arange(8)[:, None] * 16 + np.arange(16)[None, :])[:5, :12].astype(np.int32)
    want = x.numpy().copy()
    fn = {
        "add": np.add, "max": np.maximum, "min": np.minimum,
        "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[kind]  # fmt: skip
    for _ in range(3):
        want[2:] = fn(want[2:], value)
    check_equal(out, want)


@triton.jit
def descriptor_gather_kernel(x_ptr, index_ptr, out_ptr, rows, cols, R: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [1, 16])
    out = tl.make_tensor_descriptor(out_ptr, [rows, cols], [cols, 1], [1, 16])
    index = tl.load(index_ptr + tl.arange(0, R))
    value = x.gather(index, 4)
    out.scatter(value, (index + 1) % rows, 0)


@piton_only
def test_descriptor_gather_scatter(rng):
    rows, cols = 12, 20
    x = random_values(rng, torch.float32, (rows, cols))
    index = torch.from_numpy(rng.permutation(rows)[:8].astype(np.int32))
    out = torch.zeros((rows, cols))
    descriptor_gather_kernel[(1,)](x, index, out, rows, cols, R=8)
    want = np.zeros((rows, cols), np.float32)
    want[(index.numpy() + 1) % rows, :16] = x.numpy()[index.numpy(), 4:20]
    check_equal(out, want)


@triton.jit
def descriptor_loop_kernel(a, b, c_ptr, k, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, k, K):
        acc = tl.dot(a.load([row, first]), b.load([0, first]).T, acc)
    rows = row + tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    tl.store(c_ptr + rows * n + cols, acc, mask=cols < n)


@pytest.mark.parametrize("k", (16, 40, 72))
def test_descriptor_matmul(k, rng):
    a = random_values(rng, torch.float16, (32, k), high=1)
    b = random_values(rng, torch.float16, (24, k), high=1)
    c = torch.zeros((32, 24))
    descriptor_loop_kernel[(2,)](
        TensorDescriptor.from_tensor(a, [16, 32]), TensorDescriptor.from_tensor(b, [32, 32]),
        c, k, 24, M=16, N=32, K=32,
    )  # fmt: skip
    check_close(c, a.double() @ b.double().t(), 1e-3, 1e-3)


@piton_only
def test_rank_of_unequal_blocks(rng):
    x = random_values(rng, torch.float32, (13, 37))
    out = torch.zeros((5, 11))
    run_block_load(x, out, 10, 30, check=(0, 1))
    check_equal(out, window(x.numpy(), 10, 30, 5, 11))
