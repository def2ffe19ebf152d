# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches that move more than the last-level cache holds, whose rows are stored past it; and
stores that lie between a load and the ops that read it.

Rows start anywhere in a cache line and end anywhere in a vector; a guard around the output shows
that nothing else is written.
"""

import pytest
import torch
import triton
import triton.language as tl

GUARD = 96
# Beyond a last-level cache of 32 MiB, and still milliseconds.
BYTES = 72 << 20


@triton.jit
def negate_kernel(x_ptr, out_ptr, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * x_stride + lanes, mask=inside)
    tl.store(out_ptr + row * out_stride + lanes, -x, mask=inside)


@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("columns", [2048, 1531])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.float64])
def test_rows(dtype, columns, start):
    block = 2048
    rows = BYTES // (2 * block * dtype.itemsize)
    x = torch.arange(rows * columns).remainder_(127).to(dtype).reshape(rows, columns)
    whole = torch.full((rows * columns + 2 * GUARD,), 77, dtype=dtype)
    out = whole[GUARD + start : GUARD + start + rows * columns].view(rows, columns)
    negate_kernel[(rows,)](x, out, columns, x.stride(0), out.stride(0), BLOCK=block)
    assert torch.equal(out, -x)
    assert (whole[: GUARD + start] == 77).all()
    assert (whole[GUARD + start + rows * columns :] == 77).all()


@triton.jit
def double_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """No mask: rows of known length that start anywhere."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)


@pytest.mark.parametrize("start", [0, 3])
def test_whole_rows(start):
    block, rows = 1024, BYTES // (8 * 1024)
    x = torch.randn(rows * block)
    whole = torch.full((x.numel() + 2 * GUARD,), 77.0)
    out = whole[GUARD + start : GUARD + start + x.numel()]
    double_kernel[(rows,)](x, out, BLOCK=block)
    assert torch.equal(out, x * 2)
    assert (whole[: GUARD + start] == 77).all()
    assert (whole[GUARD + start + x.numel() :] == 77).all()


def test_odd_address():
    """An output whose elements lie across their own alignment."""
    block, rows = 2048, BYTES // (8 * 2048)
    x = torch.randn(rows, block)
    raw = torch.zeros(rows * block * 4 + 64, dtype=torch.uint8)

    class Shifted:
        dtype = torch.float32

        def data_ptr(self):
            return raw.data_ptr() + 2

    negate_kernel[(rows,)](x, Shifted(), block, block, block, BLOCK=block)
    got = raw[2 : 2 + rows * block * 4].clone().view(torch.float32).view(rows, block)
    assert torch.equal(got, -x)


def test_in_place():
    block, rows = 1024, BYTES // (8 * 1024)
    x = torch.randn(rows, block)
    want = -x
    negate_kernel[(rows,)](x, x, 1000, block, block, BLOCK=block)
    want[:, 1000:] *= -1
    assert torch.equal(x, want)


@triton.jit
def centre_kernel(x_ptr, out_ptr, mean_ptr, columns, BLOCK: tl.constexpr):
    """Stores the mean before the row is read again."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    tl.store(mean_ptr + row, mean)
    tl.store(out_ptr + row * columns + lanes, x - mean, mask=inside)


@pytest.mark.parametrize("columns", [512, 391])
@pytest.mark.parametrize("at", [None, 0, 7, 390])
def test_store_before_second_read(columns, at):
    """The mean lands in memory of its own, or inside of the row that is still to be read."""
    x = torch.randint(-8, 8, (1, columns)).float()
    before = x.clone()
    out, mean = torch.empty(1, columns), torch.zeros(1)
    where = mean if at is None else x.view(-1)[at:]
    centre_kernel[(1,)](x, out, where, columns, BLOCK=512)
    want = before.sum() / columns
    assert torch.equal(out, before - want)
    assert where.view(-1)[0] == want


@triton.jit
def softmax_like_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + lanes, mask=inside, other=0.0)
    e = x * x / 2
    tl.store(out_ptr + lanes, e / tl.sum(e, axis=0), mask=inside)


@pytest.mark.parametrize("shift", [-40, -1, 0, 1, 40])
def test_overlap_of_buffered_row(shift):
    """The row goes through a local buffer and back into the memory that it came from."""
    memory = torch.randint(1, 8, (700,)).float()
    x, out = memory[100:], memory[100 + shift :]
    e = x[:500] * x[:500] / 2
    want = e / e.sum()
    softmax_like_kernel[(1,)](x, out, 500, BLOCK=512)
    torch.testing.assert_close(out[:500], want, rtol=1e-6, atol=0)
