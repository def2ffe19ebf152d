# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed kernels from Python, on several PEs: the public tests of Triton-distributed on
Ascend, errors at their lines, and the examples."""

import collections
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from ports import free_port

pytest.importorskip("shmem", reason="the package shmem is not built")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "distributed"

HEAD = """
import os, sys
import torch, triton, triton.language as tl
import shmem as ash
import triton_dist.language as dl
from triton_dist.language.extra import libshmem_device
from triton.language.extra.cann.extension import sub_vec_id

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
attributes = ash.InitAttr()
attributes.my_rank, attributes.n_ranks = rank, world
attributes.local_mem_size = 16 << 20
attributes.ip_port = os.environ["STORE"]
attributes.option_attr.data_op_engine_type = getattr(
    ash.OpEngineType, os.environ.get("ENGINE", "MTE")
)
ash.set_conf_store_tls(False, "")
assert ash.aclshmem_init(attributes) == 0

def symmetric(count, dtype, value=0):
    tensor = ash.aclshmem_create_tensor([count], dtype=dtype, device_id=rank)
    tensor.fill_(value)
    ash.barrier_all()
    return tensor
"""

TAIL = """
ash.barrier_all()
assert ash.aclshmem_finialize() in (0, None)
print("right", rank)
"""


def rank_environment(rank, world, store, **extra):
    """What a rank that no launcher starts finds in its environment."""
    return {
        **os.environ,
        "PITON_ACTIVE": "1",
        "TRITON_DIST_PLATFORM": "ascend",
        "OMP_NUM_THREADS": "1",
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world),
        "STORE": store,
        **extra,
    }


def start_process(command, env):
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ends(processes):
    """Exit codes and outputs, once all have ended."""
    results = []
    for process in processes:
        try:
            output, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            output = "no end:\n" + process.communicate()[0]
        results.append((process.returncode, output))
    return results


def start_ranks(command, world, **extra):
    """One process a rank; their exit codes and outputs."""
    store = f"tcp://127.0.0.1:{free_port()}"
    extra = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "PITON_EXAMPLE_STORE": store,
        **extra,
    }
    return ends(
        [
            start_process(command, rank_environment(rank, world, store, **extra))
            for rank in range(world)
        ]
    )


def said_by_ranks(logs):
    """What each local rank wrote under torchrun's `--redirects=3 --log-dir`: rank -> text."""
    said = collections.defaultdict(str)
    for log in sorted(pathlib.Path(logs).glob("*/attempt_*/*/std*.log")):
        said[int(log.parent.name)] += log.read_text(errors="replace")
    return dict(sorted(said.items()))


def run_ranks(tmp_path, world, body, **extra):
    """Runs `body` (kernels and checks) on every rank; all must end well."""
    script = tmp_path / "ranks.py"
    script.write_text(HEAD + textwrap.dedent(body) + TAIL)
    results = start_ranks([sys.executable, str(script)], world, **extra)
    for rank, (code, output) in enumerate(results):
        assert code == 0 and f"right {rank}" in output, f"rank {rank}:\n{output}"


def failing_ranks(tmp_path, world, body, **extra):
    """Runs `body`; gives the outputs, whatever the ends."""
    script = tmp_path / "ranks.py"
    script.write_text(HEAD + textwrap.dedent(body) + TAIL)
    return start_ranks([sys.executable, str(script)], world, **extra)


ANY_WORLD = ("public_tests", "consumed_values", "sub_vectors", "barriers_inside_many_blocks")

