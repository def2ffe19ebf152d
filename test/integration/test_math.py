# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mathematical functions against double precision, over their ranges and at special values."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from e2e import INTERPRETED, check_close, check_equal, piton_only, random_values


@triton.jit
def math_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    if OP == "exp":
        r = tl.exp(x)
    elif OP == "exp2":
        r = tl.exp2(x)
    elif OP == "log":
        r = tl.log(x)
    elif OP == "log2":
        r = tl.log2(x)
    elif OP == "sin":
        r = tl.sin(x)
    elif OP == "cos":
        r = tl.cos(x)
    elif OP == "sqrt":
        r = tl.sqrt(x)
    elif OP == "sqrt_rn":
        r = tl.sqrt_rn(x)
    elif OP == "rsqrt":
        r = tl.rsqrt(x)
    elif OP == "erf":
        r = tl.erf(x)
    elif OP == "floor":
        r = tl.floor(x)
    elif OP == "ceil":
        r = tl.ceil(x)
    elif OP == "abs":
        r = tl.abs(x)
    elif OP == "sigmoid":
        r = tl.sigmoid(x)
    elif OP == "softmax":
        r = tl.softmax(x)
    elif OP == "fma":
        r = tl.fma(x, x, -x)
    elif OP == "div_rn":
        r = tl.div_rn(x, x + 3.0)
    elif OP == "fdiv":
        r = tl.fdiv(x, 7.0)
    else:
        tl.static_assert(False, "unknown OP")
    tl.store(out_ptr + i, r, mask=i < n)


def run_math(op, x):
    out = torch.zeros_like(x)
    math_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), OP=op, BLOCK=256)
    return out


erf = np.vectorize(math.erf)
REFERENCE = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos,
    "sqrt": np.sqrt, "sqrt_rn": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "erf": erf,
    "floor": np.floor, "ceil": np.ceil, "abs": np.abs, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
RANGES = {
    "exp": (-80, 80), "exp2": (-120, 120), "log": (1e-30, 1e30), "log2": (1e-3, 1e3),
    "sin": (-100, 100), "cos": (-100, 100), "sqrt": (0, 1e30), "sqrt_rn": (0, 1e30),
    "rsqrt": (1e-10, 1e10), "erf": (-5, 5), "floor": (-1e4, 1e4), "ceil": (-1e4, 1e4),
    "abs": (-1e4, 1e4), "sigmoid": (-50, 50),
}  # fmt: skip
ULP = {"sin": 4, "cos": 4, "exp": 4, "log": 4, "rsqrt": 3, "erf": 4, "sigmoid": 6}


@pytest.mark.parametrize("op", REFERENCE)
@pytest.mark.parametrize("n", (1, 7, 1000))
def test_float32(op, n, rng):
    low, high = RANGES[op]
    if low > 0:
        x = np.exp(rng.uniform(np.log(low), np.log(high), n))
    else:
        x = rng.uniform(low, high, n)
    x = torch.from_numpy(x.astype(np.float32))
    eps = float(np.finfo(np.float32).eps)
    # Near a zero of the function the error is counted against the size of its terms.
    floor = {"sin": eps, "cos": eps, "log": eps, "log2": eps, "erf": 0}.get(op, 0)
    check_close(run_math(op, x), REFERENCE[op](x.double().numpy()), ULP.get(op, 3) * eps, floor)


@pytest.mark.parametrize("op", REFERENCE)
def test_float64(op, rng):
    if op == "sqrt_rn":
        pytest.skip("Triton defines it for float32 only")
    low, high = RANGES[op]
    x = torch.from_numpy(rng.uniform(max(low, -30), min(high, 30), 500))
    check_close(run_math(op, x), REFERENCE[op](x.numpy()), 1e-12, 1e-13)


SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), -1.0, 1.0, 3e38, -3e38, 1e-30]


@pytest.mark.parametrize("op", REFERENCE)
def test_special_values(op):
    x = torch.tensor(SPECIAL * 4)
    if op in ("sin", "cos"):
        x = x[x.abs() != 3e38]
    with np.errstate(all="ignore"):
        want = REFERENCE[op](x.numpy().astype(np.float64)).astype(np.float32)
    if op == "rsqrt":  # 1 / sqrt(-0) is -inf by IEEE; both infinities are in use
        keep = x.numpy() != 0
        check_close(run_math(op, x)[torch.from_numpy(keep)], want[keep], 1e-6)
        return
    check_close(run_math(op, x), want, 1e-6, 1e-37)


@pytest.mark.parametrize("op", ("exp", "exp2"))
def test_overflow_and_underflow(op):
    x = torch.tensor([88.0, 89.0, 127.5, 129.0, -87.0, -104.0, -150.0, 1000.0, -1000.0] * 4)
    with np.errstate(all="ignore"):
        want = REFERENCE[op](x.double().numpy()).astype(np.float32)
    check_close(run_math(op, x), want, 1e-6, 2e-38)


def test_large_angles(rng):
    x = torch.from_numpy(rng.uniform(-1e5, 1e5, 300).astype(np.float32))
    for op in ("sin", "cos"):
        check_close(run_math(op, x), REFERENCE[op](x.double().numpy()), 1e-6, 3e-7)


def test_denormal_logarithms():
    x = torch.tensor([1e-40, 1e-45, 5e-39] * 8)
    for op in ("log", "log2"):
        check_close(run_math(op, x), REFERENCE[op](x.double().numpy()), 1e-6)


def test_fma(rng):
    x = random_values(rng, torch.float32, 300)
    v = x.double().numpy()
    if INTERPRETED:
        pytest.skip("the interpreter rounds the product")
    # Exact in double: two 24-bit factors, so one rounding at the end.
    check_equal(run_math("fma", x), (v * v - v).astype(np.float32))


