# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs torch's own operator database on the cpu and on npu and compares.

    python opdb.py [--dtype float32] [--samples 6] [--backward] [--others] [--part K/N] [NAME ...]

prints a line for each operator that differs, and the counts. KNOWN says which differ and why;
docs/torch-device.md shows it.
"""

import argparse
import collections
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

#: Operators that do not give the CPU's result on npu, and why.
_SPARSE = "its result or input is sparse, and npu holds dense strided tensors only"
KNOWN_FORWARD = {
    "to_sparse": _SPARSE,
    "sparse.sampled_addmm": _SPARSE,
    "sparse.mm.reduce": _SPARSE,
}
KNOWN_BACKWARD = {
    "to_sparse": _SPARSE,
    "sparse.sampled_addmm": _SPARSE,
    "sparse.mm.reduce": _SPARSE,
}
#: Operators whose tensor arguments, other than the input, torch wants on the cpu for any device.
HOST_ARGUMENTS = ("tensor_split",)

#: Operators with fp16 or bf16 products inside: the tile product sums in another order and rounds
#: once, and linear_cross_entropy accumulates in other types wherever it is not on the cpu. Their
#: tolerance is (relative, absolute), a few units in the last place.
PRODUCTS = ("linear_cross_entropy", "matmul", "addmm", "bmm", "mm", "linear", "addbmm", "einsum")
_HALF_TOLERANCE = {torch.float16: (4e-3, 1e-3), torch.bfloat16: (3e-2, 1e-2)}


def tolerance_of(op, dtype):
    """Keywords for assert_close."""
    if dtype not in _HALF_TOLERANCE or not any(word in op.name for word in PRODUCTS):
        return {}
    relative, absolute = _HALF_TOLERANCE[dtype]
    return {"rtol": relative, "atol": absolute}


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def to_npu(value):
    """Arguments of an operator as they are on npu: tensors, and names of the device."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return value  # refused by the operator
        return value.detach().to("npu").requires_grad_(value.requires_grad)
    if isinstance(value, torch.device):
        return torch.device("npu")
    return "npu" if isinstance(value, str) and value == "cpu" else value


def copied(value):
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        return value.detach().clone().requires_grad_(value.requires_grad)
    return value


def call(op, sample, move):
    """Result of the operator with the sample's arguments as `move` gives them."""
    rest = copied if op.name in HOST_ARGUMENTS else move
    arguments = (tree_map(move, sample.input), *tree_map(rest, sample.args))
    keywords = tree_map(move, dict(sample.kwargs))
    torch.manual_seed(0)
    result = op(*arguments, **keywords)
    return result, arguments, keywords


def tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def compare(op, expected, actual, **tolerance):
    expected, actual = tensors(expected), tensors(actual)
    if len(expected) != len(actual):
        raise AssertionError(f"{len(actual)} results instead of {len(expected)}")
    for x, y in zip(expected, actual, strict=True):
        if y.device.type != "npu":
            raise AssertionError(f"a result is on {y.device}")
        if x.shape != y.shape or x.dtype != y.dtype:
            raise AssertionError(f"{y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}")
        if "empty" not in op.name:  # their contents are undefined
            torch.testing.assert_close(y.cpu(), x, equal_nan=True, **tolerance)


def forward(op, dtype, samples):
    """Compares the first `samples` samples; returns how many ran on the CPU."""
    torch.manual_seed(1)
    ran = 0
    for sample in list(op.sample_inputs("cpu", dtype, requires_grad=False))[:samples]:
        try:
            expected, _, _ = call(op, sample, copied)
        except Exception:
            continue  # the CPU cannot do it either
        compare(op, expected, call(op, sample, to_npu)[0], **tolerance_of(op, dtype))
        ran += 1
    return ran


def gradients(op, sample, move):
    result, arguments, keywords = call(op, sample, move)
    if sample.output_process_fn_grad:
        result = sample.output_process_fn_grad(result)
    outputs = [t for t in tensors(result) if t.requires_grad]
    inputs = [t for t in tensors((arguments, keywords)) if t.requires_grad]
    if not outputs or not inputs:
        return None
    total = sum((t.abs() if t.is_complex() else t).sum() for t in outputs)
    return torch.autograd.grad(total, inputs, allow_unused=True)


def backward(op, dtype, samples):
    torch.manual_seed(1)
    ran = 0
    for sample in list(op.sample_inputs("cpu", dtype, requires_grad=True))[:samples]:
        try:
            expected = gradients(op, sample, copied)
        except Exception:
            continue
        if expected is None:
            continue
        actual = gradients(op, sample, to_npu)
        if [g is None for g in expected] != [g is None for g in actual]:
            raise AssertionError("gradients of other inputs than on the cpu")
        compare(op, expected, actual, rtol=1e-4, atol=1e-5)
        ran += 1
    return ran


def type_for(op, dtype, others):
    """The type to run an operator with, or None; `others`: any, if it does not take `dtype`."""
    if dtype in op.dtypes:
        return dtype
    if not others:
        return None
    return torch.int64 if torch.int64 in op.dtypes else next(iter(op.dtypes), None)


def run(dtype=torch.float32, samples=6, gradient=False, part=(0, 1), names=(), others=False):
    """Returns (names that agree, {name: why it does not}, names without a sample)."""
    agree, differ, idle = [], {}, []
    check = backward if gradient else forward
    for op in op_db[part[0] :: part[1]]:
        name = name_of(op)
        if names and name not in names:
            continue
        own = type_for(op, dtype, others)
        if own is None or (gradient and not op.supports_autograd):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (agree if check(op, own, samples) else idle).append(name)
        except Exception as error:
            differ[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return agree, differ, idle


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--others", action="store_true", help="other types where it is not taken")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    agree, differ, idle = run(
        getattr(torch, options.dtype),
        options.samples,
        options.backward,
        tuple(int(n) for n in options.part.split("/")),
        options.names,
        options.others,
    )
    known = KNOWN_BACKWARD if options.backward else KNOWN_FORWARD
    for name, why in differ.items():
        print(f"{'known' if name in known else 'MISS'} {name}: {why}")
    counts = collections.Counter(agree=len(agree), differ=len(differ), idle=len(idle))
    print(dict(counts))


if __name__ == "__main__":
    main()
