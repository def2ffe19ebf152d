# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Around the kernels: the interpreter, compile times, launch latency, memory."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import triton
from bench_kernels import empty_kernel
from bench_report import alternate
from matmul import matmul_kernel
from softmax import softmax, softmax_kernel
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from vector_add import add_kernel, vector_add

from piton import _runtime


def timed_calls():
    """What is compared with the interpreter: name -> call."""
    x, y, rows = torch.randn(1 << 20), torch.randn(1 << 20), torch.randn(256, 1000)
    return {"add 1M": lambda: vector_add(x, y), "softmax 256x1000": lambda: softmax(rows)}


def interpreter(report):
    """The same calls in a child under TRITON_INTERPRET=1."""
    child = subprocess.run(
        [sys.executable, str(pathlib.Path(__file__).resolve()), "interpreted"],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": python_path()},
        capture_output=True, text=True,
    )  # fmt: skip
    if child.returncode != 0:
        raise RuntimeError(f"the interpreter run failed: {child.stderr[-400:]}")
    seen = dict(line.rsplit(" ", 1) for line in child.stdout.splitlines())
    for name, fn in timed_calls().items():
        ours = alternate([fn], report.rounds)[0]
        slow = float(seen[name])
        report.row(
            f"{name} against TRITON_INTERPRET=1", f"{ours * 1e3:.3f} ms", f"{slow:.2f} s",
            slow / ours, 200, at_least=True,
        )  # fmt: skip


def python_path():
    """This process's module search path, for children."""
    return os.pathsep.join(p for p in sys.path if p)


def interpreted():
    """Body of the child: seconds of each timed call, best of two."""
    for name, fn in timed_calls().items():
        times = []
        for _ in range(2):
            start = time.perf_counter()
            fn()
            times.append(time.perf_counter() - start)
        print(name, min(times))


def sources():
    """Name, ASTSource and options of the kernels whose compilation is timed."""
    strides = ("am", "ak", "bk", "bn", "cm", "cn")
    tile = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "ACC": triton.language.float32}
    yield (
        "add",
        ASTSource(
            add_kernel,
            {
                "x_ptr": "*fp32",
                "y_ptr": "*fp32",
                "out_ptr": "*fp32",
                "n": "i32",
                "BLOCK": "constexpr",
            },
            {"BLOCK": 1024},
        ),
    )
    yield "softmax", ASTSource(
        softmax_kernel,
        {
            "x_ptr": "*fp32", "out_ptr": "*fp32", "x_stride": "i32", "out_stride": "i32",
            "columns": "i32", "BLOCK": "constexpr",
        },
        {"BLOCK": 1024},
    )  # fmt: skip
    yield (
        "matmul",
        ASTSource(
            matmul_kernel,
            {
                **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp32"),
                **dict.fromkeys(("m", "n", "k", *strides), "i32"),
                **dict.fromkeys(tile, "constexpr"),
            },
            tile,
        ),
    )


def lowering_seconds(source, target):
    """Seconds from the Triton IR module to the machine code: the stages alone, no cache."""
    seen = []
    knobs = triton.knobs.compilation
    saved = knobs.listener, knobs.always_compile
    knobs.listener = lambda *, times, **_: seen.append(times.total_lowering / 1e6)
    knobs.always_compile = True
    try:
        triton.compile(source, target=target)
    finally:
        knobs.listener, knobs.always_compile = saved
    return seen[-1]


def compile_time(report):
    ours_target = triton.runtime.driver.active.get_current_target()
    stock_target = GPUTarget("cuda", 90, 32)
    ours_sum = stock_sum = 0.0
    for name, source in sources():
        both = [[], []]
        for _ in range(6):
            for target, times in zip((ours_target, stock_target), both, strict=True):
                times.append(lowering_seconds(source, target))
        # The first of each loads libraries and fills tables.
        ours, stock = (statistics.median(times[1:]) for times in both)
        ours_sum, stock_sum = ours_sum + ours, stock_sum + stock
        report.row(
            f"compile {name}: Triton IR to image / to cubin", f"{ours * 1e3:.1f} ms",
            f"{stock * 1e3:.1f} ms", ours / stock, 0.8,
        )  # fmt: skip
    report.row(
        "compile, summed", f"{ours_sum * 1e3:.1f} ms", f"{stock_sum * 1e3:.1f} ms",
        ours_sum / stock_sum, 0.2,
    )  # fmt: skip


