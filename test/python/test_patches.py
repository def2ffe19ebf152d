# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One test a patch of python/piton/frontend.py. Each fails when the wheel changes under it."""

import inspect

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import compiler, make_backend

from piton import _piton, frontend
from tracing import TARGET, source, trace

CUDA = GPUTarget("cuda", 90, 32)


def text_of(fn, signature, **options):
    return trace(fn, signature, **options).str_nodebug()


@triton.jit
def odd_block(o, BLOCK: tl.constexpr):
    tl.store(o + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32))


def test_block_shapes_and_arange_need_no_power_of_two():
    assert "tensor<48xf32>" in text_of(odd_block, {"o": "*fp32", "BLOCK": 48})


def test_host_descriptors_need_no_power_of_two(monkeypatch):
    from triton.tools.tensor_descriptor import TensorDescriptor

    monkeypatch.setattr(frontend._local, "npu", True, raising=False)
    assert TensorDescriptor(torch.zeros(96, 48), [96, 48], [48, 1], [24, 48]).block_shape


def test_other_targets_keep_the_power_of_two_rule():
    with pytest.raises(triton.CompilationError, match="power of 2"):
        triton.compile(source(odd_block, {"o": "*fp32", "BLOCK": 48}), target=CUDA)


def test_element_limit():
    with pytest.raises(triton.CompilationError, match="1048576"):
        trace(odd_block, {"o": "*fp32", "BLOCK": 1048577})


def test_two_targets_alternate():
    src = source(odd_block, {"o": "*fp32", "BLOCK": 64})
    for _ in range(2):
        assert isinstance(trace(odd_block, {"o": "*fp32", "BLOCK": 64}), _piton.module)
        kernel = triton.compile(src, target=CUDA)
        assert ".target sm_90" in kernel.asm["ptx"] and "ttgir" in kernel.asm


def test_the_proxy_stands_for_stock_names():
    from triton._C.libtriton import ir as stock

    assert isinstance(compiler.ir, frontend.IRProxy)
    assert compiler.ir.CACHE_MODIFIER is stock.CACHE_MODIFIER
    make_backend(CUDA)
    assert isinstance(compiler.ir.context(), stock.context)
    make_backend(TARGET)
    assert isinstance(compiler.ir.context(), _piton.context)


@triton.jit
def masked_load(x, o, n, CARE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n, care_padding=CARE))


def test_masked_off_lanes_are_zero_unless_care_padding_is_false():
    signature = {"x": "*fp32", "o": "*fp32", "n": "i32", "B": 8}
    careful = text_of(masked_load, {**signature, "CARE": True})
    careless = text_of(masked_load, {**signature, "CARE": False})
    load = next(line for line in careful.splitlines() if "tt.load" in line)
    assert load.count("%") == 4 and "dense<0.000000e+00>" in careful
    load = next(line for line in careless.splitlines() if "tt.load" in line)
    assert load.count("%") == 3


