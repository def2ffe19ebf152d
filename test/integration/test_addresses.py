# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Addresses of every shape: strides, gathers, div/mod, pointers in memory, loops, branches."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import INTERPRETED, check_close, check_equal, name_of, piton_only, random_values


@triton.jit
def strided_kernel(x_ptr, out_ptr, sm, sn, om, on, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * sm + cols * sn)
    tl.store(out_ptr + rows * om + cols * on, x)


@pytest.mark.parametrize(
    "strides",
    ((8, 1), (1, 4), (0, 1), (1, 0), (0, 0), (-8, 1), (8, -1), (40, 3), (-1, -5)),
    ids=str,
)
@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.float16, torch.float32, torch.int64), ids=name_of
)
def test_strides(strides, dtype, rng):
    m, n = 4, 8
    memory = random_values(rng, dtype, 400)
    base = 200
    out = torch.zeros((m, n), dtype=dtype)
    strided_kernel[(1,)](memory[base:], out, *strides, n, 1, M=m, N=n)
    r, c = np.ogrid[:m, :n]
    check_equal(out, memory.numpy()[base + r * strides[0] + c * strides[1]])


@pytest.mark.parametrize("strides", ((8, 1), (1, 4), (-8, 1), (9, -1), (40, 3)), ids=str)
def test_strided_store(strides, rng):
    m, n = 4, 8
    x = random_values(rng, torch.float32, (m, n))
    out = torch.zeros(400)
    strided_kernel[(1,)](x, out[200:], n, 1, *strides, M=m, N=n)
    want = np.zeros(400, np.float32)
    r, c = np.ogrid[:m, :n]
    want[200 + r * strides[0] + c * strides[1]] = x.numpy()
    check_equal(out, want)


@triton.jit
def negative_kernel(x_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i - shift), mask=i >= shift, other=-1))


def test_negative_offsets():
    x = torch.arange(64, dtype=torch.int32)
    out = torch.zeros(64, dtype=torch.int32)
    negative_kernel[(1,)](x, out, 5, BLOCK=64)
    assert out.tolist() == [-1] * 5 + list(range(59))


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (n - 1 - i), mask=i < n)
    tl.store(out_ptr + i, x, mask=i < n)


@pytest.mark.parametrize("n", (1, 64, 100))
def test_reverse(n, rng):
    x = random_values(rng, torch.float32, n)
    out = torch.zeros(n)
    reverse_kernel[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32)
    check_equal(out, x.flip(0))


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + index, mask=i < n), mask=i < n)


@pytest.mark.parametrize("index", (torch.int32, torch.int64, torch.uint8, torch.int16), ids=name_of)
@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.float16, torch.float32, torch.float64), ids=name_of
)
def test_gather(dtype, index, rng):
    if INTERPRETED and index == torch.uint8:
        pytest.skip("the interpreter multiplies uint8 offsets in uint8")
    x = random_values(rng, dtype, 100)
    where = random_values(rng, index, 77, low=0, high=99)
    out = torch.zeros(77, dtype=dtype)
    gather_kernel[(3,)](x, where, out, 77, BLOCK=32)
    check_equal(out, x.numpy()[where.numpy()])


@triton.jit
def scatter_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + index, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.float16, torch.float32, torch.int64), ids=name_of
)
def test_scatter(dtype, rng):
    x = random_values(rng, dtype, 77)
    where = torch.from_numpy(rng.permutation(100)[:77].astype(np.int32))
    out = torch.zeros(100, dtype=dtype)
    scatter_kernel[(3,)](x, where, out, 77, BLOCK=32)
    want = np.zeros(100, x.numpy().dtype)
    want[where.numpy()] = x.numpy()
    check_equal(out, want)


@triton.jit
def embedding_kernel(table_ptr, index_ptr, out_ptr, columns, R: tl.constexpr, C: tl.constexpr):
    rows = tl.program_id(0) * R + tl.arange(0, R)
    cols = tl.arange(0, C)
    index = tl.load(index_ptr + rows)
    mask = cols[None, :] < columns
    x = tl.load(table_ptr + index[:, None] * columns + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * columns + cols[None, :], x, mask=mask)