#: What every rank does, one after the other in one process.
BODIES = {
    # my_pe, num_ranks and symm_at as in the public test suite.
    "public_tests": """
@triton.jit
def my_pe(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.rank())

@triton.jit
def num_ranks(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.num_ranks())

@triton.jit
def symm_at(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    peer = (dl.rank() + 1) % dl.num_ranks()
    tl.store(out + lanes, tl.load(dl.symm_at(x, peer) + lanes))
    libshmem_device.barrier_all_vec()

for kernel, value in ((my_pe, rank), (num_ranks, world)):
    out = torch.zeros(32, dtype=torch.int64)
    kernel[(3,)](out)
    assert (out[:3] == value).all() and (out[3:] == 0).all(), out
x = symmetric(32, torch.int64)
x.copy_(torch.arange(32) + 100 * rank)
ash.barrier_all()
out = torch.empty(32, dtype=torch.int64)
symm_at[(1,)](x, out, 32)
assert torch.equal(out, torch.arange(32) + 100 * ((rank + 1) % world)), out
""",
    # Rank 1 stores to rank 0 and notifies; no fence lies between, so program order must hold.
    "wait_and_notify": """
@triton.jit
def kernel(data, signal, out):
    me, n = dl.rank(), dl.num_ranks()
    if me == 0:
        token = dl.wait(signal, n - 1, "gpu", "acquire")
        tl.store(out, tl.load(dl.consume_token(data, token)))
    else:
        tl.store(dl.symm_at(data, 0), (me * 100).to(tl.int64))
        dl.notify(signal, 0, 1, "set", "intra_node")

data, signal = symmetric(8, torch.int64), symmetric(8, torch.int64)
out = torch.zeros(8, dtype=torch.int64)
kernel[(1,)](data, signal, out)
assert out[0] == (100 if rank == 0 else 0), out
""",
    # A token goes with pointers, tensors of them, descriptors, block pointers and data alike.
    "consumed_values": """
@triton.jit
def consumed(x, sig, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    me, peer = dl.rank(), (dl.rank() + 1) % dl.num_ranks()
    tl.store(dl.symm_at(x, peer) + lanes, (lanes + me).to(tl.float32))
    dl.notify(sig, peer, signal=1)
    token = dl.wait(sig, 1, "gpu", "acquire")
    by_pointers = tl.load(dl.consume_token(x + lanes, token))
    square = tl.load(dl.consume_token(x + lanes[:, None] + 0 * lanes[None, :], token))
    desc = tl.make_tensor_descriptor(x, [N], [1], [N])
    by_desc = dl.consume_token(desc, token).load([0])
    block = tl.make_block_ptr(x, (N,), (1,), (0,), (N,), (0,))
    by_block = tl.load(dl.consume_token(block, token))
    values = dl.consume_token(by_pointers, token)
    number = dl.consume_token(tl.load(dl.consume_token(x, token)), token)
    total = by_pointers + by_desc + by_block + values + number + tl.max(square, 1)
    tl.store(out + lanes, total)

x, sig = symmetric(16, torch.float32), symmetric(16, torch.int32)
out, left = torch.zeros(16), (rank - 1) % world
consumed[(1,)](x, sig, out, 16)
assert torch.equal(out, 5 * (torch.arange(16.0) + left) + left), out
ash.barrier_all()
""",
    "addresses_through_loops_offsets_and_masks": """
@triton.jit
def gather(x, out, n, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    for peer in range(WORLD):
        remote = dl.symm_at(x + 1, peer)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n, BLOCK):
            at = start + tl.arange(0, BLOCK)
            total += tl.load(remote + at, mask=at < n, other=0.0)
        tl.store(out + peer, tl.sum(total))

@triton.jit
def scatter(x, n, BLOCK: tl.constexpr):
    peer = (dl.rank() + 1) % dl.num_ranks()
    remote = dl.symm_at(x, peer)
    at = tl.arange(0, BLOCK)
    tl.store(remote + at * 3, at.to(tl.float32) + dl.rank(), mask=at < n)
    tl.atomic_add(remote + at * 3 + 1, at.to(tl.float32), mask=at < n)
    libshmem_device.barrier_all()

x = symmetric(301, torch.float32)
x.copy_(torch.arange(301) * (rank + 1))
ash.barrier_all()
out = torch.zeros(world)
gather[(1,)](x, out, 300, WORLD=world, BLOCK=64)
wanted = [sum(range(1, 301)) * (r + 1) for r in range(world)]
assert out.tolist() == wanted, (out, wanted)
ash.barrier_all()
y = symmetric(301, torch.float32)
scatter[(1,)](y, 100, BLOCK=128)
left = (rank - 1) % world
assert torch.equal(y[0:300:3], torch.arange(100.0) + left)
assert torch.equal(y[1:300:3], torch.arange(100.0)) and (y[2:300:3] == 0).all()
""",
    # Each side writes its half; the barrier, outside, is met once.
    "sub_vectors": """
from triton.language.extra.cann.extension import sub_vec_num

@triton.jit
def halves(x, counter, HALF: tl.constexpr):
    side = sub_vec_id().to(tl.int32)
    peer = (dl.rank() + 1) % dl.num_ranks()
    at = side * HALF + tl.arange(0, HALF)
    tl.store(dl.symm_at(x, peer) + at, (at + 1000 * side).to(tl.float32))
    if side == 1:
        tl.atomic_add(counter, 1)
    libshmem_device.barrier_all()
    tl.atomic_add(counter + 1, 1)
    tl.static_assert(sub_vec_num() == 2)

x, counter = symmetric(64, torch.float32), symmetric(16, torch.int32)
halves[(1,)](x, counter, 32)
assert torch.equal(x, torch.arange(64.0) + 1000 * (torch.arange(64) >= 32)), x
assert counter[:2].tolist() == [1, 1], counter
""",
    "barriers_inside_many_blocks": """
@triton.jit
def rounds(x, late, ROUNDS: tl.constexpr):
    pid, peer = tl.program_id(0), (dl.rank() + 1) % dl.num_ranks()
    for r in range(ROUNDS):
        tl.store(x + pid, r + 1)
        libshmem_device.barrier_all()
        other = dl.symm_at(x, peer) + (pid + 7) % tl.num_programs(0)
        tl.atomic_add(late, (tl.load(other) < r + 1).to(tl.int32))
        libshmem_device.barrier_all()

x, late = symmetric(20, torch.int32), torch.zeros(1, dtype=torch.int32)
rounds[(20,)](x, late, 10)
assert late[0] == 0 and (x == 10).all()
""",
    "errors_are_at_the_python_line": """
@triton.jit
def peek(x, out, peer):
    tl.store(out, tl.load(dl.symm_at(x, peer)))  # the line

line = str(open(__file__).read().split("# the line")[0].count(chr(10)) + 1)
x, out = symmetric(16, torch.float32), torch.zeros(1)
for tensor, peer, text in (
    (x, 2, "PE 2 is out of range: there are 2 PEs, 0 to 1"),
    (x, -1, "PE -1 is out of range"),
    (torch.zeros(4), 1, "is not in the symmetric heap of this PE"),
):
    try:
        peek[(1,)](tensor, out, peer)
    except Exception as error:
        assert text in str(error) and f"ranks.py:{line}" in str(error), error
    else:
        raise SystemExit("no error")
peek[(1,)](x, out, 1)
""",
}


