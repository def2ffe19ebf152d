# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every symbol that the primitives and the device functions can lead to is in the device library,
in each of its four variants, and no function of the library is left undefined."""

import os
import pathlib
import re
import shutil
import subprocess

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import piton  # noqa: E402
import triton_dist.language as dl  # noqa: E402
from tracing import TARGET, source  # noqa: E402
from triton_dist.language.extra import libshmem_device as lib  # noqa: E402
from triton_dist.language.extra.ascend import libaclshmem_device  # noqa: E402

#: Suffix of the names in each variant.
VARIANTS = {"aic": "", "aiv": "", "mix_aic": ".cube", "mix_aiv": ".vector"}

#: Triton's name of each type that data may have, and the library's.
DATA = {
    "fp16": "half", "fp32": "float", "bf16": "bfloat16", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64",
}  # fmt: skip


@triton.jit
def _device_functions(dst, src, sig):
    pe = lib.team_translate_pe(0, lib.my_pe(), 0) + lib.team_my_pe(0) - lib.team_n_pes(0)
    pe += lib.n_pes()
    lib.barrier_all()
    lib.barrier_all_vec()
    lib.barrier(0)
    lib.barrier_vec(0)
    lib.fence()
    lib.prof_start(3)
    lib.quiet()
    lib.prof_end(3)
    lib.putmem(dst, src, 64, pe)
    lib.putmem_nbi(dst, src, 64, pe)
    lib.getmem(dst, src, 64, pe)
    lib.getmem_nbi(dst, src, 64, pe)
    lib.putmem_signal(dst, src, 64, sig, 1, lib.ACLSHMEM_SIGNAL_ADD, pe)
    lib.putmem_signal_nbi(dst, src, 64, sig, 1, lib.ACLSHMEM_SIGNAL_SET, pe)
    lib.signal_op(sig, 1, lib.ACLSHMEM_SIGNAL_SET, pe)
    lib.int_p(sig, lib.signal_wait_until(sig, lib.ACLSHMEM_CMP_GE, 1), pe)
    tl.store(lib.remote_ptr(dst, pe), tl.load(dl.symm_at(src, pe)))


@triton.jit
def _waits(w8, w16, w32, w64, u64):
    token = dl.wait(w8, 1, "gpu", "acquire") + dl.wait(w16, 1, "gpu", "acquire")
    token += dl.wait(w32, 2, "sys", "acq_rel") + dl.wait(w64, 1, "cta", "relaxed")
    dl.notify(w32, dl.rank(), token)
    dl.notify(w32, dl.num_ranks(), 1, sig_op="add")
    dl.notify(w64, 0, 1)
    dl.notify(u64, 0, 1)


@triton.jit
def _tokens(p, sig):
    """Pointers, tensors of pointers of one to five dimensions, integers."""
    token = dl.wait(sig, 1, "gpu", "acquire")
    lanes = tl.arange(0, 2)
    p = dl.consume_token(p, token)
    one = dl.consume_token(p + lanes, token)
    tl.store(one, tl.load(one + 2))
    two = dl.consume_token(p + lanes[:, None] * 4 + lanes[None, :], token)
    tl.store(two, tl.load(two + 2))
    three = dl.consume_token(p + lanes[:, None, None] * 8 + lanes[None, None, :], token)
    tl.store(three, tl.load(three + 2))
    four = dl.consume_token(p + lanes[:, None, None, None] * 8 + lanes[None, None, None, :], token)
    tl.store(four, tl.load(four + 2))
    five = p + lanes[:, None, None, None, None] * 8 + lanes[None, None, None, None, :]
    five = dl.consume_token(five, token)
    tl.store(five, tl.load(five + 2))
    tl.store(p + dl.consume_token(token, token), tl.load(p))


def symbols(kernel, signature):
    """Library names in the module that goes to the back end. The whole compilation must do."""
    compiled = triton.compile(source(kernel, signature), target=TARGET)
    found = set(re.findall(r'symbol = "(\w+)"', compiled.asm["ttadapter"]))
    assert found
    return found


def defined():
    """Names that each variant defines."""
    folder = pathlib.Path(piton.__file__).parents[2] / "device"
    nm = shutil.which("llvm-nm-22") or shutil.which("/usr/lib/llvm-22/bin/llvm-nm")
    if not folder.is_dir() or nm is None:
        pytest.skip("needs a build tree and llvm-nm")
    names = {}
    for variant in VARIANTS:
        command = [nm, "--defined-only", "-j", str(folder / f"shmem.{variant}.bc")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        names[variant] = set(done.stdout.split())
    return names


def unresolved(wanted):
    """Pairs (variant, symbol) without a definition."""
    library = defined()
    return {
        (variant, symbol)
        for variant, suffix in VARIANTS.items()
        for symbol in wanted
        if f"_mlir_ciface_{symbol}{suffix}" not in library[variant]
    }


@pytest.mark.parametrize("kind", DATA)
def test_device_functions(kind):
    signature = {"dst": f"*{kind}", "src": f"*{kind}", "sig": "*i32"}
    wanted = symbols(_device_functions, signature)
    for name in ("putmem", "putmem_nbi", "getmem", "getmem_nbi", "putmem_signal",
                 "putmem_signal_nbi"):  # fmt: skip
        assert f"aclshmem_{DATA[kind]}_{name}" in wanted
    assert any(symbol.startswith("aclshmem_ptr_") for symbol in wanted)
    assert not unresolved(wanted)


def test_no_device_function_is_left_out():
    """The kernel above calls everything that the module offers."""
    code = set(_device_functions.fn.__code__.co_names)
    offered = {
        name
        for name, value in vars(libaclshmem_device).items()
        if tl.core.is_builtin(value) and value.__module__ == libaclshmem_device.__name__
    }
    assert offered and offered <= code, offered - code


def test_waits_and_signals():
    signature = {"w8": "*i8", "w16": "*i16", "w32": "*i32", "w64": "*i64", "u64": "*u64"}
    wanted = symbols(_waits, signature)
    assert {f"aclshmem_wait_int{bits}" for bits in (8, 16, 32, 64)} <= wanted
    assert {"aclshmemx_signal_op", "aclshmem_int64_p", "aclshmem_my_pe", "aclshmem_n_pes"} <= wanted
    assert not unresolved(wanted)


@pytest.mark.parametrize("kind", ["fp16", "fp32", "bf16", "i8", "i16", "i32", "i64"])
def test_tokens(kind):
    wanted = symbols(_tokens, {"p": f"*{kind}", "sig": "*i32"})
    assert not unresolved(wanted)


def test_documented_families():
    """What the library promises beyond what today's front end can reach."""
    names = set(DATA.values())
    wanted = {f"aclshmem_{t}_{f}" for t in {*names, "char"} for f in ("p", "g", "putmem", "getmem")}
    wanted |= {f"aclshmem_ptr_{t}" for t in {*names, "char"}}
    wanted |= {f"aclshmem_wait_until_{t}" for t in {*names, "char"} - {"half", "bfloat16"}}
    kinds = ("int8", "int16", "int32", "int64", "half", "float", "char", "bfloat16")
    wanted |= {f"aclshmem_consume_token_{t}" for t in kinds}
    wanted |= {f"aclshmem_consume_token_{t}_ptr_{d}d" for t in kinds for d in range(1, 6)}
    assert not unresolved(wanted)
