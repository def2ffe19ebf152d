# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: E501 (lines of IR)
"""Each op class of the hand-over IR, over its types, against numpy."""

import numpy as np
import pytest
from handover import MLIR, Kernel, run

N = 203  # no multiple of any vector width
RNG = np.random.default_rng(7)


def numbers(dtype, n=N, low=-50, high=50):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, n).astype(dtype)
    if dtype.kind == "f":
        return (RNG.standard_normal(n) * 3).astype(dtype)
    if dtype.kind == "u":
        low = 0
        high = min(high * 4, np.iinfo(dtype).max)
    return RNG.integers(low, high, n).astype(dtype)


def binary(op, dtype, x, y, tmp_path, out=None, suffix=""):
    element = MLIR[np.dtype(dtype).name]
    result = MLIR[np.dtype(out or dtype).name]
    k = Kernel([("x", "*" + element), ("y", "*" + element), ("z", "*" + result)])
    a, b = k.load("x", (len(x),), element), k.load("y", (len(x),), element)
    c = k.value(f"{op} {a}, {b} : tensor<{len(x)}x{element}>{suffix}")
    k.store(c, "z", (len(x),), result)
    z = np.zeros(len(x), out or dtype)
    run(k.text(), [x, y, z], folder=tmp_path)
    return z