def launch(report):
    out = torch.zeros(16, dtype=torch.int32)

    def ours():
        empty_kernel[(1,)](out, 7, BLOCK=16)

    for _ in range(200):
        ours()
    seconds = alternate([ours], report.rounds, batch=500)[0]
    report.row(
        "warm launch of one block from Python", f"{seconds * 1e6:.1f} us", "", seconds * 1e6, 30,
        unit="us",
    )  # fmt: skip
    # Of the same build as the package: <build>/python/piton/_runtime...so.
    staged = pathlib.Path(_runtime.__file__).absolute().parents[2] / "benchmarks" / "launch_bench"
    tool = shutil.which("launch_bench") or (str(staged) if staged.exists() else None)
    if not tool:
        report.note("warm launch of one block from C++", "no tool: `make bench` builds it")
        return
    with tempfile.NamedTemporaryFile(suffix=".o") as image:
        image.write(empty_kernel[(1,)](out, 7, BLOCK=16).asm["npubin"])
        image.flush()
        run = subprocess.run([tool, image.name], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"launch_bench failed: {run.stderr[-400:]}")
    micros = float(run.stdout.split()[-1])
    report.row("warm launch of one block from C++", f"{micros:.2f} us", "", micros, 3, unit="us")


def memory(report):
    """Peak memory beyond the tensors, of launches that find their kernels in the cache."""
    for name in KERNELS:
        megabytes = []
        for _ in range(2):  # the first child compiles
            child = subprocess.run(
                [sys.executable, str(pathlib.Path(__file__).resolve()), "memory", name],
                env={**os.environ, "PYTHONPATH": python_path()},
                capture_output=True, text=True,
            )  # fmt: skip
            if child.returncode != 0:
                raise RuntimeError(f"memory run of {name} failed: {child.stderr[-400:]}")
            megabytes.append(float(child.stdout.split()[-1]))
        report.row(
            f"peak memory of {name} beyond its tensors", f"{megabytes[-1]:.0f} MiB", "",
            megabytes[-1], 128, unit="MiB",
        )  # fmt: skip


def add_memory():
    x, y, out = (torch.ones(4 << 20) for _ in range(3))
    return lambda: add_kernel[(4096,)](x, y, out, 4 << 20, BLOCK=1024)


def softmax_memory():
    x, out = torch.ones(4096, 1024), torch.ones(4096, 1024)
    return lambda: softmax_kernel[(4096,)](x, out, 1024, 1024, 1024, BLOCK=1024)


def matmul_memory():
    a, b, c = (torch.ones(1024, 1024) for _ in range(3))
    strides = (1024, 1) * 3
    return lambda: matmul_kernel[(8, 8)](
        a, b, c, 1024, 1024, 1024, *strides, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64,
        ACC=triton.language.float32,
    )  # fmt: skip


def attention_memory():
    from attention import attention_kernel

    q, k, v, out = (torch.ones(8, 1024, 64) for _ in range(4))
    return lambda: attention_kernel[(8, 8)](
        q, k, v, out, 0.125, 1024, 1024, 65536, 65536, CAUSAL=False, BLOCK_M=128, BLOCK_N=64,
        HEAD=64,
    )  # fmt: skip


KERNELS = {
    "add": add_memory, "softmax": softmax_memory, "matmul": matmul_memory,
    "attention": attention_memory,
}  # fmt: skip


def status_kib(key):
    """A memory figure of this process in KiB."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"no {key} in /proc/self/status")


def measure_memory(name):
    """Body of the child: MiB that the launches add to the process."""
    torch.set_num_threads(2)
    torch.ones(1 << 20).add_(1)  # torch's own thread pool
    empty_kernel[(1,)](torch.zeros(16, dtype=torch.int32), 7, BLOCK=16)
    kernel = KERNELS[name]()
    before = status_kib("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    for _ in range(3):
        kernel()
    print((status_kib("VmHWM") - before) / 1024)


ITEMS = {
    "interpreter": interpreter, "compile": compile_time, "launch": launch, "memory": memory,
}  # fmt: skip

if __name__ == "__main__":
    if sys.argv[1] == "interpreted":
        interpreted()
    else:
        measure_memory(sys.argv[2])