def test_row_gather(rng):
    table = random_values(rng, torch.float32, (50, 30))
    index = random_values(rng, torch.int32, 16, low=0, high=49)
    out = torch.zeros((16, 30))
    embedding_kernel[(4,)](table, index, out, 30, R=4, C=32)
    check_equal(out, table[index.long()])


@triton.jit
def div_mod_kernel(x_ptr, out_ptr, n, H, W, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == "transpose":
        where = (i % H) * W + i // H
    elif KIND == "repeat":
        where = i % W
    elif KIND == "spread":
        where = i // W
    elif KIND == "blocks":
        where = i // 8 * 16 + i % 8
    elif KIND == "xor":
        where = i ^ 3
    elif KIND == "shift":
        where = (i >> 2) + (i & 3) * W
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, tl.load(x_ptr + where, mask=i < n), mask=i < n)


@pytest.mark.parametrize("kind", ("transpose", "repeat", "spread", "blocks", "xor", "shift"))
@pytest.mark.parametrize("h,w", ((8, 16), (7, 13), (1, 128), (16, 8)))
def test_div_mod(kind, h, w, rng):
    n = h * w
    x = random_values(rng, torch.float32, 1024)
    out = torch.zeros(n)
    div_mod_kernel[(triton.cdiv(n, 32),)](x, out, n, h, w, KIND=kind, BLOCK=32)
    i = np.arange(n)
    where = {
        "transpose": i % h * w + i // h, "repeat": i % w, "spread": i // w,
        "blocks": i // 8 * 16 + i % 8, "xor": i ^ 3, "shift": (i >> 2) + (i & 3) * w,
    }[kind]  # fmt: skip
    check_equal(out, x.numpy()[where])


@triton.jit
def pointer_table_kernel(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    x = tl.load(base + i, mask=i < n, other=0.0)
    tl.store(out_ptr + row * n + i, x * 2, mask=i < n)


def test_pointers_in_memory(rng):
    parts = [random_values(rng, torch.float32, 30) for _ in range(5)]
    table = torch.tensor([p.data_ptr() for p in parts], dtype=torch.int64)
    out = torch.zeros((5, 30))
    pointer_table_kernel[(5,)](table, out, 30, BLOCK=32)
    check_equal(out, torch.stack(parts) * 2)


@triton.jit
def pointer_tensor_kernel(table_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pointers = tl.load(table_ptr + i).to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + i, tl.load(pointers + 1))


def test_tensor_of_pointers():
    parts = [torch.tensor([i, i * 11], dtype=torch.int32) for i in range(16)]
    table = torch.tensor([p.data_ptr() for p in parts], dtype=torch.int64)
    out = torch.zeros(16, dtype=torch.int32)
    pointer_tensor_kernel[(1,)](table, out, BLOCK=16)
    assert out.tolist() == [i * 11 for i in range(16)]


@triton.jit
def address_arithmetic_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    number = x_ptr.to(tl.int64, bitcast=True) + 4 * 3
    pointer = number.to(tl.pointer_type(tl.float32), bitcast=True)
    tl.store(out_ptr + i, tl.load(pointer + i, mask=i < n, other=0.0))


@piton_only
def test_pointer_as_number():
    x = torch.arange(20.0)
    out = torch.zeros(16)
    address_arithmetic_kernel[(1,)](x, out, 16, BLOCK=16)
    check_equal(out, x[3:19])


@triton.jit
def reinterpret_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    words = x_ptr.to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + i, tl.load(words + i))


def test_reinterpreted_pointer(rng):
    x = random_values(rng, torch.float32, 64, special=True)
    out = torch.zeros(64, dtype=torch.int32)
    reinterpret_kernel[(1,)](x, out, BLOCK=64)
    check_equal(out, x.view(torch.int32))


