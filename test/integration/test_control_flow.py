# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops, early returns, helper functions, tuples, static evaluation."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import INTERPRETED, check_close, check_equal, piton_only, random_values


@triton.jit
def branch_kernel(x_ptr, out_ptr, flag, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    r = x
    if KIND == "if":
        if flag > 2:
            r = x * 2
    elif KIND == "if_else":
        if flag > 2:
            r = x * 2
            s = 1
        else:
            r = x - 1
            s = 2
        r += s
    elif KIND == "elif":
        if flag == 0:
            r = x + 10
        elif flag == 1:
            r = x + 20
        elif flag < 4:
            r = x + 30
        else:
            r = x + 40
    elif KIND == "nested":
        if flag > 0:
            if flag % 2 == 0:
                r = x * 3
            else:
                r = -x
            if flag > 4:
                r += 100
        else:
            r = x * 0
    elif KIND == "store":
        if flag > 2:
            tl.store(out_ptr + N + i, x)
        else:
            tl.store(out_ptr + N + i, x + 1, mask=i < flag)
    elif KIND == "expression":
        r = x * 2 if flag > 2 else x * 5
    elif KIND == "logic":
        if (flag > 1 and flag < 4) or flag == 7:
            r = x + 1
        if not (flag > 3):
            r += 5
    elif KIND == "empty":
        if flag > 2:
            pass
        else:
            r = x + 7
    elif KIND == "load":
        if flag > 2:
            r = tl.load(x_ptr + i + flag) + tl.sum(x, axis=0)
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, r)


def branch(kind, x, flag, out):
    """What branch_kernel leaves in `out`."""
    n = 32
    v = x[:n]
    if kind == "if":
        r = v * 2 if flag > 2 else v
    elif kind == "if_else":
        r = v * 2 + 1 if flag > 2 else v + 1
    elif kind == "elif":
        r = v + {0: 10, 1: 20, 2: 30, 3: 30}.get(flag, 40)
    elif kind == "nested":
        r = (v * 3 if flag % 2 == 0 else -v) + (100 if flag > 4 else 0) if flag > 0 else v * 0
    elif kind == "store":
        r = v
        out[n:] = v if flag > 2 else np.where(np.arange(n) < flag, v + 1, out[n:])
    elif kind == "expression":
        r = v * 2 if flag > 2 else v * 5
    elif kind == "logic":
        r = v + (1 if 1 < flag < 4 or flag == 7 else 0) + (0 if flag > 3 else 5)
    elif kind == "empty":
        r = v if flag > 2 else v + 7
    else:
        r = x[flag : flag + n] + v.sum() if flag > 2 else v
    out[:n] = r
    return out


@pytest.mark.parametrize("flag", (0, 1, 2, 3, 7))
@pytest.mark.parametrize(
    "kind",
    ("if", "if_else", "elif", "nested", "store", "expression", "logic", "empty", "load"),
)
def test_branch(kind, flag, rng):
    x = random_values(rng, torch.int32, 64, low=-50, high=50)
    out = torch.full((64,), 9, dtype=torch.int32)
    want = branch(kind, x.numpy(), flag, out.numpy().copy())
    branch_kernel[(1,)](x, out, flag, KIND=kind, N=32)
    check_equal(out, want)


@triton.jit
def loop_kernel(x_ptr, out_ptr, n, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    r = x
    if KIND == "for":
        for s in range(n):
            r += x * s
    elif KIND == "bounds":
        for s in range(3, n, 2):
            r += s
    elif KIND == "down":
        for s in range(n, 0, -1):
            r = r * 2 + s
    elif KIND == "while":
        left = n
        while left > 0:
            r += left
            left -= 2
    elif KIND == "while_tensor":
        while tl.max(r, axis=0) < 100:
            r += 7
    elif KIND == "nested":
        for s in range(n):
            for t in range(s):
                r += s * t
    elif KIND == "while_in_for":
        for s in range(n):
            t = s
            while t > 0:
                r += t
                t = t // 2
    elif KIND == "if_in_for":
        for s in range(n):
            if s % 3 == 0:
                r += s
            else:
                r -= 1
    elif KIND == "two_values":
        a = x
        b = x + 1
        for _ in range(n):
            a, b = b, a + b
        r = a
    elif KIND == "scalars":
        a = 0
        b = 1
        for _ in range(n):
            a, b = b, a + b
        r += a
    elif KIND == "static":
        for s in tl.static_range(4):
            r += s * x
            if s == 2:
                r += 100
    elif KIND == "tl_range":
        for s in tl.range(0, n, num_stages=2):
            r += s
    elif KIND == "store_in_loop":
        for s in range(n):
            tl.store(out_ptr + N + i, x + s, mask=i < s)
    elif KIND == "wide":
        for s in range(n.to(tl.int64) + 2**33, n.to(tl.int64) + 2**33 + 3):
            r += (s - 2**33).to(tl.int32)
    elif KIND == "while_two":
        a = n
        b = 0
        while (a > 1) & (b < 20):
            a = a // 2 if a % 2 == 0 else 3 * a + 1
            b += 1
        r += b
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, r)