@pytest.mark.parametrize(
    "world", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 4, 8))]
)
def test_kernels(tmp_path, world):
    """All bodies; those that need exactly two ranks only there."""
    names = [name for name in BODIES if world == 2 or name in ANY_WORLD]
    run_ranks(tmp_path, world, "\n".join(BODIES[name] for name in names))


@pytest.mark.parametrize("engine", ["SDMA", "UDMA"])
def test_engines_change_no_kernel(tmp_path, engine):
    run_ranks(
        tmp_path,
        2,
        """
        @triton.jit
        def exchange(src, dst, back, signal, nbytes):
            peer = 1 - dl.rank()
            libshmem_device.putmem_nbi(dst, src, nbytes, peer)
            libshmem_device.fence()
            dl.notify(signal, peer, signal=1)
            dl.wait(signal, 1, "gpu", "acquire")
            libshmem_device.getmem(back, dst, nbytes, peer)
            libshmem_device.barrier_all()

        n = 700_000  # several entries of the copy engine
        src = torch.arange(n, dtype=torch.int32) * (rank + 1)
        back = torch.zeros(n, dtype=torch.int32)
        dst, signal = symmetric(n, torch.int32), symmetric(16, torch.int32)
        exchange[(1,)](src, dst, back, signal, 4 * n)
        assert torch.equal(dst, torch.arange(n, dtype=torch.int32) * (2 - rank)), dst
        assert torch.equal(back, src), back
        """,
        ENGINE=engine,
    )


