# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, bit operations, comparisons and casts of every element type, at awkward values."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import (
    BF16,
    FLOATS,
    INTEGERS,
    INTERPRETED,
    SIGNED,
    check_equal,
    name_of,
    numpy_type,
    piton_only,
    random_values,
    to_numpy,
    to_torch,
)  # fmt: skip

N = 1000


@triton.jit
def apply_binary(a, b, OP: tl.constexpr):
    if OP == "add":
        r = a + b
    elif OP == "sub":
        r = a - b
    elif OP == "mul":
        r = a * b
    elif OP == "div":
        r = a / b
    elif OP == "floordiv":
        r = a // b
    elif OP == "mod":
        r = a % b
    elif OP == "and":
        r = a & b
    elif OP == "or":
        r = a | b
    elif OP == "xor":
        r = a ^ b
    elif OP == "shl":
        r = a << b
    elif OP == "shr":
        r = a >> b
    elif OP == "eq":
        r = a == b
    elif OP == "ne":
        r = a != b
    elif OP == "lt":
        r = a < b
    elif OP == "le":
        r = a <= b
    elif OP == "gt":
        r = a > b
    elif OP == "ge":
        r = a >= b
    elif OP == "min":
        r = tl.minimum(a, b)
    elif OP == "max":
        r = tl.maximum(a, b)
    elif OP == "min_nan":
        r = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "max_nan":
        r = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "umulhi":
        r = tl.umulhi(a, b)
    elif OP == "cdiv":
        r = tl.cdiv(a, b)
    else:
        tl.static_assert(False, "unknown OP")
    return r