@triton.jit
def padded_block_pointer(x, o, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    tl.store(o + tl.arange(0, B), tl.load(p, boundary_check=(0,)))


def test_block_pointer_with_boundary_check_pads_zero():
    text = text_of(padded_block_pointer, {"x": "*fp32", "o": "*fp32", "n": "i32", "B": 8})
    assert "padding = 1 : i32" in text


@triton.jit
def half_math(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(x + i, tl.exp(v) + tl.math.log(v) + v.sin() + tl.floor(v))


@pytest.mark.parametrize("element", ("fp16", "bf16"))
def test_half_math_is_computed_in_fp32(element):
    text = text_of(half_math, {"x": "*" + element, "B": 8})
    for op in ("math.exp", "math.log", "math.sin", "math.floor"):
        assert f"{op} %" in text
    assert "math.exp" in text and "tensor<8xf32>" in text and "arith.truncf" in text


def test_half_math_stays_refused_for_other_targets():
    with pytest.raises(triton.CompilationError, match="Expected dtype"):
        triton.compile(source(half_math, {"x": "*fp16", "B": 8}), target=CUDA)


@triton.jit
def dot(x, o, PRECISION: tl.constexpr, ALLOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    v = tl.load(x + at)
    if ALLOW is None:
        tl.store(o + at, tl.dot(v, v, input_precision=PRECISION))
    else:
        tl.store(o + at, tl.dot(v, v, allow_tf32=ALLOW))


@pytest.mark.parametrize("name", ("hf32", "tf32"))
def test_hf32_reaches_the_ir(name):
    constants = {"PRECISION": tl.constexpr(name), "ALLOW": None, "B": 16}
    text = text_of(dot, {"x": "*fp32", "o": "*fp32", **constants})
    assert "inputPrecision = tf32" in text
    half = text_of(dot, {"x": "*fp16", "o": "*fp32", **constants})
    assert "inputPrecision" not in half


def test_allow_tf32_is_refused():
    constants = {"PRECISION": None, "ALLOW": True, "B": 16}
    with pytest.raises(triton.CompilationError, match="allow_tf32 is not supported as 'True'"):
        trace(dot, {"x": "*fp32", "o": "*fp32", **constants})


@triton.jit
def small_atomics(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(x + i, 1)
    tl.atomic_max(x + i, 1)
    tl.atomic_min(x, 1)


@pytest.mark.parametrize("element", ("i8", "i16", "u8", "fp16", "bf16"))
def test_atomics_on_small_types(element):
    text = text_of(small_atomics, {"x": "*" + element, "B": 8})
    assert text.count("tt.atomic_rmw") == (5 if element in ("fp16", "bf16") else 3)


@triton.jit
def byte_cas(x):
    tl.atomic_cas(x, tl.full((), 1, tl.int8), tl.full((), 2, tl.int8))


def test_cas_on_bytes():
    assert "tt.atomic_cas" in text_of(byte_cas, {"x": "*i8"})


def test_stock_context_with_npu_options_becomes_ours():
    from triton._C.libtriton import ir as stock

    backend = make_backend(TARGET)
    context = stock.context()
    stock.load_dialects(context)
    options = backend.parse_options({})
    module = source(odd_block, {"o": "*fp32", "BLOCK": 48}).make_ir(
        TARGET, options, backend.get_codegen_implementation(options), {}, context
    )
    assert isinstance(module, _piton.module)


def test_overrides_of_our_stages_are_read(tmp_path):
    (tmp_path / "k.ttadapter").write_text("module {}")
    (tmp_path / "k.npubin").write_bytes(b"\0\1")
    assert compiler.parse(str(tmp_path / "k.ttadapter"), "ttadapter", None) == "module {}"
    assert compiler.parse(str(tmp_path / "k.npubin"), "npubin", None) == b"\0\1"


def test_stream_is_taken_by_the_driver(monkeypatch):
    from triton.runtime.jit import JITFunction

    seen = []
    wrapped = inspect.unwrap(JITFunction.run)
    assert wrapped is not JITFunction.run and "warmup" in inspect.signature(wrapped).parameters
    driver = triton.runtime.driver.active
    usual = driver.get_current_stream(0)
    monkeypatch.setattr(
        JITFunction,
        "_pack_args",
        lambda *args: seen.append((driver.get_current_stream(0), "stream" in args[2])) or 1 / 0,
    )
    with pytest.raises(ZeroDivisionError):
        odd_block[(1,)](torch.zeros(8), BLOCK=8, stream=77)
    assert seen == [(77, False)]
    assert driver.get_current_stream(0) == usual


def test_the_compilation_error_is_where_scripts_look():
    from triton.compiler.errors import MLIRCompilationError
    from triton.runtime.errors import PTXASError

    from piton import errors

    assert MLIRCompilationError is errors.MLIRCompilationError
    assert issubclass(MLIRCompilationError, PTXASError)
