# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that are killed at random moments of jobs with kernels: the others name them within 5 s,
nothing stays, and the next job at the same address starts clean. PITON_TEST_SEED sets the seed,
PITON_TEST_KILLS the number of jobs with each engine."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("shmem", reason="the package shmem is not built")

#: One process imports everything and compiles the kernels; its children are the ranks of the jobs.
SCRIPT = """
import os, random, re, signal, socket, sys, threading, time
import torch, triton, triton.language as tl
import shmem as ash
import triton_dist.language as dl
from triton_dist.language.extra import libshmem_device

WORLD, INIT_SECONDS = 3, 5
engine, jobs, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

@triton.jit
def moves(x, box, sig, rounds, row, N: tl.constexpr):
    me, n, pid = dl.rank(), dl.num_ranks(), tl.program_id(0)
    right = (me + 1) % n
    mine, full = box + pid * N, sig + pid * 32
    for i in range(rounds):
        libshmem_device.putmem(mine, x + pid * N, N * 4, right)
        libshmem_device.getmem(x + pid * N, mine, N * 4, right)
        libshmem_device.putmem_signal_nbi(mine, x + pid * N, N * 4, full, i + 1, 0, right)
        libshmem_device.signal_wait_until(full, libshmem_device.ACLSHMEM_CMP_GE, i + 1)
        dl.notify(full + 16, right, signal=1, sig_op="add", comm_scope="inter_node")
        token = dl.wait(full + 16, 1, "gpu", "acquire", waitValue=i + 1)
        tl.store(x + pid * N, tl.load(dl.consume_token(mine, token)) + 1)
        libshmem_device.barrier(row)
        libshmem_device.barrier_all()

def checked(code):
    if code:
        raise RuntimeError(ash.last_error())

def one_round(rank, store):
    '''Init, all kinds of calls, finalize.'''
    attributes = ash.InitAttr()
    attributes.my_rank, attributes.n_ranks, attributes.local_mem_size = rank, WORLD, 4 << 20
    attributes.ip_port = store
    attributes.option_attr.data_op_engine_type = getattr(ash.OpEngineType, engine)
    attributes.option_attr.shm_init_timeout = INIT_SECONDS
    ash.set_conf_store_tls(False, "")
    checked(ash.aclshmem_init(attributes))
    tensors = [ash.aclshmem_create_tensor([1024], dtype=t, device_id=rank)
               for t in (torch.float32, torch.float32, torch.int32)]
    for tensor in tensors:
        tensor.zero_()
    row, column = ash.team_split_2d(0, 2)
    ash.barrier_all()
    x, box, sig = tensors
    moves[(2,)](x, box, sig, 20, row, 64)
    right, word = (rank + 1) % WORLD, sig.data_ptr() + 3072
    for i in range(20):
        ash.aclshmem_putmem(box.data_ptr(), x.data_ptr(), 512, right)
        ash.aclshmem_getmem(x.data_ptr(), box.data_ptr(), 512, right)
        ash.aclshmemx_signal_op(word, i + 1, 0, right)
        ash.aclshmem_signal_wait_until(word, ash.CmpOp.CMP_GE, i + 1)
        ash.aclshmem_barrier(column)
    for tensor in tensors:
        ash.aclshmem_free_tensor(tensor)
    checked(ash.aclshmem_finialize())

def start(rank, store, rounds):
    '''A rank that goes through `rounds`, or through as many as it can.'''
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    os.dup2(write, 1), os.dup2(write, 2)
    try:
        while rounds:
            rounds -= 1
            one_round(rank, store)
        print("<well>", flush=True)
    except Exception as error:
        print(f"<told {time.monotonic()} {error}>", flush=True)
        start = time.monotonic()
        ash.aclshmem_finialize()  # waits for nobody
        if time.monotonic() - start > 3:
            print("<slow to leave>", flush=True)
    os._exit(0)

def run(victim, seconds, store, rounds):
    '''Output and wait status of each rank, and when the victim was killed.'''
    ranks = [start(rank, store, rounds) for rank in range(WORLD)]
    killed = None
    if victim is not None:
        time.sleep(seconds)
        killed = time.monotonic()
        os.kill(ranks[victim][0], signal.SIGKILL)
    results = []
    for pid, read in ranks:
        watch = threading.Timer(60, os.kill, (pid, signal.SIGABRT))
        watch.start()
        with os.fdopen(read, errors="replace") as pipe:
            output = pipe.read()
        watch.cancel()
        results.append((output, os.waitpid(pid, 0)[1]))
    return results, killed

def faults(victim, results, killed):
    for rank, (output, status) in enumerate(results):
        told = re.search(r"<told ([\\d.]+) (.*)", output)
        if rank == victim:
            if status != signal.SIGKILL:
                yield f"rank {rank} was to be killed"
        elif status or not told or "<slow to leave>" in output:
            yield f"rank {rank} was not told, or did not end well (status {status})"
        else:
            # Before it was a PE, or between two jobs, nobody can know that it will not come.
            late = float(told[1]) - killed - (INIT_SECONDS if "shm_init_timeout" in told[2] else 0)
            if late > 5:
                yield f"rank {rank} was told {late:.1f} s later"
            if not re.search(rf"PE {victim}\\b", told[2]):
                yield f"rank {rank} was not told who"
    port = int(store.rsplit(":", 1)[1])
    if any(f":{port:04X} " in line and line.split()[3] == "0A" for line in open("/proc/net/tcp")):
        yield "somebody listens at the port"

reserved = []  # stay bound, so that nobody else gets the ports

def free_store():
    reserved.append(socket.socket())
    reserved[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved[-1].bind(("127.0.0.1", 0))
    return f"tcp://127.0.0.1:{reserved[-1].getsockname()[1]}"

words = torch.zeros(1024, dtype=torch.int32)
for rounds, row in ((20, 1), (20, 2), (20, 3)):
    moves.warmup(words.float(), words.float(), words, rounds, row, 64, grid=(2,))
bad = 0
chance = random.Random(f"{engine} {seed}")
for job in range(jobs):
    victim, seconds = chance.randrange(WORLD), chance.choice((0.05, 0.3, 2)) * chance.random()
    store = free_store()
    results, killed = run(victim, seconds, store, -1)
    found = list(faults(victim, results, killed))
    results += (after := run(None, 0, store, 1)[0])
    found += [f"the next job: rank {rank}" for rank, (output, status) in enumerate(after)
              if status or "<well>" not in output]
    print(f"job {job}: rank {victim} killed after {seconds:.3f} s: {found}", flush=True)
    if found:
        bad += 1
        print(*(f"{output}\\n--" for output, _ in results), sep="\\n", flush=True)
print(f"{jobs} jobs, {bad} bad")
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["MTE", "SDMA", "UDMA", "ROCE"])
def test_ranks_killed_at_random(tmp_path, engine):
    jobs, seed = os.environ.get("PITON_TEST_KILLS", "10"), os.environ.get("PITON_TEST_SEED", "20")
    script, folder, cache = tmp_path / "jobs.py", tmp_path / "tmp", tmp_path / "cache"
    script.write_text(textwrap.dedent(SCRIPT))
    folder.mkdir()
    before = set(os.listdir("/dev/shm"))
    result = subprocess.run(
        [sys.executable, str(script), engine, jobs, seed],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=540,
        env={**os.environ, "PITON_ACTIVE": "1", "TRITON_DIST_PLATFORM": "ascend",
             "OMP_NUM_THREADS": "1", "TMPDIR": str(folder), "TRITON_CACHE_DIR": str(cache),
             "PITON_SHMEM_FORCE_ROCE": "1" if engine == "ROCE" else "0"},
    )  # fmt: skip
    assert f"{jobs} jobs, 0 bad" in result.stdout, f"PITON_TEST_SEED={seed}\n{result.stdout}"
    assert not list(folder.iterdir()) and not list(cache.rglob("tmp.pid*"))
    assert not {n for n in set(os.listdir("/dev/shm")) - before if "piton" in n or "shmem" in n}