@triton.jit
def binary_kernel(a_ptr, b_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    a = tl.load(a_ptr + lanes, mask=inside, other=1)
    b = tl.load(b_ptr + lanes, mask=inside, other=1)
    tl.store(out_ptr + lanes, apply_binary(a, b, OP), mask=inside)


@triton.jit
def scalar_binary_kernel(a_ptr, b_ptr, out_ptr, OP: tl.constexpr):
    i = tl.program_id(0)
    tl.store(out_ptr + i, apply_binary(tl.load(a_ptr + i), tl.load(b_ptr + i), OP))


def run_binary(op, a, b, out_dtype=None, block=256):
    out = torch.zeros(a.shape, dtype=out_dtype or a.dtype)
    binary_kernel[(triton.cdiv(a.numel(), block),)](a, b, out, a.numel(), OP=op, BLOCK=block)
    return out


def truncated_division(a, b):
    """Integer division towards zero, as Triton and C define it."""
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    sign = np.sign(a.astype(object)) * np.sign(b.astype(object))
    return (quotient * sign).astype(a.dtype)


def reference(op, a, b):
    """The numpy value of `op`, in the type of a."""
    old = np.seterr(all="ignore")
    try:
        if op in ("floordiv", "mod") and a.dtype.kind in "iu":
            q = truncated_division(a, b)
            return q if op == "floordiv" else a - q * b
        return {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
            "mod": np.fmod, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
            "shl": np.left_shift, "shr": np.right_shift, "eq": np.equal, "ne": np.not_equal,
            "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
            "min": np.fmin, "max": np.fmax, "min_nan": np.minimum, "max_nan": np.maximum,
        }[op](a, b)  # fmt: skip
    finally:
        np.seterr(**old)


COMPARES = ("eq", "ne", "lt", "le", "gt", "ge")


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("op", ("add", "sub", "mul", "and", "or", "xor", "min", "max"))
def test_integer(op, dtype, rng):
    a, b = (random_values(rng, dtype, N, special=True) for _ in range(2))
    check_equal(run_binary(op, a, b), reference(op, to_numpy(a), to_numpy(b)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("op", ("floordiv", "mod"))
def test_integer_division(op, dtype, rng):
    if INTERPRETED and dtype == torch.int64:
        pytest.skip("the interpreter divides int64 through float64")
    a, b = (to_numpy(random_values(rng, dtype, N, special=True)) for _ in range(2))
    b[b == 0] = 3
    if dtype in SIGNED:
        a[b == -1] = 5  # the smallest value by -1 overflows
    got = run_binary(op, torch.from_numpy(a), torch.from_numpy(b))
    check_equal(got, reference(op, a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("op", ("shl", "shr"))
def test_shift(op, dtype, rng):
    bits = torch.iinfo(dtype).bits
    a = random_values(rng, dtype, N, special=True)
    b = random_values(rng, dtype, N, low=0, high=bits - 1)
    check_equal(run_binary(op, a, b), reference(op, to_numpy(a), to_numpy(b)))


@pytest.mark.parametrize("dtype", (torch.bool, *INTEGERS, *FLOATS), ids=name_of)
@pytest.mark.parametrize("op", COMPARES)
def test_compare(op, dtype, rng):
    a, b = (random_values(rng, dtype, N, special=True) for _ in range(2))
    b[::3] = a[::3]
    want = reference(op, to_numpy(a), to_numpy(b))
    check_equal(run_binary(op, a, b, torch.int32), want.astype(np.int32))


@pytest.mark.parametrize("dtype", FLOATS, ids=name_of)
@pytest.mark.parametrize("op", ("add", "sub", "mul", "div", "mod"))
def test_float(op, dtype, rng):
    a, b = (random_values(rng, dtype, N, special=True) for _ in range(2))
    want = to_torch(reference(op, to_numpy(a), to_numpy(b)), dtype)
    check_equal(run_binary(op, a, b), want)


@pytest.mark.parametrize("dtype", FLOATS, ids=name_of)
@pytest.mark.parametrize("op", ("min", "max", "min_nan", "max_nan"))
def test_float_extremes(op, dtype, rng):
    if INTERPRETED and op in ("min", "max"):
        pytest.skip("the interpreter's plain minimum hands NaN on")
    a, b = (random_values(rng, dtype, N, special=True) for _ in range(2))
    want = to_torch(reference(op, to_numpy(a), to_numpy(b)), dtype)
    check_equal(run_binary(op, a, b), want, signed_zero=False)


@pytest.mark.parametrize("op", ("and", "or", "xor"))
def test_bool_logic(op, rng):
    a, b = (random_values(rng, torch.bool, N) for _ in range(2))
    check_equal(run_binary(op, a, b), reference(op, to_numpy(a), to_numpy(b)))


@pytest.mark.parametrize("dtype", (torch.uint32, torch.uint64, torch.int32), ids=name_of)
def test_umulhi(dtype, rng):
    if INTERPRETED and dtype == torch.int32:
        pytest.skip("the interpreter multiplies signed")
    a, b = (random_values(rng, dtype, N, special=True) for _ in range(2))
    bits = torch.iinfo(dtype).bits
    pairs = zip(to_numpy(a).tolist(), to_numpy(b).tolist(), strict=True)
    wide = [(x % 2**bits) * (y % 2**bits) >> bits for x, y in pairs]
    want = np.array(wide, dtype=np.uint64).astype(numpy_type(dtype))
    check_equal(run_binary("umulhi", a, b), want)


def test_cdiv(rng):
    a = random_values(rng, torch.int32, N, low=0, high=100_000)
    b = random_values(rng, torch.int32, N, low=1, high=1000)
    check_equal(run_binary("cdiv", a, b), -(-to_numpy(a) // to_numpy(b)))


@pytest.mark.parametrize("op", ("add", "mul", "floordiv", "mod", "shr", "lt", "min", "and"))
@pytest.mark.parametrize("dtype", (torch.int8, torch.uint8, torch.int32, torch.uint64), ids=name_of)
def test_scalar_integer(op, dtype, rng):
    a = random_values(rng, dtype, 40, special=True)
    b = random_values(rng, dtype, 40, low=1, high=7)
    out = torch.zeros(40, dtype=torch.int32 if op == "lt" else dtype)
    scalar_binary_kernel[(40,)](a, b, out, OP=op)
    check_equal(out, reference(op, to_numpy(a), to_numpy(b)))


@pytest.mark.parametrize("op", ("add", "sub", "mul", "div", "mod", "max_nan", "le"))
@pytest.mark.parametrize("dtype", (torch.float16, BF16, torch.float32), ids=name_of)
def test_scalar_float(op, dtype, rng):
    a, b = (random_values(rng, dtype, 40, special=True) for _ in range(2))
    out = torch.zeros(40, dtype=torch.int32 if op == "le" else dtype)
    scalar_binary_kernel[(40,)](a, b, out, OP=op)
    want = reference(op, to_numpy(a), to_numpy(b))
    check_equal(out, to_torch(want, out.dtype), signed_zero=op != "max_nan")


@triton.jit
def unary_kernel(a_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    a = tl.load(a_ptr + lanes, mask=inside)
    if OP == "neg":
        r = -a
    elif OP == "not":
        r = ~a
    elif OP == "abs":
        r = tl.abs(a)
    elif OP == "logical_not":
        r = not a
    elif OP == "clamp":
        r = tl.clamp(a, -1.5, 2.0)
    elif OP == "where":
        r = tl.where(a > 0, a, a * 2)
    elif OP == "float_bits":
        r = a.to(tl.int32, bitcast=True)
    else:
        tl.static_assert(False, "unknown OP")
    tl.store(out_ptr + lanes, r, mask=inside)


def run_unary(op, a, out_dtype=None):
    out = torch.zeros(a.shape, dtype=out_dtype or a.dtype)
    unary_kernel[(triton.cdiv(a.numel(), 128),)](a, out, a.numel(), OP=op, BLOCK=128)
    return out


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("op", ("neg", "not", "abs"))
def test_integer_unary(op, dtype, rng):
    if op == "not" and dtype not in SIGNED and INTERPRETED:
        pytest.skip("the interpreter refuses to invert unsigned values")
    a = random_values(rng, dtype, N, special=True)
    want = {"neg": np.negative, "not": np.invert, "abs": np.abs}[op](to_numpy(a))
    check_equal(run_unary(op, a), want)


@pytest.mark.parametrize("dtype", FLOATS, ids=name_of)
@pytest.mark.parametrize("op", ("neg", "abs", "where"))
def test_float_unary(op, dtype, rng):
    a = random_values(rng, dtype, N, special=True)
    x = to_numpy(a)
    with np.errstate(all="ignore"):
        want = {"neg": -x, "abs": np.abs(x), "where": np.where(x > 0, x, x * 2)}[op]
    # 0 - x and -x differ at zero only; Triton leaves the sign of that zero open.
    check_equal(run_unary(op, a), to_torch(want, dtype), signed_zero=op != "neg")


def test_clamp(rng):
    a = random_values(rng, torch.float32, N)
    check_equal(run_unary("clamp", a), np.clip(to_numpy(a), np.float32(-1.5), np.float32(2)))


def test_bitcast(rng):
    a = random_values(rng, torch.float32, N, special=True)
    check_equal(run_unary("float_bits", a, torch.int32), a.view(torch.int32))


@triton.jit
def cast_kernel(a_ptr, out_ptr, n, TO: tl.constexpr, ROUND: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    a = tl.load(a_ptr + lanes, mask=inside)
    tl.store(out_ptr + lanes, a.to(TO, fp_downcast_rounding=ROUND), mask=inside)


TRITON = {
    torch.bool: tl.int1, torch.int8: tl.int8, torch.int16: tl.int16, torch.int32: tl.int32,
    torch.int64: tl.int64, torch.uint8: tl.uint8, torch.uint16: tl.uint16,
    torch.uint32: tl.uint32, torch.uint64: tl.uint64, torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16, torch.float32: tl.float32, torch.float64: tl.float64,
    torch.float8_e4m3fn: tl.float8e4nv, torch.float8_e5m2: tl.float8e5,
}  # fmt: skip


def run_cast(a, to, rounding=None):
    out = torch.zeros(a.shape, dtype=to)
    grid = (triton.cdiv(a.numel(), 128),)
    cast_kernel[grid](a, out, a.numel(), TO=TRITON[to], ROUND=rounding, BLOCK=128)
    return out


@pytest.mark.parametrize("source", INTEGERS, ids=name_of)
@pytest.mark.parametrize("to", (torch.bool, *INTEGERS), ids=name_of)
def test_cast_integers(source, to, rng):
    a = random_values(rng, source, N, special=True)
    want = to_numpy(a) != 0 if to == torch.bool else to_numpy(a).astype(numpy_type(to))
    check_equal(run_cast(a, to), want)


@pytest.mark.parametrize("source", (torch.bool, *INTEGERS), ids=name_of)
@pytest.mark.parametrize("to", FLOATS, ids=name_of)
def test_cast_to_float(source, to, rng):
    a = random_values(rng, source, N, special=True)
    with np.errstate(over="ignore"):
        if to == torch.bfloat16:
            # Correct rounding from 64 bits: torch itself rounds twice.
            want = round_to_bf16(to_numpy(a))
        else:
            want = to_numpy(a).astype(numpy_type(to))
    check_equal(run_cast(a, to), want)


def round_to_bf16(integers):
    """Integers to the nearest bf16 (ties to even), exactly, as float32."""
    out = np.empty(integers.shape, np.float32)
    for i, value in enumerate(integers.tolist()):
        value = int(value)
        sign, size = (-1 if value < 0 else 1), abs(value)
        shift = max(size.bit_length() - 8, 0)
        low, size = size & ((1 << shift) - 1), size >> shift
        half = 1 << shift >> 1
        if shift and (low > half or low == half and size & 1):
            size += 1
        out[i] = sign * size * 2.0**shift
    return out


@pytest.mark.parametrize("source", FLOATS, ids=name_of)
@pytest.mark.parametrize("to", INTEGERS, ids=name_of)
def test_cast_to_integer(source, to, rng):
    info = torch.iinfo(to)
    reach = min(info.max, 60_000)
    low = 0 if info.min == 0 else max(info.min, -reach)
    a = to_torch(rng.uniform(low, reach, N), source)
    a = torch.clamp(a, low, reach - 300 if reach > 300 else reach)
    want = np.trunc(to_numpy(a).astype(np.float64)).astype(numpy_type(to))
    check_equal(run_cast(a, to), want)


@pytest.mark.parametrize("source", FLOATS, ids=name_of)
@pytest.mark.parametrize(
    "to", (torch.float16, torch.bfloat16, torch.float32, torch.float64), ids=name_of
)
def test_cast_floats(source, to, rng):
    if INTERPRETED and to == torch.bfloat16:
        pytest.skip("the interpreter truncates to bf16")
    a = random_values(rng, source, N, special=True)
    check_equal(run_cast(a, to), a.to(to))


@pytest.mark.parametrize("source", FLOATS, ids=name_of)
def test_cast_float_to_bool(source, rng):
    a = random_values(rng, source, N, special=True)
    check_equal(run_cast(a, torch.bool), to_numpy(a) != 0)


@piton_only
@pytest.mark.parametrize("fp8", (torch.float8_e4m3fn, torch.float8_e5m2), ids=name_of)
@pytest.mark.parametrize("other", (torch.float16, torch.bfloat16, torch.float32), ids=name_of)
def test_cast_fp8(fp8, other, rng):
    every = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(fp8)
    check_equal(run_cast(every, other), every.to(other))
    a = random_values(rng, other, N).clamp(-400, 400)
    a[:256] = every.to(other).nan_to_num(0.0, 1.0, -1.0)
    check_equal(run_cast(a, fp8), a.to(fp8))


@piton_only
def test_cast_rounding_towards_zero(rng):
    a = random_values(rng, torch.float32, N)
    got = run_cast(a, torch.bfloat16, "rtz")
    check_equal(got, (a.view(torch.int32) & -65536).view(torch.float32))


@triton.jit
def scalar_arguments_kernel(out_ptr, small, large, real, flag):
    tl.store(out_ptr, small.to(tl.float64))
    tl.store(out_ptr + 1, large.to(tl.float64))
    tl.store(out_ptr + 2, real.to(tl.float64))
    tl.store(out_ptr + 3, flag.to(tl.float64))


@piton_only  # the interpreter makes int32 of a bool
@pytest.mark.parametrize("small,large,flag", ((7, 2**40, True), (-9, 2**63 + 4096, False)))
def test_scalar_arguments(small, large, flag):
    out = torch.zeros(4, dtype=torch.float64)
    scalar_arguments_kernel[(1,)](out, small, large, 1.25, flag)
    assert out.tolist() == [small, float(large), 1.25, float(flag)]


@triton.jit
def mixed_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < n
    a = tl.load(a_ptr + lanes, mask=inside)
    b = tl.load(b_ptr + lanes, mask=inside)
    tl.store(out_ptr + lanes, a * 2 + b - 1, mask=inside)


@pytest.mark.parametrize(
    "left,right",
    (
        (torch.int8, torch.int32), (torch.int32, torch.float16), (torch.uint8, torch.int16),
        (torch.float16, torch.float32), (torch.int64, torch.float32), (torch.bool, torch.int32),
    ),
    ids=name_of,
)  # fmt: skip
def test_mixed_types(left, right, rng):
    a = random_values(rng, left, 100, low=0, high=50)
    b = random_values(rng, right, 100, low=0, high=50)
    result = torch.promote_types(left, right)
    if INTERPRETED and left == torch.bool:
        pytest.skip("the interpreter multiplies booleans in place")
    out = torch.zeros(100, dtype=result)
    mixed_kernel[(1,)](a, b, out, 100, BLOCK=128)
    x, y = (to_numpy(v).astype(numpy_type(result)) for v in (a, b))
    check_equal(out, x * 2 + y - 1, signed_zero=False)


@piton_only
@pytest.mark.parametrize("block", (1, 3, 48, 100, 1000, 1537))
def test_any_block_size(block, rng):
    a, b = (random_values(rng, torch.float32, N) for _ in range(2))
    check_equal(run_binary("add", a, b, block=block), a + b)


@pytest.mark.parametrize("n", (0, 1, 255, 256, 257))
def test_sizes(n, rng):
    a, b = (random_values(rng, torch.float32, n) for _ in range(2))
    check_equal(run_binary("add", a, b), a + b)


def test_in_place(rng):
    a, b = (random_values(rng, torch.float32, N) for _ in range(2))
    want = a + b
    binary_kernel[(4,)](a, b, a, N, OP="add", BLOCK=256)
    check_equal(a, want)
