# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch `npu` device against the same calls on CPU tensors."""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile

import torch
import triton
import triton.language as tl
from bench_kernels import empty_kernel
from bench_report import alternate, milliseconds, native_half
from vector_add import add_kernel


@triton.jit
def gate_kernel(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass


#: More than the CPU takes, in microseconds an operator.
OPERATOR_OVERHEAD = 1.2


def available(report):
    if hasattr(torch, "npu"):
        return True
    report.note("torch npu device", "not built: torch 2.13 is needed")
    return False


def operators(report):
    """Overhead of a small operator, and equal time at size."""
    if not available(report):
        return

    def pair(size, make):
        calls = []
        for device in ("cpu", "npu"):
            calls.append(make(*(torch.randn(size, device=device) for _ in range(2))))
        return calls

    small = {"add": lambda a, b: lambda: a + b, "add_": lambda a, b: lambda: a.add_(b)}
    for name, make in small.items():
        cpu, npu = alternate(pair(16, make), report.rounds, batch=2000)
        report.row(
            f"{name}, 16 floats: npu over cpu", f"{npu * 1e6:.2f} us", f"{cpu * 1e6:.2f} us",
            (npu - cpu) * 1e6, OPERATOR_OVERHEAD, unit="us",
        )  # fmt: skip
    for name, make in small.items():
        cpu, npu = alternate(pair(4 << 20, make), report.rounds)
        report.row(f"{name}, 4 Mi floats", milliseconds(npu), milliseconds(cpu), npu / cpu, 1.1)
    cpu, npu = alternate(pair((256, 256), lambda a, b: lambda: a @ b), report.rounds, batch=5)
    report.row("matmul 256x256 fp32", milliseconds(npu), milliseconds(cpu), npu / cpu, 1.1)


def half_products(report):
    """fp16 and bf16 linear layers: the tile product against torch on the CPU."""
    if not available(report):
        return
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).split(".")[1]
        calls = []
        for device in ("cpu", "npu"):
            x = torch.randn(256, 512).to(dtype).to(device)
            w, b = torch.randn(512, 512).to(dtype).to(device), torch.randn(512).to(dtype).to(device)
            calls.append(lambda x=x, w=w, b=b: torch.nn.functional.linear(x, w, b))
        cpu, npu = alternate(calls, max(3, report.rounds // 3))
        # With instructions for the type both sides are torch's.
        report.row(
            f"linear 256x512x512 {name}", milliseconds(npu), milliseconds(cpu), npu / cpu,
            1.1 if native_half(name) else 1.0,
        )  # fmt: skip


def import_time(report):
    """What the device adds to `import torch`."""
    if not available(report):
        return
    code = (
        "import time, torch; start = time.perf_counter(); import piton_torch.device; "
        "print((time.perf_counter() - start) * 1e3)"
    )
    environment = {
        **os.environ,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    # With compiled modules, as an installation has: the first run only fills their cache.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    with tempfile.TemporaryDirectory() as cache:
        environment["PYTHONPYCACHEPREFIX"] = cache
        for _ in range(6):
            child = subprocess.run(
                [sys.executable, "-c", code],
                env=environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            times.append(float(child.stdout))
    added = statistics.median(times[1:])
    report.row("import torch: added by the device", f"{added:.1f} ms", "", added, 30, unit="ms")


def launches(report):
    """A warm launch on npu tensors, and add through a stream that is never idle."""
    if not available(report):
        return
    outs = [torch.zeros(16, dtype=torch.int32, device=d) for d in ("cpu", "npu")]
    calls = [lambda out=out: empty_kernel[(1,)](out, 7, BLOCK=16) for out in outs]
    cpu, npu = alternate(calls, report.rounds, batch=500)
    report.row(
        "warm launch: npu against cpu tensors", f"{npu * 1e6:.1f} us", f"{cpu * 1e6:.1f} us",
        npu / cpu, 1.0,
    )  # fmt: skip

    n = 4 << 20
    tensors = {d: [torch.ones(n, device=d) for _ in range(3)] for d in ("cpu", "npu")}

    def add(device):
        x, y, out = tensors[device]
        add_kernel[(triton.cdiv(n, 4096),)](x, y, out, n, BLOCK=4096)

    def torch_add():
        x, y, out = tensors["cpu"]
        torch.add(x, y, out=out)

    side = torch.npu.Stream()
    flag = torch.zeros(1, dtype=torch.int32, device="npu")
    cell = ctypes.c_int32.from_address(flag.data_ptr())

    def through_stream():
        """The kernel runs on the stream's thread: one that waits for the host is before it."""
        cell.value = 0
        with torch.npu.stream(side):
            gate_kernel[(1,)](flag)
            add("npu")
        cell.value = 1
        side.synchronize()

    direct, caller, stream = alternate(
        [torch_add, lambda: add("npu"), through_stream], report.rounds
    )
    report.row(
        "add 4 Mi floats on the caller's thread", milliseconds(caller), milliseconds(direct),
        caller / direct, 1.1,
    )  # fmt: skip
    report.row(
        "add 4 Mi floats through a stream", milliseconds(stream), milliseconds(direct),
        stream / direct,
    )  # fmt: skip


ITEMS = {
    "torch-operators": operators, "torch-half": half_products, "torch-import": import_time,
    "torch-launch": launches,
}  # fmt: skip
