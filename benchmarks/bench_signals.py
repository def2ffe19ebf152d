# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device functions of the symmetric heap: a signal's round trip and a put between two PEs."""

import pathlib
import shutil
import socket
import subprocess
import tempfile

from piton import _runtime

KERNELS = pathlib.Path(__file__).parent / "kernels"


def tool(name):
    """A native tool of the same build as the package, or None."""
    build = pathlib.Path(_runtime.__file__).absolute().parents[2]
    for folder in ("benchmarks", "tools"):
        if (build / folder / name).exists():
            return str(build / folder / name)
    return shutil.which(name)


def signals(report):
    """Both sides alternate in one program, each PE on a core of its own."""
    bench, compiler = tool("shmem_kernel_bench"), tool("piton-compile")
    if not bench or not compiler:
        report.note("signal round trip in kernels", "no tool: `make bench` builds it")
        return
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        images = []
        for name in ("pingpong", "put"):
            images.append(f"{folder}/{name}.npubin")
            source = str(KERNELS / f"{name}.ttir")
            subprocess.run([compiler, source, "--emit=npubin", "-o", images[-1]], check=True)
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        free.close()
        run = subprocess.run([bench, *images, address], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"shmem_kernel_bench failed: {run.stderr[-400:]}")
    values = {
        line.split()[0]: [float(x) for x in line.split()[1:]] for line in run.stdout.splitlines()
    }
    kernel, bare = values["signal_round_trip_ns"]
    report.row(
        "signal round trip in kernels / bare cache line",
        f"{kernel:.0f} ns",
        f"{bare:.0f} ns",
        kernel / bare,
        1.5,
    )
    put, copy = values["put_gb_per_s"]
    report.row(
        "put of 8 MiB in a kernel / memcpy",
        f"{put:.1f} GB/s",
        f"{copy:.1f} GB/s",
        put / copy,
        0.9,
        at_least=True,
    )


ITEMS = {"signals": signals}
