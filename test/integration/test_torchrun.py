# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed scripts under `piton exec -- torchrun`: the guide's, a rank that is killed anywhere,
a standstill. Tensors are on npu, so kernels run on streams. test_tutorials.py runs the examples."""

import os
import re
import subprocess
import sys
import tempfile

import pytest
from test_distributed import EXAMPLES, said_by_ranks

from ports import free_port

pytest.importorskip("shmem", reason="the package shmem is not built")
pytest.importorskip("piton_torch", reason="the package piton_torch is not built")


def torchrun(world, script, *arguments, options=(), timeout=900, **env):
    """`piton exec -- torchrun`, started outside of any `piton exec`; `stdout` is torchrun's own
    output and then what each rank has said (`ranks`: a text for each). torchrun's workers write
    unbuffered, so that the lines of ranks that share a pipe can come in pieces."""
    store = f"tcp://127.0.0.1:{free_port()}"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "PYTEST_"))}
    with tempfile.TemporaryDirectory() as logs:
        command = [
            sys.executable, "-m", "piton", "exec", "--", "torchrun", "--standalone",
            f"--nproc-per-node={world}", "--redirects=3", f"--log-dir={logs}",
            *options, str(script), *arguments,
        ]  # fmt: skip
        try:
            job = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=timeout,
                env={**inherited, "PITON_EXAMPLE_STORE": store, "OMP_NUM_THREADS": "1", **env},
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            pytest.fail(f"{late}\n{late.stdout}\n{said_by_ranks(logs)}")
        job.ranks = said_by_ranks(logs)
    job.stdout += "".join(job.ranks.values())
    return job


def test_the_guide(tmp_path):
    """The program that docs/howto/distributed.md shows."""
    guide = EXAMPLES.parents[1] / "docs" / "howto" / "distributed.md"
    program = re.search(r"```python\n(.*?)```", guide.read_text(), re.DOTALL)[1]
    assert '"tcp://127.0.0.1:8666"' in program
    script = tmp_path / "hello.py"
    script.write_text(
        program.replace('"tcp://127.0.0.1:8666"', 'os.environ["PITON_EXAMPLE_STORE"]')
    )
    job = torchrun(2, script)
    assert job.returncode == 0, job.stdout
    assert "0 1.0\n" in job.ranks[0] and "1 0.0\n" in job.ranks[1], job.stdout


PREFIX = """
import ctypes, os, signal, sys, threading, time
import torch, torch_npu
import triton, triton.language as tl
import shmem as ash
import triton_dist.language as dl
from triton_dist.language.extra import libshmem_device

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
kind, victim = sys.argv[1], int(sys.argv[2])

def told(call):
    '''Runs what must fail, and shows how and when it did.'''
    try:
        result = call()
        if result:
            raise RuntimeError(ash.last_error())
    except Exception as error:
        print(f"<rank {rank} at {time.time()} told: {error}>", flush=True)
        raise

def dies_after(seconds, when=lambda: True):
    def die():
        while not when():
            time.sleep(0.01)
        time.sleep(seconds)
        print(f"<dies {time.time()}>", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=die, daemon=True).start()

def connections():
    port = f":{int(os.environ['PITON_EXAMPLE_STORE'].rpartition(':')[2]):04X}"
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table]
    return sum(row[1].endswith(port) and row[3] == "01" for row in rows)  # established

def init(n_ranks):
    attributes = ash.InitAttr()
    attributes.my_rank, attributes.n_ranks, attributes.local_mem_size = rank, n_ranks, 16 << 20
    attributes.ip_port = os.environ["PITON_EXAMPLE_STORE"]
    ash.set_conf_store_tls(False, "")
    return ash.aclshmem_init(attributes)

torch.npu.set_device(rank)
print(f"<pid {os.getpid()}>", flush=True)
if kind == "init":
    if rank == victim:
        dies_after(2, lambda: connections() >= world)  # before, nobody would know it
    told(lambda: init(world + 1))  # the last one never comes
assert init(world) == 0
words = ash.aclshmem_create_tensor([64], dtype=torch.int32, device_id=rank)
words.zero_()

# Kernels tell the one who dies that they run: their errors have to name the line.
@triton.jit
def stuck(sig, out, who):
    dl.notify(sig + 16, who, 1, "add", "intra_node")
    dl.wait(sig, 1, "gpu", "acquire", waitValue=7)
    tl.store(out, 1)

@triton.jit
def meet(sig, who):
    dl.notify(sig + 16, who, 1, "add", "intra_node")
    libshmem_device.barrier_all()