def loop(kind, x, n, out):
    """What loop_kernel leaves in `out`."""
    size = len(x)
    r = x.copy()
    if kind == "for":
        r += x * sum(range(n))
    elif kind == "bounds":
        r += sum(range(3, n, 2))
    elif kind == "down":
        for s in range(n, 0, -1):
            r = r * 2 + s
    elif kind == "while":
        r += sum(range(n, 0, -2))
    elif kind == "while_tensor":
        while r.max() < 100:
            r += 7
    elif kind == "nested":
        r += sum(s * t for s in range(n) for t in range(s))
    elif kind == "while_in_for":
        for s in range(n):
            while s > 0:
                r += s
                s //= 2
    elif kind == "if_in_for":
        r += sum(s if s % 3 == 0 else -1 for s in range(n))
    elif kind == "two_values":
        a, b = x, x + 1
        for _ in range(n):
            a, b = b, a + b
        r = a
    elif kind == "scalars":
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        r += a
    elif kind == "static":
        r += 6 * x + 100
    elif kind == "tl_range":
        r += sum(range(n))
    elif kind == "store_in_loop":
        for s in range(n):
            out[size:] = np.where(np.arange(size) < s, x + s, out[size:])
    elif kind == "wide":
        r += 3 * n + 3
    elif kind == "while_two":
        a, b = n, 0
        while a > 1 and b < 20:
            a, b = (a // 2 if a % 2 == 0 else 3 * a + 1), b + 1
        r += b
    out[:size] = r
    return out


@pytest.mark.parametrize("n", (0, 1, 2, 5, 10))
@pytest.mark.parametrize(
    "kind",
    (
        "for", "bounds", "down", "while", "while_tensor", "nested", "while_in_for", "if_in_for",
        "two_values", "scalars", "static", "tl_range", "store_in_loop", "wide", "while_two",
    ),
)  # fmt: skip
def test_loop(kind, n, rng):
    if kind == "wide" and n == 1:
        pytest.skip("the argument 1 is a constant, which has no .to")
    if INTERPRETED and (kind == "wide" or n == 1 and kind in ("while_two", "scalars")):
        pytest.skip("the interpreter keeps the argument 1 a Python number")
    x = random_values(rng, torch.int32, 32, low=-50, high=50)
    out = torch.full((64,), 9, dtype=torch.int32)
    want = loop(kind, x.numpy(), n, out.numpy().copy())
    loop_kernel[(1,)](x, out, n, KIND=kind, N=32)
    check_equal(out, want)


@triton.jit
def early_return_kernel(x_ptr, out_ptr, n):
    i = tl.program_id(0)
    if i >= n:
        return
    x = tl.load(x_ptr + i)
    if x < 0:
        tl.store(out_ptr + i, -1.0)
        return
    tl.store(out_ptr + i, x * 2)


@pytest.mark.parametrize("n", (0, 3, 8))
def test_early_return(n, rng):
    x = random_values(rng, torch.float32, 8)
    out = torch.full((8,), 5.0)
    early_return_kernel[(8,)](x, out, n)
    want = torch.where(x < 0, torch.tensor(-1.0), x * 2)
    want[n:] = 5
    check_equal(out, want)


@triton.jit
def pick(x, flag):
    if flag > 0:
        return x * 2
    return x - 1


@triton.jit
def minmax(x):
    return tl.min(x, axis=0), tl.max(x, axis=0)


@triton.jit(noinline=True)
def outlined(x_ptr, at, scale):
    return tl.load(x_ptr + at) * scale


@triton.jit
def power(x, N: tl.constexpr):
    if N == 0:
        return x * 0 + 1
    elif N == 1:
        return x
    else:
        return x * power(x, N - 1)


@triton.jit
def helper_kernel(x_ptr, out_ptr, flag, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if KIND == "return":
        r = pick(x, flag)
    elif KIND == "tuple":
        low, high = minmax(x)
        r = (x - low) * (high - low)
    elif KIND == "noinline":
        r = outlined(x_ptr, N - 1, flag) + x
    elif KIND == "recursive":
        r = power(x, 4)
    else:
        tl.static_assert(False, "unknown KIND")
    tl.store(out_ptr + i, r)


@pytest.mark.parametrize("flag", (-2, 3))
@pytest.mark.parametrize("kind", ("return", "tuple", "noinline", "recursive"))
def test_helpers(kind, flag, rng):
    x = random_values(rng, torch.int32, 32, low=-20, high=20)
    out = torch.zeros(32, dtype=torch.int32)
    helper_kernel[(1,)](x, out, flag, KIND=kind, N=32)
    v = x.numpy()
    want = {
        "return": v * 2 if flag > 0 else v - 1,
        "tuple": (v - v.min()) * (v.max() - v.min()),
        "noinline": v[31] * flag + v,
        "recursive": v**4,
    }[kind]
    check_equal(out, want)


@triton.jit
def tuple_argument_kernel(pointers, sizes, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for k in tl.static_range(len(pointers)):
        total += tl.load(pointers[k] + i, mask=i < sizes[k], other=0.0)
    tl.store(out_ptr + i, total)


def test_tuple_arguments(rng):
    parts = [random_values(rng, torch.float32, n) for n in (5, 16, 9)]
    out = torch.zeros(16)
    tuple_argument_kernel[(1,)](tuple(parts), tuple(len(p) for p in parts), out, N=16)
    want = torch.zeros(16)
    for p in parts:
        want[: len(p)] += p
    check_equal(out, want)


@triton.jit
def optional_kernel(x_ptr, bias_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i)
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("given", (False, True))
def test_optional_pointer(given, rng):
    x, bias = (random_values(rng, torch.float32, 16) for _ in range(2))
    out = torch.zeros(16)
    optional_kernel[(1,)](x, bias if given else None, out, N=16)
    check_equal(out, x + bias if given else x)


@triton.jit
def program_loop_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, N), tl.num_programs(0)):
        i = block * N + tl.arange(0, N)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@pytest.mark.parametrize("programs", (1, 3, 40))
def test_persistent_programs(programs, rng):
    x = random_values(rng, torch.float32, 1000)
    out = torch.zeros(1000)
    program_loop_kernel[(programs,)](x, out, 1000, N=32)
    check_equal(out, x * 2)


@triton.jit
def dependent_loop_kernel(x_ptr, out_ptr, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    for _ in range(steps):
        x = tl.load(x_ptr + i)
        left = tl.load(x_ptr + i - 1, mask=i > 0, other=0)
        tl.store(x_ptr + i, x + left)
    tl.store(out_ptr + i, tl.load(x_ptr + i))


@pytest.mark.parametrize("steps", (0, 1, 6))
def test_memory_carried_loop(steps):
    x = torch.zeros(16, dtype=torch.int32)
    x[0] = 1
    out = torch.zeros(16, dtype=torch.int32)
    want = np.array(x)
    for _ in range(steps):
        want = want + np.concatenate([[0], want[:-1]])
    dependent_loop_kernel[(1,)](x, out, steps, N=16)
    check_equal(out, want)
    check_equal(x, want)


@triton.jit
def newton_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.full((N,), 1.0, tl.float32)
    error = tl.max(tl.abs(y * y - x), axis=0)
    steps = 0
    while (error > 1e-3) & (steps < 50):
        y = 0.5 * (y + x / y)
        error = tl.max(tl.abs(y * y - x), axis=0)
        steps += 1
    tl.store(out_ptr + i, y, mask=i < n)


def test_newton(rng):
    x = random_values(rng, torch.float32, 100).abs() + 0.1
    out = torch.zeros(100)
    newton_kernel[(4,)](x, out, 100, N=32)
    check_close(out, x.double().sqrt(), 1e-3, 1e-3)


@triton.jit
def flags_in_loop_kernel(x_ptr, out_ptr, n):
    found = False
    where = -1
    for s in range(n):
        hit = tl.load(x_ptr + s) == 42
        where = s if hit and not found else where
        found = found or hit
    tl.store(out_ptr, where)


@piton_only
@pytest.mark.parametrize("at", (0, 5, 99))
def test_search(at):
    x = torch.zeros(20, dtype=torch.int32)
    if at < 20:
        x[at], x[19] = 42, 42
    out = torch.zeros(1, dtype=torch.int32)
    flags_in_loop_kernel[(1,)](x, out, 20)
    assert out.item() == (at if at < 20 else -1)


@triton.jit
def deep_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    for a in range(n):
        if a % 2 == 0:
            for b in range(a + 1):
                x = tl.load(x_ptr + b * N + i)
                if b == a:
                    acc += x * 2
                else:
                    j = b
                    while j > 0:
                        acc -= x
                        j -= 1
        else:
            acc = tl.maximum(acc, -1.0)
    tl.store(out_ptr + i, acc)


def test_deep_nesting(rng):
    x = random_values(rng, torch.float32, (6, 16))
    out = torch.zeros(16)
    deep_kernel[(1,)](x, out, 6, N=16)
    acc = np.zeros(16, np.float32)
    for a in range(6):
        if a % 2:
            acc = np.maximum(acc, np.float32(-1))
            continue
        for b in range(a + 1):
            v = x.numpy()[b]
            if b == a:
                acc = acc + v * 2
            for _ in range(b if b != a else 0):
                acc = acc - v
    check_close(out, acc, 1e-5, 1e-5)
