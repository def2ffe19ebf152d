# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-over IR means what the real compiler takes it to mean: ordinary launches whose kernels
go through the bisheng back end and `bishengir-compile`, and are then run by test/oracle instruction
by instruction. Numbers must be right and the synchronisation of the NPU's pipes and cores sound.
"""

import gc
import pathlib
import shutil

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from attention import attention
from layer_norm import layer_norm_backward, layer_norm_forward
from matmul import matmul
from softmax import softmax
from triton.runtime.jit import JITFunction
from vector_add import vector_add

from case_runner import load_case, run_case
from oracle import Oracle, ToolError
from piton import bisheng, driver

TEST = pathlib.Path(__file__).parent.parent
CASES = TEST / "integration" / "cases"
SAMPLE = [
    *sorted((CASES / "handover").glob("*.py")),
    *(CASES / "bug_reports" / f"{name}.py" for name in ("br04", "br10", "br20", "br24")),
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bisheng._wheel_folder() is None,
        reason="the wheel ascendnpu-ir 1.2.0 (extra `bisheng`) is not installed",
    ),
    pytest.mark.skipif(
        not shutil.which("mlir-translate-22") or not shutil.which("ld.lld-22"),
        reason="the MLIR, LLVM and lld tools of version 22 are not installed",
    ),
]

#: Hand-over text of each kernel compiled here, by the hash of its metadata.
TEXTS = {}


def bits(tensor):
    """A buffer as the oracle takes it: numpy, bf16 as uint16, i1 as i8."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    return tensor.view(torch.int8).numpy() if tensor.dtype == torch.bool else tensor.numpy()


class Launches:
    """Runs launches in the oracle and writes the buffers back; counts them."""

    def __init__(self):
        self.oracle = Oracle("Ascend910B3")
        self.count = 0

    def launch(self, text, grid, values):
        shared = {}  # two arguments that are one tensor are one buffer
        values = [shared.setdefault(id(v), v) for v in values]
        arrays = {id(v): bits(v).ravel() for v in values if isinstance(v, torch.Tensor)}
        args = [arrays.get(id(v), v) for v in values]
        result = self.oracle.run(text, args, grid)
        assert result.accepted, result.compiler_stderr
        assert result.unmodelled is None
        assert [str(report) for report in result.errors] == []
        assert result.instructions > 0
        for value, output in zip(values, result.outputs, strict=True):
            if isinstance(value, torch.Tensor):
                bits(value)[...] = output.reshape(value.shape)
        self.count += 1


@pytest.fixture(scope="module")
def launches():
    try:
        return Launches()
    except ToolError as error:
        pytest.skip(str(error))


@pytest.fixture
def npu(monkeypatch, tmp_path, launches):
    """Launches go to the oracle; at least one must have happened."""
    monkeypatch.setenv("PITON_BACKEND", "bisheng")
    monkeypatch.setenv("BISHENG_INSTALL_PATH", str(TEST / "tools" / "hivmc-stand-in"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("TRITON_NPU_COMPILER_PATH", raising=False)
    compile_bisheng = bisheng.compile_bisheng

    def compile_and_keep(text, options, metadata):
        TEXTS[metadata["hash"]] = text
        return compile_bisheng(text, options, metadata)

    def make_launcher(src, metadata):
        def launch(x, y, z, stream, function, packed, metadata_, enter, leave, *args):
            types = src.signature.values()
            values = [v for v, t in zip(args, types, strict=True) if t != "constexpr"]
            launches.launch(TEXTS[metadata.hash], (x, y, z), values)

        return launch

    monkeypatch.setattr(bisheng, "compile_bisheng", compile_and_keep)
    monkeypatch.setattr(driver, "make_launcher", make_launcher)
    monkeypatch.setattr(triton.runtime.driver.active, "launcher_cls", make_launcher)
    monkeypatch.setattr(driver.NPUUtils, "load_binary", lambda *_: (None, 0, 0, 0, 0))
    forget_kernels()
    before = launches.count
    yield launches
    forget_kernels()
    assert launches.count > before


def forget_kernels():
    """What is compiled in this process is kept by signature, whatever the back end was."""
    for function in gc.get_objects():
        if type(function) is JITFunction:
            function.device_caches.clear()


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7)).to(dtype)


def close(got, want, tolerance=2e-5):
    torch.testing.assert_close(got.double(), want.double(), rtol=tolerance, atol=tolerance)


def test_vector_add(npu):
    x = random(1000, dtype=torch.float16)
    assert torch.equal(vector_add(x, x.flip(0).contiguous()), x + x.flip(0))


def test_softmax(npu):
    x = random(5, 77)
    close(softmax(x), torch.softmax(x, -1))


def test_layer_norm(npu):
    x, weight, bias = random(6, 70), random(70), random(1, 70)[0] + 1
    out, _, _ = layer_norm_forward(x, weight, bias)
    close(out, torch.nn.functional.layer_norm(x, (70,), weight, bias))


def test_layer_norm_backward_with_its_lock(npu):
    x, dy, weight = random(7, 60), random(60, 7).T.contiguous(), random(60)
    mean = x.mean(1)
    rstd = (x.var(1, correction=0) + 1e-5).rsqrt()
    _, dw, db = layer_norm_backward(dy, x, weight, mean, rstd, groups=2)
    close(db, dy.sum(0))
    close(dw, (dy * (x - mean[:, None]) * rstd[:, None]).sum(0))


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16), ids=str)
def test_matmul(npu, dtype):
    a, b = random(40, 56, dtype=dtype), random(56, 33, dtype=dtype)
    blocks = dict(block_m=32, block_n=32, block_k=32)
    close(matmul(a, b, **blocks), a.double() @ b.double(), 2e-5 if a.itemsize == 4 else 3e-2)


def test_attention(npu):
    q, k, v = random(2, 24, 32), random(2, 40, 32), random(2, 40, 32) + 1
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    close(attention(q, k, v, block_m=16, block_n=16), want, 1e-4)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_case(npu, path):
    run_case(load_case(path))


@triton.jit
def racing_kernel(x_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x_ptr + lanes, tl.load(x_ptr + lanes) + 1)


def test_a_race_between_blocks_is_reported(npu):
    """The checker sees what is wrong with a kernel: two blocks add to the same elements."""
    with pytest.raises(AssertionError, match="RAW|WAW|WAR"):
        racing_kernel[(2,)](torch.zeros(32), BLOCK=32)
    npu.count += 1
