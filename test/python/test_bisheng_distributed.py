# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed kernels through the bisheng back end: the real compilers for A2 and for 950 take
them, and PITON_SHMEM_BITCODE names the device functions."""

import os

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from test_bisheng_kernels import SOCS, bisheng_backend, compile_kernel, pytestmark  # noqa: E402, F401
from triton.language.extra.cann.extension import sub_vec_id  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from piton import bisheng  # noqa: E402
from triton_dist.language.extra import libshmem_device  # noqa: E402


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
        at = tl.arange(0, N * N)  # in one dimension: see docs/howto/bisheng.md
        tl.store(dl.symm_at(shared, 1) + at, tl.load(a + at))
    libshmem_device.barrier_all()
    x, y = tl.load(shared + rows * N + cols), tl.load(b + rows * N + cols)
    tl.store(c + rows * N + cols, tl.dot(x, y))


KERNELS = {
    "rank": (rank_kernel, {"out": "*i32"}, {}),
    "ring": (ring_kernel, {"x": "*fp32", "signal": "*i32", "out": "*fp32"}, {"BLOCK": 256}),
    "library": (library_kernel, {"x": "*fp32", "y": "*fp32", "signal": "*i32"}, {}),
    "product": (
        product_kernel,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "shared": "*fp16", "signal": "*i32"},
        {"N": 64},
    ),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", KERNELS)
def test_distributed_kernels_are_accepted(name, soc):
    fn, types, constants = KERNELS[name]
    assert compile_kernel(fn, types, constants, soc).asm["npubin"]


def test_the_vendors_device_functions_are_linked(monkeypatch, tmp_path):
    from piton.options import NPUOptions

    library = tmp_path / "shmem.bc"
    distributed = 'hivm.hir.custom {} "dist.aclshmem_my_pe" -> i32'
    options = NPUOptions()
    monkeypatch.delenv("PITON_SHMEM_BITCODE", raising=False)
    assert not any(
        "link-aicore" in f for f in bisheng.flags(distributed, options, "Ascend910B3", False)
    )
    monkeypatch.setenv("PITON_SHMEM_BITCODE", str(library))
    wanted = f"--link-aicore-bitcode={library}"
    assert wanted in bisheng.flags(distributed, options, "Ascend910B3", False)
    assert wanted not in bisheng.flags("func.func @k", options, "Ascend910B3", False)
