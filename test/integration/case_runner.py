# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one of the small kernels in cases/: plain data that names a kernel, its arguments and the
values that must stand in its buffers afterwards.

Keys of CASE: `fn`, `grid`, `const` (constexpr arguments); `args` (numpy array = buffer, number =
scalar, ("fp16", 1.5) = typed scalar, ("*bf16", array) = bf16 buffer given as float32); `expect`
(buffer contents); `check` (tolerance, "sorted", or "member" = any of a list; absent = exact);
`alias` (buffers that share memory); `uninit` (buffers that start uninitialised); `ranks`, `symm`,
`timeout` (several PEs); `verdict` (what a checking run must report beside the values).
"""

import importlib.util
import pathlib

import numpy as np
import torch
import triton
from triton.compiler import ASTSource

CASES = pathlib.Path(__file__).parent / "cases"
TYPES = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "bool": "i1"}


def case_files():
    """Every case, as pathlib paths in a stable order."""
    return sorted(CASES.glob("*/*.py"))


def load_case(path):
    """The CASE dictionary of a file. The file imports only what Piton serves."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASE


def triton_type(tensor):
    """Triton's name of a tensor's element type."""
    name = str(tensor.dtype).removeprefix("torch.")
    return TYPES.get(name, name.replace("uint", "u").replace("int", "i"))


def to_arguments(case):
    """Kernel arguments in order, as torch tensors and Python scalars, and their typed scalars."""
    values, typed = {}, {}
    for name, value in case["args"].items():
        if isinstance(value, tuple) and value[0].startswith("*"):
            values[name] = torch.from_numpy(np.array(value[1], np.float32)).to(torch.bfloat16)
        elif isinstance(value, tuple):
            typed[name], values[name] = value
        elif isinstance(value, np.ndarray):
            values[name] = torch.from_numpy(value.copy())
        else:
            values[name] = value
    for name, other in case.get("alias", {}).items():
        values[name] = values[other]
    return values, typed


def launch(case, values, typed):
    """Runs the kernel; typed scalars need a signature of their own, so they bypass the JIT."""
    const = case.get("const", {})
    if not typed:
        case["fn"][case["grid"]](*values.values(), **const)
        return
    signature = {
        name: typed.get(name) or ("*" + triton_type(v) if isinstance(v, torch.Tensor) else "i32")
        for name, v in values.items()
    }
    signature |= dict.fromkeys(const, "constexpr")
    kernel = triton.compile(ASTSource(fn=case["fn"], signature=signature, constexprs=const))
    grid = (*case["grid"], 1, 1)[:3]
    kernel[grid](*values.values(), *const.values())


def compare(case, values):
    """Asserts the buffers; one message names the buffer and the first wrong element."""
    check = case.get("check")
    for name, want in case.get("expect", {}).items():
        if isinstance(want, tuple):
            want = want[1]
        got = values[name]
        got = (got.float() if got.dtype == torch.bfloat16 else got).numpy()
        if check == "member":
            assert any(np.array_equal(got, np.asarray(w).reshape(got.shape)) for w in want), (
                f"{name}: {got} is none of {want}"
            )
            continue
        want = np.asarray(want).reshape(got.shape)
        if check == "sorted":
            got, want = np.sort(got, axis=None), np.sort(want, axis=None)
        tolerance = check if isinstance(check, float) else 0.0
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance,
            equal_nan=True, err_msg=name,
        )  # fmt: skip


def run_case(case):
    """Launches on one PE and compares."""
    values, typed = to_arguments(case)
    launch(case, values, typed)
    compare(case, values)
