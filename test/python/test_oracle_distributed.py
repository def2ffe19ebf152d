# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed kernels on two ranks, instruction by instruction: the bisheng print of the examples
and of the upstream tests, compiled by the real compiler for 910B3 and run by test/oracle. Numbers
must be those of numpy, and no store may reach another rank unordered.
"""

import os
import re
import sys

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from test_bisheng_distributed import PUSHES, push_products  # noqa: E402
from test_bisheng_kernels import TEST, bisheng_backend, compile_kernel  # noqa: E402, F401
from test_oracle import pytestmark as oracle_marks  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from oracle import Oracle, ToolError  # noqa: E402
from piton import bisheng  # noqa: E402
from triton_dist.language.extra import libshmem_device  # noqa: E402

sys.path.insert(0, str(TEST.parent / "examples" / "distributed"))

import all_to_all  # noqa: E402
import allgather_gemm  # noqa: E402
import ring_exchange  # noqa: E402

import gemm_reduce_scatter  # noqa: E402

pytestmark = [*oracle_marks, pytest.mark.usefixtures("device_library")]
SOC = "Ascend910B3"
RANKS = 2
SLOT = 16
POINTERS = {"float16": "*fp16", "float32": "*fp32", "int32": "*i32", "int64": "*i64"}


@pytest.fixture(scope="module")
def oracle():
    try:
        return Oracle(SOC)
    except ToolError as error:
        pytest.skip(str(error))


@pytest.fixture
def job(monkeypatch, oracle):
    """job(kernel, arguments by name for each rank, constants, grid): the arguments afterwards.

    `without` is a pattern of lines that the module then has not.
    """
    texts = []
    compile_bisheng = bisheng.compile_bisheng

    def compile_and_keep(text, options, metadata):
        texts.append((text, options))
        return compile_bisheng(text, options, metadata)

    monkeypatch.setattr(bisheng, "compile_bisheng", compile_and_keep)

    def run(kernel, per_rank, constants, grid, without=None):
        names = [n for n in kernel.arg_names if n in per_rank[0]]
        types = {
            n: POINTERS[v.dtype.name] if isinstance(v, np.ndarray) else "i32"
            for n, v in per_rank[0].items()
        }
        monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
        compile_kernel(kernel, types, constants, SOC)
        text, options = texts.pop()
        if without:
            text, count = re.subn(rf"^.*{without}.*\n", "", text, flags=re.MULTILINE)
            assert count
        flags = bisheng.flags(text, options, SOC, False)
        args = [[values[n] for n in names] for values in per_rank]
        flat = [[v.ravel() if isinstance(v, np.ndarray) else v for v in a] for a in args]
        result = oracle.run_ranks(text, flat, RANKS, grid, flags)
        assert result.accepted, result.compiler_stderr
        assert result.unmodelled is None
        assert [str(report) for report in result.errors] == []
        assert result.instructions > 0
        return [
            {
                n: o.reshape(a.shape)
                for n, a, o in zip(names, given, out, strict=True)
                if isinstance(a, np.ndarray)
            }
            for given, out in zip(args, result.outputs, strict=True)
        ]

    return run


def random(rank, *shape, dtype=np.float32):
    return np.random.default_rng(42 + rank).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("signals", (False, True), ids=("barrier", "signals"))
def test_allgather_gemm(job, signals):
    m, n, k = 100, 64, 96
    blocks, tile = 3, (32, 32, 64)
    b = random(7, k, n, dtype=np.float16)
    bands = -(-m // tile[0])
    ranks = [
        {
            "a": random(r, m, k, dtype=np.float16),
            "b": b,
            "c": np.zeros((RANKS * m, n), np.float16),
            "gathered": np.zeros((RANKS * m, k), np.float16),
            "signals": np.zeros(RANKS * bands * SLOT, np.int32),
            "M": m,
            "N": n,
            "K": k,
        }
        for r in range(RANKS)
    ]
    constants = {"WORLD": RANKS, "BM": tile[0], "BN": tile[1], "BK": tile[2]}
    constants |= {"SIGNAL": signals, "SLOT": SLOT}
    after = job(allgather_gemm.allgather_gemm, ranks, constants, blocks)
    wanted = np.concatenate([r["a"] for r in ranks]).astype(np.float32) @ b.astype(np.float32)
    for rank in after:
        np.testing.assert_allclose(rank["c"].astype(np.float32), wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("signals", (False, True), ids=("barrier", "signals"))
@pytest.mark.parametrize("everywhere", (False, True), ids=("reduce_scatter", "allreduce"))
def test_gemm_reduce(job, everywhere, signals):
    m, n, k = 64, 64, 64
    blocks, tile = 2, (16, 32, 32)
    tiles = (m // tile[0]) * (n // tile[1])
    rows = m if everywhere else m // RANKS
    ranks = [
        {
            "a": random(r, m, k, dtype=np.float16),
            "b": random(r + 9, k, n, dtype=np.float16),
            "c": np.zeros((rows, n), np.float32),
            "partial": np.zeros((m, n), np.float32),
            "slots": np.zeros(tiles * RANKS * SLOT, np.int32),
            "M": m,
            "N": n,
            "K": k,
        }
        for r in range(RANKS)
    ]
    constants = {"WORLD": RANKS, "BM": tile[0], "BN": tile[1], "BK": tile[2]}
    constants |= {"EVERYWHERE": everywhere, "SIGNAL": signals, "SLOT": SLOT}
    after = job(gemm_reduce_scatter.gemm_reduce, ranks, constants, blocks)
    total = sum(r["a"].astype(np.float32) @ r["b"].astype(np.float32) for r in ranks)
    for index, rank in enumerate(after):
        wanted = total if everywhere else total[index * rows : (index + 1) * rows]
        np.testing.assert_allclose(rank["c"], wanted, rtol=1e-3, atol=1e-3)


def test_all_to_all(job):
    tokens, hidden = 10, 24
    starts = [np.array([0, 3, 10], np.int32), np.array([0, 10, 10], np.int32)]
    shape = (RANKS, tokens, hidden)
    sizes = {"CAPACITY": tokens, "HIDDEN": hidden, "SLOT": SLOT}
    x = [random(r, tokens, hidden) for r in range(RANKS)]
    sent = job(
        all_to_all.dispatch,
        [
            {
                "tokens": x[r],
                "starts": starts[r],
                "inbox": np.zeros(shape, np.float32),
                "arrived": np.zeros(RANKS * SLOT, np.int32),
            }
            for r in range(RANKS)
        ],
        sizes,
        RANKS,
    )
    for r in range(RANKS):
        for source in range(RANKS):
            first, last = starts[source][r : r + 2]
            assert sent[r]["arrived"][source * SLOT] == last - first + 1
            np.testing.assert_array_equal(
                sent[r]["inbox"][source][: last - first], x[source][first:last]
            )
    back = job(
        all_to_all.expert,
        [
            {
                "inbox": sent[r]["inbox"],
                "arrived": sent[r]["arrived"],
                "outbox": np.zeros(shape, np.float32),
                "returned": np.zeros(RANKS * SLOT, np.int32),
            }
            for r in range(RANKS)
        ],
        sizes | {"BLOCK": 64},
        RANKS,
    )
    for r in range(RANKS):
        got = [back[r]["outbox"][e][: starts[r][e + 1] - starts[r][e]] for e in range(RANKS)]
        experts = np.repeat(np.arange(RANKS), np.diff(starts[r]))
        np.testing.assert_array_equal(
            np.concatenate(got), x[r] * (experts + 1)[:, None].astype(np.float32)
        )


def test_ring_exchange(job):
    programs, block = 2, 64
    x = [random(r, programs * block) for r in range(RANKS)]
    ranks = [
        {
            "x": x[r],
            "out": np.zeros(programs * block, np.float32),
            "outgoing": np.zeros(programs * block, np.float32),
            "buffers": np.zeros((2, programs * block), np.float32),
            "full": np.zeros(2 * programs * SLOT, np.int32),
            "empty": np.zeros(2 * programs * SLOT, np.int32),
        }
        for r in range(RANKS)
    ]
    after = job(
        ring_exchange.ring_sum, ranks, {"WORLD": RANKS, "BLOCK": block, "SLOT": SLOT}, programs
    )
    for rank in after:
        np.testing.assert_allclose(rank["out"], x[0] + x[1], rtol=1e-6)


# -- Signals of kernels for both kinds of cores ----------------------------------------------------


def push_arguments(n):
    return [
        {
            "a": random(r, n, n, dtype=np.float16),
            "b": random(r + 5, n, n, dtype=np.float16) / np.float16(8),
            "shared": np.zeros((2, n, n), np.float32),
            "out": np.zeros((2, n, n), np.float32),
            "signal": np.zeros(SLOT, np.int32),
        }
        for r in range(RANKS)
    ]


@pytest.mark.parametrize("plain, changed", PUSHES)
def test_one_half_raises_a_signal(job, plain, changed):
    n = 32
    ranks = push_arguments(n)
    constants = {"N": n, "PLAIN": plain, "CHANGED": changed}
    after = job(push_products, ranks, constants, 1)
    for index, rank in enumerate(after):
        assert rank["signal"][0] == 1  # an ADD of two halves would give 2
        sent = ranks[1 - index]
        product = sent["a"].astype(np.float32) @ sent["b"].astype(np.float32)
        source = {"": -np.inf, "product": product, "operand": sent["a"].astype(np.float32)}[changed]
        wanted = np.stack([product * plain, np.broadcast_to(np.exp(source), (n, n))]) + 1
        np.testing.assert_allclose(rank["out"], wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "order, plain, changed",
    ((r"pipe_barrier\[<PIPE_ALL>\]", True, ""), (r"sync_block_(set|wait)\[", True, "operand")),
    ids=("drain", "halves"),
)
def test_without_the_order_a_race_is_reported(job, order, plain, changed):
    constants = {"N": 32, "PLAIN": plain, "CHANGED": changed}
    with pytest.raises(AssertionError, match="RAW|WAW|WAR"):
        job(push_products, push_arguments(32), constants, 1, without=order)


# -- The four tests of the public repository -------------------------------------------------------


@triton.jit
def my_pe_kernel(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.rank())


@triton.jit
def num_ranks_kernel(out):
    at = out + tl.program_id(0)
    tl.store(at, tl.load(at) + dl.num_ranks())


@pytest.mark.parametrize("kernel", (my_pe_kernel, num_ranks_kernel), ids=("my_pe", "num_ranks"))
def test_rank_and_number(job, kernel):
    after = job(kernel, [{"out": np.zeros(32, np.int64)} for _ in range(RANKS)], {}, 3)
    for index, rank in enumerate(after):
        wanted = np.zeros(32, np.int64)
        wanted[:3] = index if kernel is my_pe_kernel else RANKS
        np.testing.assert_array_equal(rank["out"], wanted)


@triton.jit
def symm_at_kernel(data, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    remote = dl.symm_at(data, (dl.rank() + 1) % dl.num_ranks())
    tl.store(out + at, tl.load(remote + at))
    libshmem_device.barrier_all_vec()


def test_symm_at(job):
    data = [np.arange(32, dtype=np.int64) + 100 * r for r in range(RANKS)]
    ranks = [{"data": d, "out": np.zeros(32, np.int64)} for d in data]
    after = job(symm_at_kernel, ranks, {"BLOCK": 32}, 1)
    for index, rank in enumerate(after):
        np.testing.assert_array_equal(rank["out"], data[1 - index])


@triton.jit
def wait_notify_kernel(data, signal, out):
    """Rank 1 stores and notifies at once: nothing in the source orders the two."""
    me, pid = dl.rank(), tl.program_id(0)
    if me == 0:
        token = dl.wait(signal, dl.num_ranks() - 1, "gpu", "acquire", waitValue=1)
        mine = dl.consume_token(data, token)
        tl.store(out + pid, tl.load(mine + pid))
    else:
        tl.store(dl.symm_at(data, 0) + pid, me.to(tl.int64) * 100 + pid)
        dl.notify(signal, 0, signal=1, sig_op="set", comm_scope="intra_node")


def test_wait_notify(job):
    ranks = [{n: np.zeros(1, np.int64) for n in ("data", "signal", "out")} for _ in range(RANKS)]
    after = job(wait_notify_kernel, ranks, {}, 1)
    assert after[0]["out"][0] == 100 * (RANKS - 1)
