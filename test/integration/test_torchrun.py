# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed scripts under `piton exec -- torchrun`: the examples, a rank that is killed in a
kernel, a standstill. Tensors are on npu, so kernels run on streams."""

import os
import pathlib
import re
import socket
import subprocess
import sys

import pytest

pytest.importorskip("shmem", reason="the package shmem is not built")
pytest.importorskip("piton_torch", reason="the package piton_torch is not built")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "distributed"
NAMES = ("ring_exchange", "all_to_all", "allgather_gemm", "gemm_reduce_scatter", "gemm_allreduce")


def torchrun(world, script, *arguments, options=(), timeout=900, **env):
    """`piton exec -- torchrun`, started outside of any `piton exec`."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        store = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "piton", "exec", "--", "torchrun", "--standalone",
         f"--nproc-per-node={world}", *options, str(script), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
        env={**inherited, "PITON_EXAMPLE_STORE": store, "OMP_NUM_THREADS": "1", **env},
    )  # fmt: skip


def runs(name, world):
    """The parameters of one run; only one is in the quick set. Rows of the products with a
    reduction are cut by the number of ranks, so 3 does not go there."""
    slow = (name, world) != ("ring_exchange", 2)
    return pytest.param(name, world, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(
    "name,world",
    [runs(n, w) for n in NAMES for w in (1, 2, 3, 4, 8) if w != 3 or not n.startswith("gemm")],
)
def test_examples(name, world):
    job = torchrun(world, EXAMPLES / f"{name}.py")
    assert job.returncode == 0 and "[FAIL]" not in job.stdout, job.stdout
    for rank in range(world):
        assert f"[PASS] Rank {rank}:" in job.stdout, job.stdout


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
    assert {"0 1.0", "1 0.0"} <= set(job.stdout.splitlines()), job.stdout


STUCK = """
import os, signal, sys, threading, time
import torch, torch_npu
import triton, triton.language as tl
import shmem as ash
import triton_dist.language as dl

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.npu.set_device(rank)
attributes = ash.InitAttr()
attributes.my_rank, attributes.n_ranks, attributes.local_mem_size = rank, world, 16 << 20
attributes.ip_port = os.environ["PITON_EXAMPLE_STORE"]
ash.set_conf_store_tls(False, "")
assert ash.aclshmem_init(attributes) == 0
words = ash.aclshmem_create_tensor([64], dtype=torch.int32, device_id=rank)
words.zero_()

@triton.jit
def stuck(sig, out):
    dl.wait(sig, 1, "gpu", "acquire", waitValue=7)
    tl.store(out, 1)

stuck.warmup(words, words, grid=(2,))
ash.barrier_all()
print(f"<pid {os.getpid()}>", flush=True)
if rank == 1 and sys.argv[1] == "killed":
    def die():
        print(f"<dies {time.time()}>", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Timer(1, die).start()
try:
    stuck[(2,)](words, words[32:])
    torch.npu.synchronize()
except Exception as error:
    print(f"<rank {rank} at {time.time()} told: {error}>", flush=True)
    time.sleep(2)  # torchrun ends the others as soon as one has ended
    raise
"""


def told(output):
    """What each rank's launch raised: rank -> (time, text)."""
    found = re.findall(r"<rank (\d+) at ([\d.]+) told: ([^>]*)>", output)
    return {int(rank): (float(when), text) for rank, when, text in found}


def nothing_left(output, world, before):
    """No process of the job and no new name in /dev/shm."""
    pids = re.findall(r"<pid (\d+)>", output)
    assert len(pids) == world, output
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")], pids
    assert not {n for n in set(os.listdir("/dev/shm")) - before if "piton" in n or "shmem" in n}


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 4])
def test_a_killed_rank(tmp_path, world):
    script = tmp_path / "stuck.py"
    script.write_text(STUCK)
    before = set(os.listdir("/dev/shm"))
    # At its usual interval, 0.1 s, torchrun may end the others before they have said why.
    job = torchrun(world, script, "killed", options=["--monitor-interval=6"], timeout=300)
    seen = told(job.stdout)
    assert job.returncode != 0 and set(seen) == set(range(world)) - {1}, job.stdout
    dies = float(re.search(r"<dies ([\d.]+)>", job.stdout)[1])
    for when, text in seen.values():
        assert when - dies < 5 and "PE 1 (pid" in text and "stuck.py:" in text, text
    nothing_left(job.stdout, world, before)


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 4])
def test_a_standstill(tmp_path, world):
    script = tmp_path / "stuck.py"
    script.write_text(STUCK)
    before = set(os.listdir("/dev/shm"))
    job = torchrun(world, script, "standstill", PITON_STANDSTILL_SECONDS="2", timeout=300)
    seen = told(job.stdout)
    assert job.returncode != 0 and set(seen) == set(range(world)), job.stdout
    for _, text in seen.values():
        assert "standstill" in text and "stuck.py:" in text and "equals 7, but it is 0" in text
    nothing_left(job.stdout, world, before)