@triton.jit
def large(sig, out, SIZE: tl.constexpr):
    x = tl.arange(0, 64).to(tl.float32)
    for i in tl.static_range(SIZE):
        x = tl.where(x > i, x * 1.5 + i, tl.exp(x) - i)
    tl.store(out, tl.sum(x, 0).to(tl.int32))
    dl.wait(sig, 1, "gpu", "acquire", waitValue=7)

def stuck_in_kernel():
    stuck[(2,)](words, words[32:], who)
    torch.npu.synchronize()

def compiles():
    large[(1,)](words, words[32:], 40)
    torch.npu.synchronize()

def device_barrier():
    meet[(2,)](words, who)
    torch.npu.synchronize()

def free_and_finalize():
    return ash.aclshmem_finalize()

calls = {"kernel": stuck_in_kernel, "standstill": stuck_in_kernel, "compile": compiles,
         "device_barrier": device_barrier, "host_barrier": ash.barrier_all,
         "host_wait": lambda: ash.aclshmem_signal_wait_until(words.data_ptr(), 0, 7),
         "allocate": lambda: ash.aclshmem_malloc(64), "finalize": free_and_finalize}
who = max(victim, 0)
stuck.warmup(words, words, who, grid=(2,))
meet.warmup(words, who, grid=(2,))
ash.barrier_all()
if rank == victim:
    run = ctypes.c_int32.from_address(words.data_ptr() + 64)
    blocks = 2 * {"kernel": world, "device_barrier": world - 1}.get(kind, 0)
    dies_after(0.5 if kind == "compile" else 1, lambda: run.value >= blocks)
    if kind not in ("kernel", "compile", "host_wait"):
        time.sleep(30)
told(calls[kind])
"""


def told(output):
    """What each rank's call raised: rank -> (time, text)."""
    found = re.findall(r"<rank (\d+) at ([\d.]+) told: ([^>]*)>", output)
    return {int(rank): (float(when), text) for rank, when, text in found}


def nothing_left(output, world, before):
    """No process of the job and no new name in /dev/shm."""
    pids = re.findall(r"<pid (\d+)>", output)
    assert len(pids) == world, output
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")], pids
    assert not {n for n in set(os.listdir("/dev/shm")) - before if "piton" in n or "shmem" in n}


def deaths():
    """Where a rank dies, how many ranks there are and which dies (0 serves the others)."""
    kinds = ("init", "kernel", "compile", "device_barrier", "host_barrier", "host_wait",
             "allocate", "finalize")  # fmt: skip
    for kind in kinds:
        for world, victim in ((2, 1), (2, 0), (4, 1), (4, 0)):
            slow = (kind, world, victim) not in (("kernel", 2, 1), ("host_barrier", 2, 0))
            yield pytest.param(kind, world, victim, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize("kind,world,victim", list(deaths()))
def test_a_killed_rank(tmp_path, kind, world, victim):
    """With torchrun's own monitor interval of 0.1 s: it ends the others as soon as one has died."""
    script = tmp_path / "stuck.py"
    script.write_text(PREFIX)
    before = set(os.listdir("/dev/shm"))
    job = torchrun(
        world, script, kind, str(victim), TRITON_CACHE_DIR=str(tmp_path / "cache"), timeout=300
    )
    seen = told(job.stdout)
    assert job.returncode != 0 and set(seen) == set(range(world)) - {victim}, job.stdout
    dies = float(re.search(r"<dies ([\d.]+)>", job.stdout)[1])
    for when, text in seen.values():
        assert when - dies < 8, job.stdout  # it takes much less, but on a crowded machine
        assert f"PE {victim} (pid" in text, text
        assert "stuck.py:" in text or kind not in ("kernel", "device_barrier"), text
    # Whatever the script makes of the error, the library has said it at once.
    lost = re.findall(rf"the job is lost: PE {victim} \(pid", job.stdout)
    assert len(lost) >= world - 1 or kind == "init", job.stdout
    nothing_left(job.stdout, world, before)


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 4])
def test_a_standstill(tmp_path, world):
    script = tmp_path / "stuck.py"
    script.write_text(PREFIX)
    before = set(os.listdir("/dev/shm"))
    job = torchrun(world, script, "standstill", "-1", PITON_STANDSTILL_SECONDS="2", timeout=300)
    seen = told(job.stdout)
    assert job.returncode != 0 and set(seen) == set(range(world)), job.stdout
    for _, text in seen.values():
        assert "standstill" in text and "stuck.py:" in text and "equals 7, but it is 0" in text
    nothing_left(job.stdout, world, before)
