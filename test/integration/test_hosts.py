# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PEs of several hosts, from Python. Hosts are network namespaces with addresses of their own,
joined by a cable; without root, the ip program and UCX the tests are skipped."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from test_distributed import (
    EXAMPLES,
    HEAD,
    OTHER_HOST,
    TAIL,
    ends,
    rank_environment,
    said_by_ranks,
    start_process,
)

pytest.importorskip("shmem", reason="the package shmem is not built")

PORT = 8666
ADDRESSES = ("10.79.0.1", "10.79.0.2")


def ip(*words):
    """Runs the ip program; true if it was content."""
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def is_up(host, device):
    """UCX takes a device only when its cable is seen, which takes a moment."""
    show = subprocess.run(
        ["ip", "-n", host, "link", "show", device], capture_output=True, text=True, check=False
    )
    return "state UP" in show.stdout


def roce_library():
    """True if the engine to other hosts was built (it needs UCX)."""
    import piton

    folders = [pathlib.Path(piton.__file__).parent]
    folders += [pathlib.Path(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    folders.append(pathlib.Path(__file__).parents[2] / "build")
    return any(next(folder.rglob("libpiton_roce.so"), None) for folder in folders)


@pytest.fixture(scope="module")
def hosts():
    """Names of two namespaces; the first has the first address."""
    names = [f"pitonpy{os.getpid()}{end}" for end in "ab"]
    if os.geteuid() != 0 or not shutil.which("ip") or not roce_library():
        pytest.skip("needs root, the ip program and UCX")
    try:
        good = all(ip("netns", "add", name) for name in names)
        good = good and ip(
            "-n", names[0], "link", "add", "v0", "type", "veth",
            "peer", "name", "v1", "netns", names[1],
        )  # fmt: skip
        for name, device, address in zip(names, ("v0", "v1"), ADDRESSES, strict=True):
            good = good and ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            good = good and ip("-n", name, "link", "set", device, "up")
            good = good and ip("-n", name, "link", "set", "lo", "up")
        if not good:
            pytest.skip("network namespaces cannot be made here")
        for _ in range(50):
            if is_up(names[0], "v0") and is_up(names[1], "v1"):
                break
            time.sleep(0.1)
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)


def start(hosts, command, placement, **extra):
    """One process a PE on the host that `placement` gives it; exit codes and outputs."""
    extra = {"ENGINE": "ROCE", **extra}
    store = f"tcp://{ADDRESSES[0]}:{PORT}"
    return ends(
        [
            start_process(
                ["ip", "netns", "exec", hosts[host], *command],
                rank_environment(rank, len(placement), store, **extra),
            )
            for rank, host in enumerate(placement)
        ]
    )


def run(tmp_path, hosts, placement, body, **extra):
    """Runs `body` on every PE; exit codes and outputs."""
    script = tmp_path / "ranks.py"
    script.write_text(HEAD + textwrap.dedent(body) + TAIL)
    return start(hosts, [sys.executable, str(script)], placement, **extra)


def all_right(results):
    for rank, (code, output) in enumerate(results):
        assert code == 0 and f"right {rank}" in output, f"rank {rank}:\n{output}"


def test_kernels_reach_the_other_host(tmp_path, hosts):
    """The kernels of the forced run on one host, unchanged."""
    all_right(run(tmp_path, hosts, (0, 1), OTHER_HOST))


MIXED = """
@triton.jit
def around(x, box, full, sums, out, rounds, TEAM: tl.constexpr, N: tl.constexpr):
    me, n, pid = dl.rank(), dl.num_ranks(), tl.program_id(0)
    at = pid * N + tl.arange(0, N)
    for i in range(rounds):
        for step in range(1, n):
            to = (me + step) % n
            libshmem_device.putmem_signal(
                box + (me * tl.num_programs(0) + pid) * N, x + pid * N, N * 4,
                full + (me * tl.num_programs(0) + pid) * 16, i + 1, 0, to)
            dl.notify(sums, to, 1, "add", "inter_node")
        for step in range(1, n):
            source = (me + step) % n
            token = dl.wait(full + (source * tl.num_programs(0) + pid) * 16, 1, "gpu", "acquire",
                            waitValue=i + 1)
            part = dl.consume_token(box, token) + (source * tl.num_programs(0) + pid) * N
            tl.store(out + at, tl.load(out + at) + tl.load(part + tl.arange(0, N)))
        libshmem_device.barrier(TEAM)
        libshmem_device.barrier_all()

blocks, N, rounds = 8, 32, 4
x, out = symmetric(blocks * N, torch.float32, rank + 1), torch.zeros(blocks * N)
box = symmetric(world * blocks * N, torch.float32)
full, sums = symmetric(world * blocks * 16, torch.int32), symmetric(16, torch.int32)
rows, columns = ash.team_split_2d(0, 2)
ash.barrier_all()
for team in (rows, columns, 0):
    out.zero_(), full.zero_()
    ash.barrier_all()
    around[(blocks,)](x, box, full, sums, out, rounds, TEAM=team, N=N)
    wanted = rounds * (sum(range(1, world + 1)) - rank - 1)
    assert (out == wanted).all(), (team, out, wanted)
ash.barrier_all()
assert sums[0] == 3 * rounds * blocks * (world - 1), sums
"""


@pytest.mark.parametrize(
    "placement", [(0, 0, 1), pytest.param((0, 1, 0, 1), marks=pytest.mark.slow)]
)
def test_some_pes_are_neighbours(tmp_path, hosts, placement):
    """Stores to the own host and the network together; teams over and within hosts."""
    all_right(run(tmp_path, hosts, placement, MIXED))


def test_loads_and_stores_stay_on_the_host(tmp_path, hosts):
    """The address is arithmetic; using it says at the line what to call instead."""
    body = """
    @triton.jit
    def peek(x, out, peer):
        tl.store(out, tl.load(dl.symm_at(x, peer)))  # the load

    @triton.jit
    def poke(x, peer):
        tl.store(dl.symm_at(x, peer), 1.0)  # the store

    @triton.jit
    def beyond(x, peer):
        libshmem_device.putmem(x, x, 1 << 30, peer)  # the put

    source = open(__file__).read()
    x, out = symmetric(16, torch.float32, rank), torch.zeros(1)
    for kernel, arguments, mark, texts in (
        (peek, (x, out, 1 - rank), "# the load", ("invalid load from heap + 0x0 of PE",)),
        (poke, (x, 1 - rank), "# the store", ("invalid store to heap + 0x0 of PE", "putmem")),
        (beyond, (x, 1 - rank), "# the put", ("go beyond the end of the symmetric heap",)),
    ):
        line = source.split(mark)[0].count(chr(10)) + 1
        try:
            kernel[(1,)](*arguments)
        except Exception as error:
            for text in (*texts, f"ranks.py:{line}"):
                assert text in str(error), error
            assert kernel is beyond or f"of PE {1 - rank}, which is on another host" in str(error)
        else:
            raise SystemExit("no error")
    peek[(1,)](x, out, rank)
    assert out[0] == rank
    """
    all_right(run(tmp_path, hosts, (0, 1), body))


STUCK = """
import signal, threading, time

@triton.jit
def stuck(sig):
    dl.notify(sig + 48, dl.num_ranks() - 1, 1, "set", "inter_node")
    dl.wait(sig + 16, 1, "gpu", "acquire", waitValue=3)  # the line

words = symmetric(64, torch.int32)
stuck.warmup(words, grid=(2,))
ash.barrier_all()
"""


def told(results):
    """What every PE was told: rank -> (seconds, text)."""
    found = {}
    for _, output in results:
        for rank, when, text in re.findall(r"<(\d+) at ([\d.]+) told: ([^>]*)>", output):
            found[int(rank)] = (float(when), text)
    return found


TELL = """
try:
    call()
except BaseException as error:
    print(f"<{rank} at {time.time()} told: {str(error).replace('>', '&')}>", flush=True)
    time.sleep(1)
    os._exit(3)
"""


def test_a_standstill_is_the_same_on_every_host(tmp_path, hosts):
    body = """
    def call():
        if rank == 2:
            ash.aclshmem_signal_wait_until(words.data_ptr() + 128, ash.CmpOp.CMP_EQ, 9)
            raise RuntimeError(ash.last_error())
        stuck[(2,)](words)
    """
    results = run(tmp_path, hosts, (0, 0, 1), STUCK + textwrap.dedent(body) + TELL,
                  PITON_STANDSTILL_SECONDS="2")  # fmt: skip
    seen = told(results)
    assert set(seen) == {0, 1, 2}, results
    reports = {text[text.index("standstill:") :] for _, text in seen.values()}
    assert len(reports) == 1, reports
    (report,) = reports
    for part in ("PE 0 waits in ranks.py:", "PE 1 waits in ranks.py:", "heap + 0x", "wanted == 3",
                 "PE 2 waits in aclshmem_signal_wait_until", "wanted == 9",
                 "nobody is left who could signal"):  # fmt: skip
        assert part in report.replace(str(tmp_path) + "/", ""), report


@pytest.mark.parametrize("where", ["wait", "put", "host"])
def test_a_killed_pe_is_named_on_the_other_host(tmp_path, hosts, where):
    body = f"""
    @triton.jit
    def send(words, rounds):
        dl.notify(words + 48, 1, 1, "set", "inter_node")
        for i in range(rounds):
            libshmem_device.putmem(words, words, 128, 1)

    send.warmup(words, 1, grid=(2,))
    ash.barrier_all()
    if rank == 1:
        while "{where}" != "host" and int(words[48]) == 0:
            time.sleep(0.01)  # until the kernel runs, whose error has to name the line
        time.sleep(0.5)
        print(f"<dies {{time.time()}}>", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def call():
        if "{where}" == "put":
            send[(2,)](words, 1 << 30)
        elif "{where}" == "host":
            while True:
                ash.aclshmem_putmem(words.data_ptr(), words.data_ptr(), 128, 1)
                if "PE" in ash.last_error():
                    raise RuntimeError(ash.last_error())
        else:
            stuck[(2,)](words)
    """
    results = run(tmp_path, hosts, (0, 1), STUCK + textwrap.dedent(body) + TELL)
    seen = told(results)
    assert set(seen) == {0}, results
    dies = float(re.search(r"<dies ([\d.]+)>", results[1][1])[1])
    when, text = seen[0]
    assert when - dies < 8, results  # it takes much less, but on a crowded machine
    assert "PE 1 (pid" in text and "died" in text, text
    assert where == "host" or "ranks.py:" in text, text


RING = """
import pathlib, sys
import triton, triton.language as tl
import triton_dist.language as dl
from triton.compiler import ASTSource
from triton_dist.language.extra import libshmem_device

@triton.jit
def ring(x, box, out, sig, N: tl.constexpr):
    me, n = dl.rank(), dl.num_ranks()
    libshmem_device.putmem_signal(box, x, N * 4, sig, 1, 0, (me + 1) % n)
    dl.notify(sig + 16, (me + 1) % n, 1, "add", "inter_node")
    token = dl.wait(sig, 1, "gpu", "acquire", waitValue=1)
    token = dl.wait(sig + 16, 1, "gpu", "acquire", waitValue=1)
    box = dl.consume_token(box, token)
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(box + at) * 2)

types = {"x": "*fp32", "box": "*fp32", "out": "*fp32", "sig": "*i32", "N": "constexpr"}
source = ASTSource(ring, signature=types, constexprs={(4,): 64})
target = triton.runtime.driver.active.get_current_target()
pathlib.Path(sys.argv[1]).write_bytes(triton.compile(source, target=target).asm["npubin"])
"""


@pytest.mark.skipif(not shutil.which("piton-run"), reason="piton-run is not on PATH")
def test_a_kernel_without_python(tmp_path, hosts):
    """PEs as piton-run -n starts them, one on each host: the C++ API and the image alone."""
    image, script = tmp_path / "ring.npubin", tmp_path / "ring.py"
    script.write_text(RING)
    made = start_process([sys.executable, str(script), str(image)], rank_environment(0, 1, ""))
    ((code, output),) = ends([made])
    assert code == 0, output
    for rank in range(2):
        np.save(tmp_path / f"x{rank}.npy", np.arange(64, dtype=np.float32) + 100 * rank)
    array = "zeros:f32:64"
    command = [
        "piton-run", "-n", "2", str(image), "--grid", "1", "--engine", "roce", "--heap", "1048576",
        "--arg", str(tmp_path / "x{rank}.npy"), "--arg", array, "--arg", array,
        "--arg", "zeros:i32:32", "--out", str(tmp_path / "out{rank}"),
    ]  # fmt: skip
    store = f"tcp://{ADDRESSES[0]}:{PORT}"
    results = start(hosts, command, (0, 1), PITON_RUN_IMAGE=str(image), PITON_SHMEM_URL=store)
    assert [code for code, _ in results] == [0, 0], results
    for rank in range(2):
        got = np.load(tmp_path / f"out{rank}" / "out.npy")
        assert (got == 2 * (np.arange(64) + 100 * (1 - rank))).all(), (rank, got)


@contextlib.contextmanager
def torchrun(hosts, per_host, script, logs):
    """`piton exec -- torchrun` on both hosts; what the ranks say goes to files in logs/host."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "PYTEST_"))}
    processes = [
        subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                host,
                sys.executable,
                "-m",
                "piton",
                "exec",
                "--",
                "torchrun",
                "--nnodes=2",
                f"--node-rank={node}",
                f"--nproc-per-node={per_host}",
                f"--master-addr={ADDRESSES[0]}",
                "--master-port=29555",
                f"--local-addr={ADDRESSES[node]}",
                "--redirects=3",
                f"--log-dir={logs / host}",
                str(script),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                **inherited,
                "PITON_EXAMPLE_STORE": f"tcp://{ADDRESSES[0]}:{PORT}",
                "OMP_NUM_THREADS": "1",
                "GLOO_SOCKET_IFNAME": ("v0", "v1")[node],
            },
        )  # fmt: skip
        for node, host in enumerate(hosts)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("per_host", [1, 2])
@pytest.mark.parametrize("name", ["ring_exchange", "all_to_all"])
def test_examples_under_torchrun(tmp_path, hosts, name, per_host):
    pytest.importorskip("piton_torch", reason="the package piton_torch is not built")
    with torchrun(hosts, per_host, EXAMPLES / f"{name}.py", tmp_path) as processes:
        outputs = [process.communicate(timeout=300)[0] for process in processes]
    for host in hosts:
        outputs += said_by_ranks(tmp_path / host).values()
    output = "\n".join(outputs)
    assert [process.returncode for process in processes] == [0, 0], output
    for rank in range(2 * per_host):
        assert f"[PASS] Rank {rank}:" in output, output