@pytest.mark.parametrize("op", ("div_rn", "fdiv"))
def test_division(op, rng):
    x = random_values(rng, torch.float32, 300)
    v = x.numpy()
    want = v / (v + np.float32(3)) if op == "div_rn" else v / np.float32(7)
    check_equal(run_math(op, x), want)


def test_softmax_function(rng):
    x = random_values(rng, torch.float32, 256)
    check_close(run_math("softmax", x), torch.softmax(x.double(), 0), 1e-5, 1e-7)


@triton.jit
def libdevice_kernel(x_ptr, y_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.load(y_ptr + i, mask=i < n, other=1.0)
    if OP == "tanh":
        r = libdevice.tanh(x)
    elif OP == "tan":
        r = libdevice.tan(x)
    elif OP == "atan":
        r = libdevice.atan(x)
    elif OP == "log1p":
        r = libdevice.log1p(x)
    elif OP == "pow":
        r = libdevice.pow(x, y)
    elif OP == "round":
        r = libdevice.round(x)
    elif OP == "trunc":
        r = libdevice.trunc(x)
    elif OP == "isnan":
        r = libdevice.isnan(x).to(tl.float32)
    elif OP == "isinf":
        r = libdevice.isinf(x).to(tl.float32)
    elif OP == "rint":
        r = libdevice.rint(x)
    elif OP == "acos":
        r = libdevice.acos(x / 16)
    elif OP == "atan2":
        r = libdevice.atan2(x, y)
    elif OP == "copysign":
        r = libdevice.copysign(x, y)
    elif OP == "expm1":
        r = libdevice.expm1(x)
    elif OP == "ldexp":
        r = libdevice.ldexp(x, y.to(tl.int32))
    elif OP == "hypot":
        r = libdevice.hypot(x, y)
    else:
        tl.static_assert(False, "unknown OP")
    tl.store(out_ptr + i, r, mask=i < n)


LIBDEVICE = {
    "tanh": lambda x, y: np.tanh(x), "tan": lambda x, y: np.tan(x),
    "atan": lambda x, y: np.arctan(x), "log1p": lambda x, y: np.log1p(np.abs(x)),
    "pow": lambda x, y: np.power(np.abs(x), y), "trunc": lambda x, y: np.trunc(x),
    "isnan": lambda x, y: np.isnan(x), "isinf": lambda x, y: np.isinf(x),
    "rint": lambda x, y: np.rint(x), "acos": lambda x, y: np.arccos(x / 16),
    "atan2": lambda x, y: np.arctan2(x, y), "copysign": lambda x, y: np.copysign(x, y),
    "expm1": lambda x, y: np.expm1(x), "hypot": lambda x, y: np.hypot(x, y),
    "round": lambda x, y: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "ldexp": lambda x, y: np.ldexp(x, y.astype(int)),
}  # fmt: skip


@piton_only
@pytest.mark.parametrize("op", LIBDEVICE)
def test_libdevice(op, rng):
    x, y = (random_values(rng, torch.float32, 300, high=2) for _ in range(2))
    if op in ("isnan", "isinf"):
        x[::5], x[1::5] = float("nan"), float("-inf")
    if op in ("log1p", "pow"):
        x = x.abs()
    out = torch.zeros(300)
    libdevice_kernel[(3,)](x, y, out, 300, OP=op, BLOCK=128)
    want = LIBDEVICE[op](x.double().numpy(), y.double().numpy())
    check_close(out, want, 2e-6, 3e-7)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    r = 0.5 * x * (1 + tl.erf(x * 0.70710678))
    r += tl.where(x > 0, tl.log(1 + tl.exp(-x)), tl.log(1 + tl.exp(x)) - x)
    tl.store(out_ptr + i, r, mask=i < n)


@pytest.mark.parametrize("n", (5, 1000))
def test_mixed_expression(n, rng):
    x = random_values(rng, torch.float32, n)
    out = torch.zeros(n)
    gelu_kernel[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    d = x.double()
    want = torch.nn.functional.gelu(d) + torch.nn.functional.softplus(-d)
    check_close(out, want, 1e-5, 1e-6)


@piton_only
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_half_types_through_float32(dtype, rng):
    x = random_values(rng, dtype, 200)
    out = torch.zeros(200, dtype=dtype)
    gelu_kernel[(2,)](x, out, 200, BLOCK=128)
    d = x.double()
    want = torch.nn.functional.gelu(d) + torch.nn.functional.softplus(-d)
    check_close(out, want, 1e-2, 1e-2)


@triton.jit
def random_kernel(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.rand(seed, i))
    tl.store(out_ptr + N + i, tl.randn(seed, i))
    tl.store(out_ptr + 2 * N + i, tl.randint(seed, i).to(tl.float32))


def test_random_numbers():
    out = torch.zeros((3, 1024))
    random_kernel[(1,)](out, 1234, N=1024)
    uniform, normal, integers = out.double()
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.05
    assert abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.1
    assert integers.unique().numel() > 1000
    assert philox(1234, 0) == integers[0].to(torch.float32).item()


def philox(seed, offset):
    """First Philox-4x32-10 word, as tl.randint gives it for a 32-bit offset, as float32."""
    mask = 0xFFFFFFFF
    counter, key = [offset, 0, 0, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (b >> 32) ^ counter[1] ^ key[0], b & mask, (a >> 32) ^ counter[3] ^ key[1], a & mask,
        ]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return float(np.float32(np.int32(np.uint32(counter[0]))))
