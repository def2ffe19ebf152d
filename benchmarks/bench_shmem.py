# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The symmetric heap: round trips and copies in kernels and on the host, barriers against OSHMEM of
Open MPI, init and memory of 64 PEs."""

import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import tempfile

from piton import _runtime

HERE = pathlib.Path(__file__).parent
MIB = 1 << 20
BARRIERS = 100  # of a batch
ROUNDS = 5
HEAP_PES, HEAP_GIB = 64, 1


def tool(name):
    """A native tool of the same build as the package, or None."""
    build = pathlib.Path(_runtime.__file__).absolute().parents[2]
    for folder in ("benchmarks", "tools"):
        if (build / folder / name).exists():
            return str(build / folder / name)
    return shutil.which(name)


def free_url():
    """A URL of loopback with a port that nobody uses at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{free.getsockname()[1]}"


def measure(*command):
    """What a measuring program prints: name -> figures."""
    run = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120
    )
    if run.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name} failed: {run.stderr[-400:]}")
    lines = (line.split() for line in run.stdout.splitlines())
    return {words[0]: [float(word) for word in words[1:]] for words in lines}


def copy_row(report, name, figures):
    """Row of our bandwidth and memcpy's."""
    ours, copy = figures
    report.row(
        name, f"{ours:.1f} GB/s", f"{copy:.1f} GB/s", ours / copy, 0.9, at_least=True
    )  # fmt: skip


def kernels(report):
    """Both sides alternate in one program, each PE on a core of its own."""
    bench, compiler = tool("shmem_kernel_bench"), tool("piton-compile")
    if not bench or not compiler:
        report.note("device functions of the heap", "no tool: `make bench` builds it")
        return
    with tempfile.TemporaryDirectory() as folder:
        for source in (HERE / "kernels").glob("*.ttir"):
            image = f"{folder}/{source.stem}.npubin"
            subprocess.run([compiler, source, "--emit=npubin", "-o", image], check=True)
        values = measure(bench, folder, free_url())
    for key, name in (("signal", "signal in kernels"), ("put_signal", "put + signal in kernels")):
        kernel, bare = values[f"{key}_round_trip_ns"]
        report.row(
            f"{name} / cache line", f"{kernel:.0f} ns", f"{bare:.0f} ns",
            kernel / bare, 1.5,
        )  # fmt: skip
    for size in (1, 16):
        for way in ("put", "get"):
            copy_row(report, f"{way} of {size} MiB in a kernel / memcpy", values[f"{way}_{size}"])


def copies(report):
    bench = tool("shmem_host_bench")
    if not bench:
        report.note("put and get of the host", "no tool: `make bench` builds it")
        return
    for size in (1, 16):
        values = measure(bench, "copies", free_url(), size * MIB)
        for way in ("put", "get"):
            copy_row(report, f"{way} of {size} MiB by the host / memcpy",
                     values[f"{way}_gb_per_s"])  # fmt: skip


def oshmem_program(folder):
    """The other side of the barrier's rows, or None with why not."""
    compiler, runner = shutil.which("oshcc"), shutil.which("oshrun")
    if not compiler or not runner:
        return None, "no oshcc and oshrun (Debian: openmpi-bin, libopenmpi-dev)"
    program = f"{folder}/oshmem_barrier"
    build = subprocess.run(
        [compiler, "-O2", HERE / "oshmem_barrier.c", "-o", program], capture_output=True, text=True
    )
    if build.returncode != 0:
        return None, f"oshcc failed: {build.stderr[-200:]}"
    return (runner, program), ""


def oshmem_barrier(runner, program, pes):
    """Nanoseconds of a barrier. The program's end does not matter: Debian's library may crash in
    shmem_finalize after all has been measured."""
    # Who waits gives its core away where there are fewer cores than PEs: the better setting.
    crowded = int(pes > len(os.sched_getaffinity(0)))
    settings = ["--oversubscribe", "--mca", "mpi_yield_when_idle", str(crowded)]
    command = [runner, *settings, "-n", str(pes), program, str(BARRIERS)]
    environment = {
        **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    found = re.search(r"^barrier_ns ([\d.]+)$", run.stdout, re.M)
    if not found:
        raise RuntimeError(f"oshrun gave no figure: {run.stdout[-200:]}{run.stderr[-200:]}")
    return float(found.group(1))


def barriers(report):
    """Runs of both sides alternate; medians are compared."""
    bench = tool("shmem_host_bench")
    if not bench:
        report.note("host barrier_all", "no tool: `make bench` builds it")
        return
    with tempfile.TemporaryDirectory() as folder:
        other, why = oshmem_program(folder)
        if not other:
            report.note("host barrier_all / OSHMEM", why)
        for pes in (2, 4, 8):
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours += measure(bench, "barrier", free_url(), pes, BARRIERS)["barrier_ns"]
                if other:
                    theirs.append(oshmem_barrier(*other, pes))
            mine = statistics.median(ours)
            name = f"host barrier_all, {pes} PEs"
            if other:
                osh = statistics.median(theirs)
                report.row(
                    f"{name} / OSHMEM", f"{mine / 1e3:.2f} us", f"{osh / 1e3:.2f} us",
                    mine / osh, 1.0,
                )  # fmt: skip
            else:
                report.row(name, f"{mine / 1e3:.2f} us", "", mine / 1e3, unit="us")


def heap(report):
    """From the first fork to the barrier after the last init; then every PE writes 1 MiB."""
    bench = tool("shmem_host_bench")
    if not bench:
        report.note("heap of 64 PEs", "no tool: `make bench` builds it")
        return
    values = measure(bench, "heap", free_url(), HEAP_PES, HEAP_GIB, MIB)
    seconds = values["init_seconds"][0]
    name = f"{HEAP_PES} heaps of {HEAP_GIB} GiB"
    report.row(f"init of {name}", f"{seconds:.2f} s", "", seconds, 5, unit="s")
    before, after = (value / MIB for value in values["heap_bytes"])
    report.row(
        f"memory of {name}, 1 MiB each used", f"{after:.1f} MiB", f"{HEAP_PES} MiB",
        after / HEAP_PES, 1.1,
    )  # fmt: skip
    report.row(f"memory of {name} after init", f"{before:.1f} MiB", "", before, unit="MiB")


ITEMS = {"signals": kernels, "copies": copies, "barriers": barriers, "heap": heap}