@triton.jit
def wide_offset_kernel(x_ptr, out_ptr, row, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    far = row.to(tl.int64) * stride
    tl.store(out_ptr + i, tl.load(x_ptr + far + i))


def test_offsets_beyond_32_bits():
    # 3 GiB of address space of which a few pages are touched.
    memory = torch.empty(3 * 2**30 + 64, dtype=torch.int8)
    memory[3 * 2**30 :] = torch.arange(64, dtype=torch.int8)
    out = torch.zeros(32, dtype=torch.int8)
    wide_offset_kernel[(1,)](memory, out, 3 * 2**10, 2**20, BLOCK=32)
    assert out.tolist() == list(range(32))


@triton.jit
def narrow_offset_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    wrapped = (i * 33).to(tl.int8)
    tl.store(out_ptr + i, tl.load(x_ptr + 128 + wrapped.to(tl.int32)))


def test_wrapping_narrow_offsets():
    x = torch.arange(256, dtype=torch.int32)
    out = torch.zeros(32, dtype=torch.int32)
    narrow_offset_kernel[(1,)](x, out, BLOCK=32)
    want = 128 + (np.arange(32) * 33).astype(np.int8).astype(np.int32)
    check_equal(out, want)


@triton.jit
def pointer_loop_kernel(x_ptr, out_ptr, steps, step, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    if KIND == "tensor":
        p = x_ptr + i
        for _ in range(steps):
            total += tl.load(p)
            p += step
    elif KIND == "scalar":
        base = x_ptr
        for _ in range(steps):
            total += tl.load(base + i)
            base += step
    elif KIND == "index":
        for s in range(steps):
            total += tl.load(x_ptr + s * step + i)
    elif KIND == "while":
        p = x_ptr + i
        left = steps
        while left > 0:
            total += tl.load(p)
            p += step
            left -= 1
    elif KIND == "backwards":
        p = x_ptr + (steps - 1) * step + i
        for _ in range(steps):
            total += tl.load(p)
            p -= step
    elif KIND == "growing":
        p = x_ptr + i
        for s in range(steps):
            total += tl.load(p) * (s + 1)
            p += tl.where(s % 2 == 0, step, step)
    elif KIND == "nested":
        p = x_ptr + i
        for s in range(0, steps, 2):
            for t in range(0, min(2, steps - s)):
                total += tl.load(p + t * step)
            p += 2 * step
    elif KIND == "down":
        for s in range(steps - 1, -1, -1):
            total += tl.load(x_ptr + s * step + i)
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, total)


@pytest.mark.parametrize("steps", (0, 1, 2, 5))
@pytest.mark.parametrize(
    "kind", ("tensor", "scalar", "index", "while", "backwards", "growing", "nested", "down")
)
def test_pointer_loops(kind, steps, rng):
    x = random_values(rng, torch.float32, 400)
    out = torch.full((32,), 7.0)
    pointer_loop_kernel[(1,)](x, out, steps, 40, KIND=kind, BLOCK=32)
    want = np.zeros(32)
    for s in range(steps):
        want += x.numpy()[s * 40 : s * 40 + 32] * (s + 1 if kind == "growing" else 1)
    check_close(out, want, 1e-5, 1e-5)


@triton.jit
def chosen_base_kernel(a_ptr, b_ptr, out_ptr, flag, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if KIND == "if":
        if flag > 0:
            p = a_ptr + i
        else:
            p = b_ptr + 2 * i
        x = tl.load(p)
    elif KIND == "if_scalar":
        base = a_ptr
        if flag > 0:
            base = b_ptr + 3
        x = tl.load(base + i)
    elif KIND == "where":
        x = tl.load(tl.where(i % 2 == 0, a_ptr + i, b_ptr + i))
    elif KIND == "where_scalar":
        x = tl.load(tl.where(flag > 0, a_ptr, b_ptr) + i)
    elif KIND == "swap":
        p = a_ptr + i
        q = b_ptr + i
        x = tl.load(p)
        for _ in range(flag + 2):
            x += tl.load(q)
            p, q = q, p
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("flag", (0, 1))
@pytest.mark.parametrize("kind", ("if", "if_scalar", "where", "where_scalar", "swap"))
def test_chosen_base(kind, flag, rng):
    a, b = (random_values(rng, torch.float32, 80) for _ in range(2))
    out = torch.zeros(32)
    chosen_base_kernel[(1,)](a, b, out, flag, KIND=kind, BLOCK=32)
    x, y, i = a.numpy(), b.numpy(), np.arange(32)
    if kind == "swap":
        want = x[:32] + y[:32] + x[:32]
        want = want + y[:32] if flag else want
    else:
        want = {
            "if": x[i] if flag else y[2 * i],
            "if_scalar": y[i + 3] if flag else x[i],
            "where": np.where(i % 2 == 0, x[i], y[i]),
            "where_scalar": x[i] if flag else y[i],
        }[kind]
    check_equal(out, want)


@triton.jit
def broadcast_pointer_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows = x_ptr + tl.arange(0, M) * 3
    pointers = tl.broadcast_to(rows[:, None], (M, N))
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + where, tl.load(pointers))


def test_broadcast_pointers(rng):
    x = random_values(rng, torch.float32, 24)
    out = torch.zeros((8, 16))
    broadcast_pointer_kernel[(1,)](x, out, M=8, N=16)
    check_equal(out, x[::3, None].expand(8, 16))


@triton.jit
def reshaped_pointer_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    p = tl.reshape(x_ptr + i * 2, (4, N // 4))
    q = tl.trans(tl.reshape(out_ptr + i, (4, N // 4)))
    tl.store(q, tl.trans(tl.load(p)))


def test_reshaped_pointers(rng):
    x = random_values(rng, torch.float32, 128)
    out = torch.zeros(64)
    reshaped_pointer_kernel[(1,)](x, out, N=64)
    check_equal(out, x[::2])


@triton.jit
def scalar_pointer_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(x_ptr)
    p = x_ptr + 1
    second = tl.load(p)
    tl.store(out_ptr + i, first * 10 + second + i)


def test_uniform_load(rng):
    x = torch.tensor([3, 4], dtype=torch.int32)
    out = torch.zeros(16, dtype=torch.int32)
    scalar_pointer_kernel[(1,)](x, out, BLOCK=16)
    assert out.tolist() == [34 + i for i in range(16)]


@triton.jit
def three_d_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a * B * C + b * C + c)
    tl.store(out_ptr + c * A * B + a * B + b, x)


def test_three_dimensions(rng):
    x = random_values(rng, torch.float32, (4, 8, 16))
    out = torch.zeros((16, 4, 8))
    three_d_kernel[(1,)](x, out, A=4, B=8, C=16)
    check_equal(out, x.permute(2, 0, 1))


@triton.jit
def chased_pointer_kernel(next_ptr, out_ptr, steps):
    at = tl.program_id(0)
    for _ in range(steps):
        at = tl.load(next_ptr + at)
    tl.store(out_ptr + tl.program_id(0), at)


def test_chased_indices(rng):
    follow = torch.from_numpy(rng.permutation(20).astype(np.int32))
    out = torch.zeros(20, dtype=torch.int32)
    chased_pointer_kernel[(20,)](follow, out, 5)
    want = np.arange(20)
    for _ in range(5):
        want = follow.numpy()[want]
    check_equal(out, want)


@triton.jit
def overlapping_kernel(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + 1 + i, x)


def test_overlapping_copy():
    x = torch.arange(65.0)
    overlapping_kernel[(1,)](x, BLOCK=64)
    assert x.tolist() == [0, *range(64)]


@triton.jit
def alias_kernel(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i)
    tl.store(b_ptr + i, a + 1)
    again = tl.load(a_ptr + i)
    tl.store(out_ptr + i, a * 100 + again)


@pytest.mark.parametrize("shift", (0, 1, -1, 40))
def test_store_between_loads(shift):
    memory = torch.arange(200, dtype=torch.int32)
    base = 60
    a, b = memory[base : base + 32], memory[base + shift : base + shift + 32]
    before = a.clone()
    out = torch.zeros(32, dtype=torch.int32)
    alias_kernel[(1,)](a, b, out, BLOCK=32)
    want = memory.clone()[base : base + 32]
    check_equal(out, before * 100 + want)
    check_equal(b, before + 1)
