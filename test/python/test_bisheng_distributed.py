# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed kernels through the bisheng back end: the real compilers for A2 and for 950 take
them, the device functions that they call are those of the library in PITON_SHMEM_BITCODE (for which
Piton's own stands in), and where that is wrong there is one clear error.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import test_bisheng_kernels  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from test_bisheng_kernels import (  # noqa: E402
    SOCS,
    TEST,
    bisheng_backend,  # noqa: F401
    compile_kernel,
)
from triton.language.extra.cann.extension import sub_vec_id  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from piton import bisheng  # noqa: E402
from piton.errors import MLIRCompilationError  # noqa: E402
from triton_dist.language.extra import libshmem_device  # noqa: E402

sys.path.insert(0, str(TEST.parent / "examples" / "distributed"))

import all_to_all  # noqa: E402
import allgather_gemm  # noqa: E402
import ring_exchange  # noqa: E402

import gemm_reduce_scatter  # noqa: E402

pytestmark = [test_bisheng_kernels.pytestmark, pytest.mark.usefixtures("device_library")]


@triton.jit
def rank_kernel(out):
    tl.store(out, dl.rank() + dl.num_ranks())


@triton.jit
def ring_kernel(x, signal, out, BLOCK: tl.constexpr):
    me, at = dl.rank(), tl.arange(0, BLOCK)
    right = (me + 1) % dl.num_ranks()
    tl.store(dl.symm_at(x, right) + at, tl.load(out + at))
    dl.notify(signal, right, signal=1)
    token = dl.wait(signal, 1, "gpu", "acquire")
    tl.store(out + at, tl.load(dl.consume_token(x, token) + at))


@triton.jit
def library_kernel(x, y, signal):
    me = libshmem_device.my_pe()
    libshmem_device.putmem_nbi(x, y, 1024, 1 - me)
    libshmem_device.fence()
    libshmem_device.signal_op(signal, 1, 0, 1 - me)
    libshmem_device.quiet()
    libshmem_device.barrier_all_vec()


@triton.jit
def product_kernel(a, b, c, shared, signal, N: tl.constexpr):
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    dl.wait(signal + 16 * dl.rank(), 1, "gpu", "acquire")
    if sub_vec_id() == 0:
        tl.store(dl.symm_at(shared, 1) + rows * N + cols, tl.load(a + rows * N + cols))
    libshmem_device.barrier_all()
    x, y = tl.load(shared + rows * N + cols), tl.load(b + rows * N + cols)
    tl.store(c + rows * N + cols, tl.dot(x, y))


@triton.jit
def band_kernel(x, shared, stride, M: tl.constexpr, N: tl.constexpr):
    """Stores of two dimensions to another PE in a kernel without a dot."""
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = rows * stride + cols
    remote = dl.symm_at(shared + dl.rank() * M, 1 - dl.rank())
    tl.store(remote + at, tl.load(x + at, mask=cols < stride), mask=cols < stride)