#: Kernels of two PEs that reach each other over the network only, as PEs of two hosts do.
OTHER_HOST = """
from triton_dist.language.extra.ascend import libaclshmem_device as lib

@triton.jit
def exchange(src, dst, back, signal, nbytes, ROUNDS: tl.constexpr):
    peer = 1 - dl.rank()
    for i in range(ROUNDS):
        libshmem_device.putmem_nbi(dst, src, nbytes, peer)
        libshmem_device.fence()
        dl.notify(signal, peer, signal=i + 1)
        dl.wait(signal, 1, "gpu", "acquire", waitValue=i + 1)
        libshmem_device.getmem(back, dst, nbytes, peer)
        libshmem_device.barrier_all()

n = 700_000
src = torch.arange(n, dtype=torch.int32) * (rank + 1)
back = torch.zeros(n, dtype=torch.int32)
dst, signal = symmetric(n, torch.int32), symmetric(16, torch.int32)
exchange[(1,)](src, dst, back, signal, 4 * n, 3)
assert torch.equal(dst, torch.arange(n, dtype=torch.int32) * (2 - rank)), dst
assert torch.equal(back, src), back

# Many blocks, each with signals of its own: set, add, and put with signal of both kinds.
@triton.jit
def many(src, dst, words, sums, out, wide, ROUNDS: tl.constexpr):
    peer, pid, n = 1 - dl.rank(), tl.program_id(0), tl.num_programs(0)
    for i in range(ROUNDS):
        libshmem_device.putmem_signal(
            dst + 64 * pid, src + 64 * pid, 256, words + 16 * pid, i + 1,
            lib.ACLSHMEM_SIGNAL_SET, peer)
        dl.wait(words + 16 * pid, 1, "gpu", "acquire", waitValue=i + 1)
        at = tl.arange(0, 64)
        tl.store(out + 64 * pid + at, tl.load(dst + 64 * pid + at) + i)
        libshmem_device.putmem_signal_nbi(
            dst + 64 * (n + pid), src, 256, sums, 1, lib.ACLSHMEM_SIGNAL_ADD, peer)
        dl.notify(sums, peer, 2, "add", "inter_node")
        dl.notify(wide + 8 * pid, peer, i + 5, "set", "inter_node")
        libshmem_device.int_p(words + 16 * pid + 1, i - 3, peer)
        libshmem_device.barrier_all()
    libshmem_device.signal_wait_until(sums, lib.ACLSHMEM_CMP_GE, 3 * n * ROUNDS)

blocks, rounds = 20, 5
src = symmetric(64 * blocks, torch.float32)
src.copy_(torch.arange(64 * blocks) + 1000 * rank)
dst, out = symmetric(128 * blocks, torch.float32), torch.zeros(64 * blocks)
words, sums = symmetric(16 * blocks, torch.int32), symmetric(16, torch.int32)
wide = symmetric(8 * blocks, torch.int64)
ash.barrier_all()
many[(blocks,)](src, dst, words, sums, out, wide, rounds)
assert torch.equal(out, torch.arange(64.0 * blocks) + 1000 * (1 - rank) + rounds - 1), out
assert sums[0] == 3 * blocks * rounds, sums
assert (wide[::8] == rounds + 4).all(), wide
assert (words[1::16] == rounds - 4).all(), words

# Atomics, of the types that the network adds and of those that the target adds.
from triton.language import core

def atomic(name, value, result=None, values=1):
    def call(pointer, value, other, pe, _semantic=None):
        element = {"int32": "int32", "fp32": "float", "fp16": "half", "bf16": "bfloat16",
                   "int8": "int8", "int64": "int64"}[pointer.type.element_ty.name]
        kind = pointer.type.element_ty
        numbers = [_semantic.cast(_semantic.to_tensor(core._unwrap_if_constexpr(v)), kind)
                   for v in (other, value)[2 - values:]]
        pe = _semantic.to_tensor(core._unwrap_if_constexpr(pe))
        given = [pointer, *numbers, pe]
        table = {tuple(v.type for v in given):
                 (f"aclshmem_{element}_atomic_{name}", kind if result else ())}
        return dl.extern_call("lib", "", given, table, False, _semantic=_semantic)
    return core.builtin(call)

add, inc = atomic("add", 1), atomic("inc", 1, values=0)
fetch_add, swap = atomic("fetch_add", 1, True), atomic("swap", 1, True)
fetch_or, fetch_xor = atomic("fetch_or", 1, True), atomic("fetch_xor", 1, True)
band, fetch = atomic("and", 1), atomic("fetch", 1, True, values=0)
cas = atomic("compare_swap", 1, True, values=2)

@triton.jit
def atomics(a, wide, f, h, b, c, old, seen):
    peer = 1 - dl.rank()
    add(a, 1, 0, peer)
    inc(a, 0, 0, peer)
    add(f, 0.5, 0, peer)
    add(h, 0.25, 0, peer)
    add(b, 2.0, 0, peer)
    add(c, 3, 0, peer)
    add(wide, 1 << 40, 0, peer)
    libshmem_device.barrier_all()
    if tl.program_id(0) == 0:
        tl.store(old, fetch_add(a + 1, 6, 0, peer))
        tl.store(old + 1, fetch_or(a + 1, 9, 0, peer))
        tl.store(old + 2, fetch_xor(a + 1, 1, 0, peer))
        band(a + 1, 12, 0, peer)
        tl.store(old + 3, swap(a + 1, 40, 0, peer))
        tl.store(old + 4, cas(a + 1, 50, 41, peer))
        tl.store(old + 5, cas(a + 1, 60, 40, peer))
        tl.store(old + 6, fetch(a + 1, 0, 0, peer))
        tl.store(seen, fetch(wide, 0, 0, peer))

a, wide, f = symmetric(16, torch.int32), symmetric(16, torch.int64), symmetric(16, torch.float32)
h, b, c = symmetric(16, torch.float16), symmetric(16, torch.bfloat16), symmetric(16, torch.int8)
old, seen = torch.zeros(8, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
atomics[(blocks,)](a, wide, f, h, b, c, old, seen)
ash.barrier_all()
assert a[0] == 2 * blocks and f[0] == blocks / 2 and h[0] == blocks / 4, (a, f, h)
assert b[0] == 2 * blocks and c[0] == 3 * blocks and seen[0] == blocks << 40, (b, c, seen)
assert old.tolist()[:7] == [0, 6, 15, 12, 40, 40, 60], old
assert a[1] == 60
"""