INTS = ["int8", "int16", "int32", "int64"]
UINTS = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("op", ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi"])
def test_integer_arithmetic(op, dtype, tmp_path):
    x, y = numbers(dtype), numbers(dtype)
    with np.errstate(over="ignore"):
        want = {
            "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and,
            "ori": np.bitwise_or, "xori": np.bitwise_xor, "maxsi": np.maximum, "minsi": np.minimum,
        }[op](x, y)  # fmt: skip
    np.testing.assert_array_equal(binary("arith." + op, dtype, x, y, tmp_path), want)


@pytest.mark.parametrize("dtype", UINTS)
@pytest.mark.parametrize("op", ["divui", "remui", "maxui", "minui", "shrui", "shli"])
def test_unsigned_arithmetic(op, dtype, tmp_path):
    x, y = numbers(dtype), numbers(dtype)
    if op in ("shrui", "shli"):
        y = (y % (np.dtype(dtype).itemsize * 8)).astype(dtype)
    if op in ("divui", "remui"):
        y[3] = 0
    with np.errstate(all="ignore"):
        want = {
            "divui": np.floor_divide, "remui": np.remainder, "maxui": np.maximum,
            "minui": np.minimum, "shrui": np.right_shift, "shli": np.left_shift,
        }[op](x, y)  # fmt: skip
    np.testing.assert_array_equal(binary("arith." + op, dtype, x, y, tmp_path), want)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("op", ["divsi", "remsi", "floordivsi", "ceildivsi", "shrsi"])
def test_signed_division(op, dtype, tmp_path):
    """Also by zero and MIN / -1, which x86 traps on."""
    x, y = numbers(dtype), numbers(dtype)
    if op == "shrsi":
        y = (np.abs(y) % (np.dtype(dtype).itemsize * 8)).astype(dtype)
        want = np.right_shift(x, y)
    else:
        y[y == 0] = 7
        x[5], y[5] = np.iinfo(dtype).min, 3
        if op in ("divsi", "remsi"):
            y[9] = 0
            x[11], y[11] = np.iinfo(dtype).min, -1
        quotient = [
            {"divsi": int(abs(int(a)) // abs(int(b))) * (1 if (a < 0) == (b < 0) else -1),
             "floordivsi": int(a) // int(b), "ceildivsi": -(-int(a) // int(b))}[
                op if op != "remsi" else "divsi"] if b else 0
            for a, b in zip(x, y, strict=True)
        ]  # fmt: skip
        if op == "remsi":
            quotient = [
                int(a) - int(b) * q if b else 0 for a, b, q in zip(x, y, quotient, strict=True)
            ]
        want = np.array([(q + 2**63) % 2**64 - 2**63 for q in quotient], np.int64).astype(dtype)
    np.testing.assert_array_equal(binary("arith." + op, dtype, x, y, tmp_path), want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["addf", "subf", "mulf", "divf", "maximumf", "minnumf", "remf"])
def test_float_arithmetic(op, dtype, tmp_path):
    x, y = numbers(dtype), numbers(dtype)
    x[2], y[4] = np.nan, np.inf
    with np.errstate(all="ignore"):
        want = {
            "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide,
            "maximumf": np.maximum, "minnumf": np.fmin, "remf": np.fmod,
        }[op](x, y)  # fmt: skip
    got = binary("arith." + op, dtype, x, y, tmp_path)
    np.testing.assert_allclose(got, want, rtol=2 * np.finfo(dtype).eps)


def bf16_bits(x):
    """float32 -> bfloat16 bits, to nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), (bits >> 16) | 0x40, rounded).astype(np.uint16)


def bf16_value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("op", ["addf", "mulf", "maxnumf"])
def test_bf16_arithmetic(op, tmp_path):
    x, y = bf16_bits(numbers("float32")), bf16_bits(numbers("float32"))
    x[3] = 0x7FC0
    k = Kernel([("x", "*bf16"), ("y", "*bf16"), ("z", "*bf16")])
    a, b = k.load("x", (N,), "bf16"), k.load("y", (N,), "bf16")
    k.store(k.value(f"arith.{op} {a}, {b} : tensor<{N}xbf16>"), "z", (N,), "bf16")
    z = np.zeros(N, np.uint16)
    run(k.text(), [x, y, z], folder=tmp_path)
    f = {"addf": np.add, "mulf": np.multiply, "maxnumf": np.fmax}[op]
    want = bf16_bits(f(bf16_value(x), bf16_value(y)))
    np.testing.assert_array_equal(bf16_value(z), bf16_value(want))


PREDICATES = {
    "eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal,
    "sgt": np.greater, "sge": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("dtype", INTS + UINTS)
@pytest.mark.parametrize("predicate", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_compare_and_select(predicate, dtype, tmp_path):
    sign = "" if predicate in ("eq", "ne") else ("u" if dtype[0] == "u" else "s")
    x, y = numbers(dtype, low=-3, high=3), numbers(dtype, low=-3, high=3)
    element = MLIR[dtype]
    k = Kernel([("x", "*" + element), ("y", "*" + element), ("z", "*" + element)])
    a, b = k.load("x", (N,), element), k.load("y", (N,), element)
    c = k.value(f"arith.cmpi {sign}{predicate}, {a}, {b} : tensor<{N}x{element}>")
    d = k.value(f"arith.select {c}, {a}, {b} : tensor<{N}xi1>, tensor<{N}x{element}>")
    k.store(d, "z", (N,), element)
    z = np.zeros(N, dtype)
    run(k.text(), [x, y, z], folder=tmp_path)
    key = predicate if not sign else "s" + predicate
    np.testing.assert_array_equal(z, np.where(PREDICATES[key](x, y), x, y))


UNARY = {
    "math.exp": (np.exp, 2), "math.exp2": (np.exp2, 2), "math.log": (np.log, 5),
    "math.log2": (np.log2, 5), "math.log10": (np.log10, 5), "math.log1p": (np.log1p, 5),
    "math.expm1": (np.expm1, 5), "math.sqrt": (np.sqrt, 1), "math.rsqrt": (lambda x: 1 / np.sqrt(x), 3),
    "math.sin": (np.sin, 5), "math.cos": (np.cos, 5), "math.tan": (np.tan, 6),
    "math.tanh": (np.tanh, 5), "math.asinh": (np.arcsinh, 5), "math.atan": (np.arctan, 5),
    "math.sinh": (np.sinh, 5), "math.cosh": (np.cosh, 5), "math.absf": (np.abs, 0),
    "math.floor": (np.floor, 0), "math.ceil": (np.ceil, 0), "math.trunc": (np.trunc, 0),
    "math.roundeven": (np.rint, 0), "arith.negf": (np.negative, 0), "math.cbrt": (np.cbrt, 5),
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", UNARY)
def test_math(op, dtype, tmp_path):
    function, ulps = UNARY[op]
    x = numbers(dtype)
    if op in ("math.log", "math.log2", "math.log10", "math.log1p", "math.sqrt", "math.rsqrt"):
        x = np.abs(x) + np.array(0.01, dtype)
    x = np.append(x, np.array([np.inf, -np.inf, np.nan, 0.0, 1.0], dtype))
    element, n = MLIR[dtype], len(x)
    k = Kernel([("x", "*" + element), ("z", "*" + element)])
    a = k.load("x", (n,), element)
    k.store(k.value(f"{op} {a} : tensor<{n}x{element}>"), "z", (n,), element)
    z = np.zeros(n, dtype)
    run(k.text(), [x, z], folder=tmp_path)
    with np.errstate(all="ignore"):
        want = function(x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(z, want, rtol=(ulps + 0.6) * np.finfo(dtype).eps)


def test_exp_full_range(tmp_path):
    """Denormal results, overflow, and both infinities."""
    x = np.append(np.linspace(-110, 90, 4001), [np.inf, -np.inf, np.nan]).astype(np.float32)
    for op, function, scale in (("exp", np.exp, 1), ("exp2", np.exp2, 1.4)):
        y = (x * np.float32(scale)).astype(np.float32)
        k = Kernel([("x", "*f32"), ("z", "*f32")])
        a = k.load("x", (len(y),), "f32")
        k.store(k.value(f"math.{op} {a} : tensor<{len(y)}xf32>"), "z", (len(y),), "f32")
        z = np.zeros(len(y), np.float32)
        run(k.text(), [y, z], folder=tmp_path)
        with np.errstate(all="ignore"):
            want = function(y.astype(np.float64)).astype(np.float32)
        np.testing.assert_allclose(z, want, rtol=3e-7, atol=3e-45)


CASTS = [
    ("arith.extsi", "int8", "int32"), ("arith.extui", "uint8", "uint32"),
    ("arith.trunci", "int32", "int8"), ("arith.extsi", "int32", "int64"),
    ("arith.sitofp", "int32", "float32"), ("arith.uitofp", "uint32", "float32"),
    ("arith.sitofp", "int16", "float16"), ("arith.sitofp", "int64", "float64"),
    ("arith.fptosi", "float32", "int32"), ("arith.fptosi", "float16", "int16"),
    ("arith.fptosi", "float64", "int64"), ("arith.fptosi", "float32", "int8"),
    ("arith.truncf", "float32", "float16"), ("arith.extf", "float16", "float32"),
    ("arith.truncf", "float64", "float32"), ("arith.truncf", "float64", "float16"),
    ("arith.bitcast", "float32", "int32"), ("arith.bitcast", "int16", "float16"),
]  # fmt: skip


@pytest.mark.parametrize("op,source,target", CASTS)
def test_casts(op, source, target, tmp_path):
    x = numbers(source)
    a, b = MLIR[source], MLIR[target]
    k = Kernel([("x", "*" + a), ("z", "*" + b)])
    v = k.value(f"{op} {k.load('x', (N,), a)} : tensor<{N}x{a}> to tensor<{N}x{b}>")
    k.store(v, "z", (N,), b)
    z = np.zeros(N, target)
    run(k.text(), [x, z], folder=tmp_path)
    want = x.view(target) if op == "arith.bitcast" else x.astype(target)
    np.testing.assert_array_equal(z.view(f"u{z.itemsize}"), want.view(f"u{z.itemsize}"))


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
def test_float8(kind, tmp_path):
    """All 256 codes widen and come back; values between codes round to nearest even."""
    torch = pytest.importorskip("torch")
    dtype = getattr(
        torch, kind.replace("f8", "float8_").replace("M", "m").replace("E", "e").lower()
    )
    codes = np.arange(256, dtype=np.uint8)
    wide = torch.from_numpy(codes).view(dtype).float().numpy()
    k = Kernel([("x", f"*{kind}"), ("z", "*f32")])
    v = k.value(f"arith.extf {k.load('x', (256,), kind)} : tensor<256x{kind}> to tensor<256xf32>")
    k.store(v, "z", (256,), "f32")
    z = np.zeros(256, np.float32)
    run(k.text(), [codes, z], folder=tmp_path)
    np.testing.assert_array_equal(z, wide)
    finite = np.sort(wide[np.isfinite(wide)])
    x = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, numbers("float32", 300) * 100])
    x = np.append(x, [np.nan, np.inf, 1e9, -1e9, 1e-12]).astype(np.float32)
    n = len(x)
    k = Kernel([("x", "*f32"), ("z", f"*{kind}")])
    v = k.value(f"arith.truncf {k.load('x', (n,), 'f32')} : tensor<{n}xf32> to tensor<{n}x{kind}>")
    k.store(v, "z", (n,), kind)
    z = np.zeros(n, np.uint8)
    run(k.text(), [x, z], folder=tmp_path)
    got = torch.from_numpy(z).view(dtype).float().numpy()
    np.testing.assert_array_equal(got, torch.from_numpy(x).to(dtype).float().numpy())


REDUCTIONS = {
    "addf": (np.sum, "float32", "0.0"), "mulf": (np.prod, "float32", "1.0"),
    "maxnumf": (np.max, "float32", "0xFF800000"), "minimumf": (np.min, "float32", "0x7F800000"),
    "addi": (np.sum, "int32", "0"), "maxsi": (np.max, "int32", "-2147483648"),
    "minsi": (np.min, "int8", "127"), "maxui": (np.max, "uint16", "0"),
    "xori": (np.bitwise_xor.reduce, "int32", "0"), "andi": (np.bitwise_and.reduce, "int64", "-1"),
    "ori": (np.bitwise_or.reduce, "int16", "0"),
}  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op, axis, tmp_path):
    function, dtype, neutral = REDUCTIONS[op]
    shape = (13, 37)
    x = numbers(dtype, 13 * 37, low=-9, high=9).reshape(shape)
    if op == "mulf":
        x = (1 + x * np.float32(0.01)).astype(np.float32)
    element, m = MLIR[dtype], shape[1 - axis]
    k = Kernel([("x", "*" + element), ("z", "*" + element)])
    a = k.load("x", shape, element)
    zero = k.value(f"arith.constant {neutral} : {element}")
    empty = k.value(f"tensor.empty() : tensor<{m}x{element}>")
    init = k.value(
        f"linalg.fill ins({zero} : {element}) outs({empty} : tensor<{m}x{element}>) "
        f"-> tensor<{m}x{element}>"
    )
    r = k.value(
        f"linalg.reduce ins({a} : tensor<13x37x{element}>) outs({init} : tensor<{m}x{element}>) "
        f"dimensions = [{axis}] (%p: {element}, %q: {element}) {{ "
        f"%t = arith.{op} %p, %q : {element} linalg.yield %t : {element} }}"
    )
    k.store(r, "z", (m,), element)
    z = np.zeros(m, dtype)
    run(k.text(), [x, z], folder=tmp_path)
    want = function(x, axis=axis).astype(dtype)
    np.testing.assert_allclose(z, want, rtol=1e-5 if dtype == "float32" else 0)


@pytest.mark.parametrize("element,accumulator", [("f32", "f32"), ("f16", "f32"), ("bf16", "f32"),
                                                 ("i8", "i32"), ("f64", "f64"), ("i32", "i32"),
                                                 ("i16", "i32")])  # fmt: skip
@pytest.mark.parametrize("transposed", ["", "a", "b"])
def test_matmul(element, accumulator, transposed, tmp_path):
    """The GEMM service, and loops where it has no such type."""
    M, N_, K = 19, 33, 21
    make = {"f32": "float32", "f16": "float16", "bf16": "float32", "f64": "float64", "i8": "int8",
            "i32": "int32", "i16": "int16"}[element]  # fmt: skip
    a, b = numbers(make, M * K).reshape(M, K), numbers(make, K * N_).reshape(K, N_)
    c = numbers({"f32": "float32", "f64": "float64", "i32": "int32"}[accumulator], M * N_)
    c = c.reshape(M, N_)
    if element == "bf16":
        a, b = bf16_value(bf16_bits(a)), bf16_value(bf16_bits(b))
    wide = np.float64 if accumulator[0] == "f" else np.int64
    want = c.astype(wide) + a.astype(wide) @ b.astype(wide)
    k = Kernel([("a", "*" + element), ("b", "*" + element), ("c", "*" + accumulator)])

    def operand(name, rows, columns, flip):
        if not flip:
            return k.load(name, (rows, columns), element)
        t = k.load(name, (columns, rows), element)
        e = k.value(f"tensor.empty() : tensor<{rows}x{columns}x{element}>")
        return k.value(
            f"linalg.transpose ins({t} : tensor<{columns}x{rows}x{element}>) "
            f"outs({e} : tensor<{rows}x{columns}x{element}>) permutation = [1, 0]"
        )

    x, y = operand("a", M, K, transposed == "a"), operand("b", K, N_, transposed == "b")
    acc = k.load("c", (M, N_), accumulator)
    r = k.value(
        f"linalg.matmul ins({x}, {y} : tensor<{M}x{K}x{element}>, tensor<{K}x{N_}x{element}>) "
        f"outs({acc} : tensor<{M}x{N_}x{accumulator}>) -> tensor<{M}x{N_}x{accumulator}>"
    )
    k.store(r, "c", (M, N_), accumulator)
    a = np.ascontiguousarray(a.T) if transposed == "a" else a
    b = np.ascontiguousarray(b.T) if transposed == "b" else b
    if element == "bf16":
        a, b = bf16_bits(a), bf16_bits(b)
    run(k.text(), [a, b, c], folder=tmp_path)
    if accumulator[0] == "f":
        np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-3)
    else:
        np.testing.assert_array_equal(c, want.astype(np.int32))


ATOMICS = {
    "add": (np.add, "int32"), "fadd": (np.add, "float32"), "max": (np.maximum, "int32"),
    "min": (np.minimum, "int64"), "umax": (np.maximum, "uint32"), "umin": (np.minimum, "uint16"),
    "and": (np.bitwise_and, "int32"), "or": (np.bitwise_or, "int8"), "xor": (np.bitwise_xor, "int64"),
    "exch": (lambda a, b: b, "float32"),
}  # fmt: skip
MAP = "affine_map<(d0) -> (d0)>"


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("kind", ATOMICS)
def test_atomics(kind, old, tmp_path):
    function, dtype = ATOMICS[kind]
    element, n = MLIR[dtype], 40
    x, y = numbers(dtype, n), numbers(dtype, n)
    k = Kernel([("x", "*" + element), ("y", "*" + element), ("o", "*" + element)])
    value = k.load("x", (n,), element)
    buffer = k.value(
        f"bufferization.to_buffer {value} : tensor<{n}x{element}> to memref<{n}x{element}>"
    )
    view, memref = k.view("y", (n,), element)
    local = f"memref<{n}x{element}>"
    outs, types = view, memref
    if old:
        previous = k.value(f"memref.alloc() : {local}")
        outs, types = f"{view}, {previous}", f"{memref}, {local}"
    maps = ", ".join([MAP] * (4 if old else 3))
    block = f"%p: {element}, %q: {element}, %r: {element}" + (f", %s: {element}" if old else "")
    k.emit(
        f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} '
        f"ins({view}, {buffer} : {memref}, {local}) outs({outs} : {types}) "
        f'attrs = {{GenericAtomicRMW = "{kind}", MemSemantic = "acq_rel", MemSyncScope = "gpu"}} {{ '
        f"^bb0({block}): linalg.yield %q{', %p' if old else ''} : {element}{', ' + element if old else ''} }}"
    )
    if old:
        t = k.value(
            f"bufferization.to_tensor {previous} restrict writable : {local} to tensor<{n}x{element}>"
        )
        k.store(t, "o", (n,), element)
    o, before = np.zeros(n, dtype), y.copy()
    run(k.text(), [x, y, o], folder=tmp_path)
    np.testing.assert_array_equal(y, function(before, x))
    if old:
        np.testing.assert_array_equal(o, before)
