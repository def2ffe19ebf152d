# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python kernels through the bisheng back end: the real compilers for A2 and for 950 take them.

The stand-in of test/tools/hivmc-stand-in is the last tool, so that a kernel that gets an image was
taken by everything in front of it.
"""

import pathlib

import attention
import layer_norm
import matmul
import pytest
import softmax
import triton
import triton.language as tl
import vector_add
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from case_runner import load_case, to_arguments, triton_type
from piton import bisheng
from piton.errors import MLIRCompilationError

TEST = pathlib.Path(__file__).parent.parent
STAND_IN = TEST / "tools" / "hivmc-stand-in"
CASES = sorted((TEST / "integration" / "cases" / "handover").glob("*.py"))
SOCS = ("Ascend910B3", "Ascend950")

pytestmark = pytest.mark.skipif(
    bisheng._wheel_folder() is None,
    reason="the wheel ascendnpu-ir 1.2.0 (extra `bisheng`) is not installed",
)


@pytest.fixture(autouse=True)
def bisheng_backend(monkeypatch):
    monkeypatch.setenv("PITON_BACKEND", "bisheng")
    monkeypatch.setenv("BISHENG_INSTALL_PATH", str(STAND_IN))
    monkeypatch.delenv("TRITON_NPU_COMPILER_PATH", raising=False)


def compile_kernel(fn, types, constants, soc):
    """The compiled kernel; `types` names the run-time arguments in order."""
    signature = {name: types.get(name, "constexpr") for name in fn.arg_names}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("npu", soc, 0))


def pointers(names, element):
    return dict.fromkeys(names.split(), "*" + element)


def scalars(names, element="i32"):
    return dict.fromkeys(names.split(), element)


def kernels():
    for element in ("fp32", "fp16", "bf16"):
        types = pointers("x_ptr y_ptr out_ptr", element) | scalars("n")
        yield f"add-{element}", vector_add.add_kernel, types, {"BLOCK": 1024}
        types = pointers("x_ptr out_ptr", element) | scalars("x_stride out_stride columns")
        yield f"softmax-{element}", softmax.softmax_kernel, types, {"BLOCK": 1024}
        types = pointers("a_ptr b_ptr c_ptr", element) | scalars("m n k am bk cm")
        constants = {"ak": 1, "bn": 1, "cn": 1, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
        constants["ACC"] = tl.float32
        yield f"matmul-{element}", matmul.matmul_kernel, types, constants
        types = pointers("q_ptr k_ptr v_ptr out_ptr", element) | scalars("scale", "fp32")
        types |= scalars("queries keys head_stride_q head_stride_k")
        constants = {"CAUSAL": True, "BLOCK_M": 32, "BLOCK_N": 32, "HEAD": 32}
        yield f"attention-{element}", attention.attention_kernel, types, constants
    types = pointers("a_ptr b_ptr", "i8") | pointers("c_ptr", "i32") | scalars("m n k am bk cm")
    constants = {"ak": 1, "bn": 1, "cn": 1, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    yield "matmul-i8", matmul.matmul_kernel, types, constants | {"ACC": tl.int32}
    types = pointers("x_ptr out_ptr weight_ptr bias_ptr mean_ptr rstd_ptr", "fp32")
    types |= scalars("stride columns") | scalars("eps", "fp32")
    yield "layer-norm-forward", layer_norm.layer_norm_forward_kernel, types, {"BLOCK": 512}
    names = "dx_ptr dy_ptr dw_part_ptr db_part_ptr x_ptr weight_ptr mean_ptr rstd_ptr"
    types = pointers(names, "fp32") | pointers("lock_ptr", "i32") | scalars("stride columns")
    constants = {"GROUPS": 4, "BLOCK": 512}
    yield "layer-norm-backward", layer_norm.layer_norm_backward_kernel, types, constants
    types = pointers("dw_part_ptr db_part_ptr dw_ptr db_ptr", "fp32") | scalars("groups columns")
    constants = {"BLOCK_M": 16, "BLOCK_N": 64}
    yield "layer-norm-reduce", layer_norm.layer_norm_reduce_kernel, types, constants


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kernel", list(kernels()), ids=lambda k: k[0])
def test_example_kernels_are_accepted(kernel, soc):
    _, fn, types, constants = kernel
    compiled = compile_kernel(fn, types, constants, soc)
    assert compiled.asm["npubin"].startswith(b"PITONIMG")
    assert compiled.metadata.name == fn.__name__


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_handover_cases_are_accepted(path, soc):
    case = load_case(path)
    values, typed = to_arguments(case)
    types = {
        name: typed.get(name) or ("*" + triton_type(v) if hasattr(v, "dtype") else "i32")
        for name, v in values.items()
    }
    compiled = compile_kernel(case["fn"], types, case.get("const", {}), soc)
    assert compiled.asm["npubin"].startswith(b"PITONIMG")


@triton.jit
def wide_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.exp(tl.load(x_ptr + lanes)))


@pytest.mark.parametrize("soc", SOCS)
def test_overflow_names_the_kernel_and_the_memory(soc):
    types = pointers("x_ptr out_ptr", "fp32")
    with pytest.raises(MLIRCompilationError) as refused:
        compile_kernel(wide_kernel, types, {"BLOCK": 1 << 17}, soc)
    assert "ub overflow, requires" in refused.value.message
    assert f"{pathlib.Path(__file__).name}:" in refused.value.message


@triton.jit
def double_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes) + 1)


def test_fp64_is_refused_at_its_line():
    with pytest.raises(MLIRCompilationError) as refused:
        compile_kernel(double_kernel, pointers("x_ptr out_ptr", "fp64"), {"BLOCK": 64}, SOCS[0])
    assert "no vector arithmetic or loads of fp64; use fp32" in refused.value.message
    assert f"{pathlib.Path(__file__).name}:" in refused.value.message