def test_kernels_over_the_network(tmp_path):
    run_ranks(tmp_path, 2, OTHER_HOST, ENGINE="ROCE", PITON_SHMEM_FORCE_ROCE="1", UCX_TLS="tcp")


def test_host_barriers_come_after_kernels(tmp_path):
    """Barriers of kernels in flight and of the host count in the same words: none lets a PE by."""
    pytest.importorskip("piton_torch", reason="the torch device is not built")
    run_ranks(
        tmp_path,
        2,
        """
        @triton.jit
        def meet(out):
            libshmem_device.barrier_all()
            tl.store(out, 1)

        torch.npu.set_device(rank)
        word, got = symmetric(16, torch.int32), symmetric(16, torch.int32)
        out = torch.zeros(16, dtype=torch.int32, device=word.device)
        assert word.device.type == "npu"
        for i in range(1, 101):
            meet[(2,)](out)
            ash.barrier_all()
            word.fill_(i)
            meet[(2,)](out)
            ash.barrier_all()
            ash.aclshmem_getmem(got.data_ptr(), word.data_ptr(), 4, 1 - rank)
            assert int(got[0]) in (i, i + 1), (got[0], i)
        """,
    )


def test_a_launch_before_init_is_refused(tmp_path):
    script = tmp_path / "early.py"
    script.write_text(
        textwrap.dedent("""
        import torch, triton, triton.language as tl
        import triton_dist.language as dl

        @triton.jit
        def kernel(out):
            tl.store(out, dl.rank())

        try:
            kernel[(1,)](torch.zeros(1, dtype=torch.int32))
        except Exception as error:
            assert "aclshmem_init" in str(error), error
            print("refused")
        """)
    )
    ((code, output),) = start_ranks([sys.executable, str(script)], 1)
    assert code == 0 and "refused" in output, output


def test_a_host_that_works_is_no_standstill(tmp_path):
    """Kernels wait for longer than the limit, for signals that the hosts send in the end."""
    pytest.importorskip("piton_torch", reason="the torch device is not built")
    run_ranks(
        tmp_path,
        2,
        """
        import time

        @triton.jit
        def stuck(signal):
            dl.wait(signal, 1, "gpu", "acquire", waitValue=3)

        torch.npu.set_device(rank)
        signal = symmetric(64, torch.int32)
        assert signal.device.type == "npu"
        stuck[(2,)](signal)
        time.sleep(3)
        ash.aclshmemx_signal_op(signal.data_ptr(), 3, 0, 1 - rank)
        torch.npu.synchronize()
        """,
        PITON_STANDSTILL_SECONDS="1",
    )


def test_a_standstill_is_reported_on_every_pe(tmp_path):
    results = failing_ranks(
        tmp_path,
        2,
        """
        @triton.jit
        def stuck(signal):
            dl.wait(signal + 16, 1, "gpu", "acquire", waitValue=3)  # the line

        line = str(open(__file__).read().split("# the line")[0].count(chr(10)) + 1)
        signal = symmetric(64, torch.int32)
        try:
            stuck[(2,)](signal)
        except Exception as error:
            text = str(error)
            assert f"ranks.py:{line}" in text, text
            assert "(argument 'signal' + 64 bytes) equals 3, but it is 0" in text, text
            assert "standstill" in text, text
            print("told", rank, flush=True)
            os._exit(0)
        """,
        PITON_STANDSTILL_SECONDS="2",
    )
    for rank, (code, output) in enumerate(results):
        assert code == 0 and f"told {rank}" in output, output


