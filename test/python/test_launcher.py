# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher's argument block and its errors, without a kernel."""

import struct
from types import SimpleNamespace

import pytest
import torch

_runtime = pytest.importorskip("piton._runtime")


def pack(types, *values):
    return _runtime.Launcher(types, [f"a{i}" for i in range(len(types))]).pack(*values)


def test_slots():
    x = torch.zeros(4)
    block = pack(
        ["*fp32", "i32", "i64", "fp16", "i1", "u8", "fp64", "constexpr", "bf16", "i8"],
        x, -1, -2, 1.5, True, 255, 2.5, "ignored", 3.0, -3,
    )  # fmt: skip
    want = struct.pack("<QixxxxqfIIxxxxdfi", x.data_ptr(), -1, -2, 1.5, 1, 255, 2.5, 3.0, -3)
    assert block == want


def test_pointers_come_from_tensors_ints_and_none():
    assert pack(["*i8", "*i8"], None, 4096) == struct.pack("<QQ", 0, 4096)


def test_tuples_are_flattened():
    block = pack([("i32", ("constexpr", "i64")), "i32"], (1, (None, 2)), 3)
    assert block == struct.pack("<ixxxxqixxxx", 1, 2, 3)


def test_host_descriptor():
    base = torch.zeros(6, 8)
    descriptor = SimpleNamespace(base=base, shape=[6, 8], strides=[8, 1])
    block = pack(["tensordesc<fp32[2,4]>"], descriptor)
    assert block == struct.pack("<QiiQQ", base.data_ptr(), 6, 8, 8, 1)


def test_host_descriptor_with_nan_padding_is_refused():
    descriptor = SimpleNamespace(base=torch.zeros(8), shape=[8], strides=[1], padding="nan")
    with pytest.raises(NotImplementedError, match="nan"):
        pack(["tensordesc<fp32[4]>"], descriptor)


@pytest.mark.parametrize(
    ("type_", "value", "error", "text"),
    (
        ("*fp32", "x", TypeError, "Pointer argument must be either uint64 or have data_ptr method"),
        (
            "*fp32",
            SimpleNamespace(data_ptr=lambda: "p"),
            TypeError,
            "data_ptr method of Pointer object must return 64-bit int",
        ),
        ("*fp32", torch.zeros(2, device="meta"), ValueError, "cannot be accessed from Triton"),
        ("i32", 2**31, OverflowError, "2147483648 does not fit i32"),
        ("u8", -1, OverflowError, "does not fit u8"),
        ("i32", 1.5, TypeError, "takes an integer"),
        ("fp32", "x", TypeError, "takes a number"),
    ),
)
def test_bad_arguments(type_, value, error, text):
    with pytest.raises(error, match=text):
        pack([type_], value)


def test_argument_count():
    with pytest.raises(TypeError, match="takes 2 arguments, 1 were given"):
        pack(["i32", "i32"], 1)


def test_unknown_type_is_refused_by_name():
    with pytest.raises(TypeError, match="a0.*fp4"):
        pack(["fp4"], 1)