@triton.jit
def sum_kernel(x, out, BLOCK: tl.constexpr):
    """A barrier of all cores in a kernel without a dot, before loads from other PEs."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    libshmem_device.barrier_all()
    for pe in range(dl.num_ranks()):
        total += tl.load(dl.symm_at(x, pe) + at)
    libshmem_device.barrier(0)
    tl.store(out + at, total)


@triton.jit
def results_kernel(a, c, signal, TEAM: tl.constexpr, DOT: tl.constexpr, N: tl.constexpr):
    """Every library function with a result, also where both halves of a kernel need it."""
    me = libshmem_device.team_my_pe(TEAM)
    size = libshmem_device.team_n_pes(TEAM)
    first = libshmem_device.team_translate_pe(TEAM, 0, 0)
    seen = libshmem_device.signal_wait_until(signal, libshmem_device.ACLSHMEM_CMP_GE, 1)
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :] + (me + size + first + seen) * N
    x = tl.load(a + at)
    tl.store(c + at, tl.dot(x, x) if DOT else x.to(tl.float32))


#: What the vector cores store, beside the cube core's product or without it.
PUSHES = ((True, ""), (False, "product"), (True, "product"), (True, "operand"))


@triton.jit
def push_products(a, b, shared, out, signal, N: tl.constexpr, PLAIN: tl.constexpr,
                  CHANGED: tl.constexpr):  # fmt: skip
    """Stores a @ b (from the cube core), and exp of that or of a (from the vector cores), to the
    other PE."""
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    at = rows * N + cols
    other = 1 - dl.rank()
    x = tl.load(a + at)
    product = tl.dot(x, tl.load(b + at))
    remote = dl.symm_at(shared, other)
    if PLAIN:
        tl.store(remote + at, product)
    if CHANGED == "product":
        tl.store(remote + N * N + at, tl.exp(product))
    elif CHANGED == "operand":
        tl.store(remote + N * N + at, tl.exp(x.to(tl.float32)))
    dl.notify(signal, other, signal=1, sig_op="add")
    mine = dl.consume_token(shared, dl.wait(signal, 1, "gpu", "acquire", waitValue=1))
    for half in range(2):
        tl.store(out + half * N * N + at, tl.load(mine + half * N * N + at) + 1)


EXAMPLE = {"WORLD": 2, "SLOT": 16}
GATHER = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "gathered": "*fp16", "signals": "*i32"}
REDUCE = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "partial": "*fp32", "slots": "*i32"}
SIZES = dict.fromkeys("MNK", "i32")
TILE = {"BM": 64, "BN": 128, "BK": 128}
BANDS = {"x": "*fp16", "shared": "*fp16", "stride": "i32"}
RESULTS = {"a": "*fp16", "c": "*fp32", "signal": "*i32"}
MAIL = {"CAPACITY": 100, "HIDDEN": 64, "SLOT": 16}
KERNELS = {
    "rank": (rank_kernel, {"out": "*i32"}, {}),
    "ring": (ring_kernel, {"x": "*fp32", "signal": "*i32", "out": "*fp32"}, {"BLOCK": 256}),
    "sum": (sum_kernel, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 256}),
    "library": (library_kernel, {"x": "*fp32", "y": "*fp32", "signal": "*i32"}, {}),
    "product": (
        product_kernel,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "shared": "*fp16", "signal": "*i32"},
        {"N": 64},
    ),
    "bands": (band_kernel, BANDS, {"M": 8, "N": 128}),
    "narrow bands": (band_kernel, BANDS, {"M": 64, "N": 8}),
    "results": (results_kernel, RESULTS, {"TEAM": 0, "DOT": False, "N": 32}),
    "results in both halves": (results_kernel, RESULTS, {"TEAM": 0, "DOT": True, "N": 32}),
    "dispatch": (
        all_to_all.dispatch,
        {"tokens": "*fp32", "starts": "*i32", "inbox": "*fp32", "arrived": "*i32"},
        MAIL,
    ),
    "expert": (
        all_to_all.expert,
        {"inbox": "*fp32", "arrived": "*i32", "outbox": "*fp32", "returned": "*i32"},
        MAIL | {"BLOCK": 1024},
    ),
    "ring exchange": (
        ring_exchange.ring_sum,
        dict.fromkeys(("x", "out", "outgoing", "buffers"), "*fp32")
        | {"full": "*i32", "empty": "*i32"},
        EXAMPLE | {"BLOCK": 1024},
    ),
}
for plain, changed in PUSHES:
    KERNELS[f"push {plain} {changed}"] = (
        push_products,
        {"a": "*fp16", "b": "*fp16", "shared": "*fp32", "out": "*fp32", "signal": "*i32"},
        {"N": 64, "PLAIN": plain, "CHANGED": changed},
    )
for signals in (False, True):
    form = "signals" if signals else "barrier"
    constants = EXAMPLE | TILE | {"SIGNAL": signals}
    KERNELS[f"allgather_gemm {form}"] = (allgather_gemm.allgather_gemm, GATHER | SIZES, constants)
    for everywhere in (False, True):
        KERNELS[f"{'gemm_allreduce' if everywhere else 'gemm_reduce_scatter'} {form}"] = (
            gemm_reduce_scatter.gemm_reduce,
            REDUCE | SIZES,
            constants | {"BM": 32, "BN": 64, "BK": 64, "EVERYWHERE": everywhere},
        )


def defined(library):
    """Functions that a file of bitcode defines."""
    tool = shutil.which("llvm-nm-22") or shutil.which("llvm-nm")
    if tool is None:
        pytest.skip("llvm-nm is not installed")
    command = [tool, "--defined-only", "--format=just-symbols", str(library)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def called(module):
    """Library functions that the final module declares, as they are linked."""
    declared = re.findall(r"func\.func private @([\w.]*aclshmem[\w.]*)\(([^\n]*)", module)
    # The C prefix comes with memory.
    return {
        name if name.startswith("_mlir_ciface_") or "memref" not in rest.split("attributes")[0]
        else f"_mlir_ciface_{name}"
        for name, rest in declared
    }  # fmt: skip


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", KERNELS)
def test_distributed_kernels_are_accepted(name, soc, device_library, monkeypatch, tmp_path):
    monkeypatch.setenv("PITON_HIVMC_CAPTURE", str(tmp_path))
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    fn, types, constants = KERNELS[name]
    assert compile_kernel(fn, types, constants, soc).asm["npubin"]
    final = (tmp_path / "final.mlir").read_text()
    variants = ("mix_aic", "mix_aiv") if "_mix_aic(" in final else ("aiv",)
    assert called(final) <= set().union(*(defined(device_library[v]) for v in variants))
    if name not in ("rank", "bands", "narrow bands") or soc == SOCS[0]:
        assert called(final)


def module_of(name):
    """The hand-over module of a kernel, printed for A2."""
    texts = []
    compile_bisheng = bisheng.compile_bisheng
    try:
        bisheng.compile_bisheng = lambda text, options, metadata: (
            texts.append(text) or compile_bisheng(text, options, metadata)
        )
        compile_kernel(*KERNELS[name], SOCS[0])
    finally:
        bisheng.compile_bisheng = compile_bisheng
    return texts[0]


def test_the_vendors_device_functions_are_linked(device_library, monkeypatch):
    from piton.options import NPUOptions

    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    distributed, options = module_of("library"), NPUOptions()
    wanted = [f"--link-aicore-bitcode={device_library[v]}" for v in ("mix_aic", "mix_aiv")]
    given = bisheng.flags(distributed, options, "Ascend910B3", False)
    assert [flag for flag in given if "link-aicore" in flag] == wanted
    others = bisheng.flags("func.func @k", options, "Ascend910B3", False)
    assert not any("link-aicore" in flag for flag in others)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("fault", ("unset", "missing", "a folder", "not bitcode", "empty"))
def test_a_wrong_device_library_is_one_error(fault, soc, monkeypatch, tmp_path):
    path = tmp_path / "shmem.bc"
    wanted = {
        "unset": "PITON_SHMEM_BITCODE is not set",
        "missing": f"names {path}, which cannot be read: No such file or directory",
        "a folder": f"names {path}, which cannot be read: Is a directory",
        "not bitcode": f"names {path}, which is not LLVM bitcode",
        "empty": f"names {path}, which is not LLVM bitcode",
    }[fault]
    if fault == "a folder":
        path.mkdir()
    elif fault != "missing":
        path.write_bytes(b"" if fault == "empty" else b"\x7fELF, say")
    monkeypatch.setenv("PITON_SHMEM_BITCODE", "" if fault == "unset" else str(path))
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    with pytest.raises(MLIRCompilationError) as refused:
        compile_kernel(*KERNELS["library"], soc)
    message = refused.value.message
    assert wanted in message
    assert message.count("error:") == 1
    assert re.search(rf"{pathlib.Path(__file__).name}:\d+:\d+: error: the kernel calls", message)