@pytest.mark.parametrize(
    "name",
    [
        "ring_exchange",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("allgather_gemm", "gemm_reduce_scatter", "gemm_allreduce", "all_to_all")
        ),
    ],
)
def test_examples_on_cpu_tensors(name):
    """Without `piton exec`; test_tutorials.py runs them on npu tensors, on 1 to 8 ranks."""
    results = start_ranks([sys.executable, str(EXAMPLES / f"{name}.py")], 2)
    for rank, (code, output) in enumerate(results):
        assert code == 0 and "[PASS]" in output and "[FAIL]" not in output, f"{rank}:\n{output}"


CASE_BODY = """
import sys
sys.path.insert(0, {folder!r})
import pathlib
import numpy as np
import case_runner

case = case_runner.load_case(pathlib.Path({path!r}))
arguments = {{}}
for name, value in case["args"](rank).items():
    tensor = torch.from_numpy(value)
    if name in case["symm"]:
        shared = ash.aclshmem_create_tensor(list(value.shape), dtype=tensor.dtype, device_id=rank)
        shared.copy_(tensor)
        tensor = shared
    arguments[name] = tensor
ash.barrier_all()
case["fn"][case["grid"]](*arguments.values(), **case.get("const", {{}}))
ash.barrier_all()
for name, wanted in case.get("expect", {{}}).items():
    wanted = wanted(rank) if callable(wanted) else wanted
    if wanted is not None:
        np.testing.assert_array_equal(arguments[name].cpu().numpy(), wanted)
"""


def case_body(name):
    folder = pathlib.Path(__file__).parent
    return CASE_BODY.format(
        folder=str(folder), path=str(folder / "cases" / "bug_reports" / f"{name}.py")
    )


#: The handed cases of several ranks by what must come of them; with standstills: ranks, and those
#: that finish.
HANDED_VALUES = ["br58", "br68"]
HANDED_STANDSTILLS = {"br62": (4, {2}), "br64": (2, set())}
HANDED_RACES = ["br56", "br60"]
HANDED_SIZES = ["br66"]


def test_all_handed_cases_of_several_ranks_are_here():
    here = {*HANDED_VALUES, *HANDED_STANDSTILLS, *HANDED_RACES, *HANDED_SIZES}
    files = (pathlib.Path(__file__).parent / "cases").glob("*/*.py")
    assert here == {path.stem for path in files if "ranks=" in path.read_text()}


@pytest.mark.parametrize("name", HANDED_VALUES)
def test_handed_cases(tmp_path, name):
    run_ranks(tmp_path, 2, case_body(name))


@pytest.mark.parametrize("name", [pytest.param("br62", marks=pytest.mark.slow), "br64"])
def test_handed_standstills_are_reported(tmp_path, name):
    world, finished = HANDED_STANDSTILLS[name]
    results = failing_ranks(tmp_path, world, case_body(name), PITON_STANDSTILL_SECONDS="2")
    for rank, (code, output) in enumerate(results):
        assert code != 0 and "standstill" in output, f"rank {rank}:\n{output}"
        if rank not in finished:
            assert f"{name}.py:" in output and "'sig'" in output, f"rank {rank}:\n{output}"


@pytest.mark.slow
@pytest.mark.parametrize("name", HANDED_RACES)
def test_handed_races_end(tmp_path, name):
    """By luck all goes well, or a signal is lost: then the wait for it is reported, no hang."""
    results = failing_ranks(tmp_path, 2, case_body(name), PITON_STANDSTILL_SECONDS="2")
    ends = [code == 0 and f"right {rank}" in out for rank, (code, out) in enumerate(results)]
    told = [code != 0 and "standstill" in out for code, out in results]
    assert all(ends) or all(told), results
    assert all(ends) or any(f"{name}.py:" in out and "'sig'" in out for _, out in results), results


@pytest.mark.parametrize("name", HANDED_SIZES)
def test_a_buffer_of_different_sizes_is_refused(tmp_path, name):
    results = failing_ranks(tmp_path, 2, case_body(name))
    for rank, (code, output) in enumerate(results):
        assert code != 0 and "16" in output and "32" in output, f"rank {rank}:\n{output}"
