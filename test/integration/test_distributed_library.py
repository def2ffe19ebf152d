# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function of libshmem_device and every primitive of triton_dist.language, run by a kernel:
what it leaves in memory, and what it returns."""

import inspect
import re

import pytest
from test_distributed import run_ranks

pytest.importorskip("shmem", reason="the package shmem is not built")

#: The typed functions, for each type of the library.
COPIES = """
@triton.jit
def copies(dst, src, back, sig, seen, nbytes, N: tl.constexpr):
    me, n = libshmem_device.my_pe(), libshmem_device.n_pes()
    right = (me + 1) % n
    libshmem_device.prof_start(3)
    libshmem_device.putmem(dst, src, nbytes, right)
    libshmem_device.putmem_nbi(dst + N, src, nbytes, right)
    libshmem_device.quiet()
    libshmem_device.putmem_signal(dst + 2 * N, src, nbytes, sig, 7,
                                  libshmem_device.ACLSHMEM_SIGNAL_SET, right)
    libshmem_device.putmem_signal_nbi(dst + 3 * N, src, nbytes, sig + 16, 5,
                                      libshmem_device.ACLSHMEM_SIGNAL_ADD, right)
    tl.store(seen, libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_EQ, 7))
    tl.store(seen + 1,
             libshmem_device.signal_wait_until(sig + 16, libshmem_device.ACLSHMEM_CMP_GE, 5))
    libshmem_device.getmem(back, dst + 2 * N, nbytes, right)
    libshmem_device.getmem_nbi(back + N, dst, nbytes, right)
    libshmem_device.quiet()
    remote = libshmem_device.remote_ptr(dst + 4 * N, right)
    tl.store(remote + 1, tl.load(src + 1))
    libshmem_device.prof_end(3)
    libshmem_device.barrier_all()

N, types = 96, os.environ["TYPES"].split()
for dtype in (getattr(torch, name) for name in types):
    def numbers(pe):
        return (torch.arange(N) % 50 + 10 * pe).to(torch.int32).to(dtype)
    size, mine, left = dtype.itemsize, numbers(rank), numbers((rank - 1) % world)
    dst = ash.aclshmem_create_tensor([5 * N], dtype=dtype)
    dst.view(torch.uint8).fill_(0)
    sig = symmetric(32, torch.int32)
    back, seen = torch.zeros(2 * N, dtype=torch.uint8).repeat(size).view(dtype), torch.zeros(2)
    copies[(1,)](dst, mine, back, sig, seen, size * N, N)
    ash.barrier_all()
    for part in range(4):
        assert torch.equal(dst[part * N : part * N + N], left), (dtype, part)
    assert torch.equal(dst[4 * N + 1 : 4 * N + 2], left[1:2]), dtype
    assert torch.equal(back[:N], mine) and torch.equal(back[N:], mine), dtype
    assert seen.tolist() == [7, 5], (dtype, seen)
    ash.aclshmem_free_tensor(dst)
profile = ash.aclshmemx_get_prof()
if rank == 1:
    pe, blocks = profile
    assert pe == 1 and blocks[0][0][3] == len(types) and blocks[0][1][3] > 0, blocks[0]
    assert sum(sum(counts) for counts, _ in blocks) == len(types)
else:
    assert profile is None
"""

#: Ranks, teams, signals and barriers.
TEAMS = """
@triton.jit
def who(out, team):
    me = libshmem_device.my_pe()
    tl.store(out, me)
    tl.store(out + 1, libshmem_device.n_pes())
    tl.store(out + 2, libshmem_device.team_my_pe(team))
    tl.store(out + 3, libshmem_device.team_n_pes(team))
    tl.store(out + 4, libshmem_device.team_translate_pe(0, me, team))
    tl.store(out + 5, libshmem_device.team_translate_pe(team, 0, 0))
    tl.store(out + 6, libshmem_device.team_my_pe(libshmem_device.ACLSHMEM_TEAM_WORLD))

odd = ash.team_split_strided(0, 1, 2, world // 2)
member = rank % 2 == 1
out = torch.zeros(7, dtype=torch.int32)
who[(1,)](out, odd)
index = rank // 2 if member else -1
assert out.tolist() == [
    rank, world, index, world // 2 if member else -1, index, 1 if member else -1, rank], out

@triton.jit
def rounds(x, late, team, peer, ROUNDS: tl.constexpr, VECTOR: tl.constexpr):
    for r in range(ROUNDS):
        libshmem_device.int_p(x, r + 1, peer)
        if VECTOR:
            libshmem_device.barrier_vec(team)
        else:
            libshmem_device.barrier(team)
        tl.atomic_add(late, (tl.load(x) < r + 1).to(tl.int32))
        libshmem_device.barrier(team)

late = torch.zeros(1, dtype=torch.int32)
for vector in (False, True):
    x = symmetric(16, torch.int32)
    if member:
        peer = ash.team_translate_pe(odd, (index + 1) % (world // 2), 0)
        rounds[(2,)](x, late, odd, peer, 5, vector)
        assert x[0] == 5 and late[0] == 0, (x[0], late)
    ash.barrier_all()

@triton.jit
def signals(sig, wide, unsigned, out):
    me, n = dl.rank(), dl.num_ranks()
    right = (me + 1) % n
    libshmem_device.signal_op(sig, 40, libshmem_device.ACLSHMEM_SIGNAL_SET, right)
    libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_EQ, 40)
    libshmem_device.barrier_all_vec()
    libshmem_device.signal_op(sig, 2, libshmem_device.ACLSHMEM_SIGNAL_ADD, right)
    tl.store(out, libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_GT, 40))
    tl.store(out + 1, libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_NE, 1))
    tl.store(out + 2, libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_LE, 42))
    tl.store(out + 3, libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_LT, 99))
    # dl.notify by type of the word: int32 set and add, int64 and uint64 set.
    dl.notify(sig + 16, right, signal=3, sig_op="set", comm_scope="intra_node")
    dl.wait(sig + 16, 1, "gpu", "acquire", waitValue=3)
    libshmem_device.barrier_all()
    dl.notify(sig + 16, right, signal=-1, sig_op="add", comm_scope="inter_node")
    dl.wait(sig + 16, 1, "sys", "acq_rel", waitValue=2)
    dl.notify(wide, right, signal=1 << 40, comm_scope="gpu")
    dl.wait(wide, 1, "gpu", "acquire", waitValue=1 << 40)
    dl.notify(unsigned, right, signal=5)
    dl.wait(unsigned, 1, "cta", "relaxed", waitValue=5)
    libshmem_device.fence()

sig, wide = symmetric(32, torch.int32), symmetric(8, torch.int64)
unsigned = symmetric(8, torch.int64).view(torch.uint64)
out = torch.zeros(4, dtype=torch.int32)
signals[(1,)](sig, wide, unsigned, out)
assert out.tolist() == [42] * 4, out
assert int(wide[0]) == 1 << 40 and int(unsigned.view(torch.int64)[0]) == 5 and int(sig[16]) == 2
ash.barrier_all()
"""

#: consume_token of every kind of value, a wait over several words, and a function by extern_call.
TOKENS = """
import triton_dist
from triton.language import core

@core.builtin
def int32_g(word, pe, _semantic=None):
    table = {(tl.pointer_type(tl.int32), tl.int32): ("aclshmem_int32_g", tl.int32)}
    arguments = [word, pe]
    return dl.extern_call("libshmem_device", "", arguments, table, False, _semantic=_semantic)

@triton_dist.jit
def tokens(sig, p, out, x, n, N: tl.constexpr):
    peer = (dl.rank() + 1) % dl.num_ranks()
    for slot in range(n):
        dl.notify(sig + 16 * slot, peer, signal=9)
    token = dl.wait(sig, n, "gpu", "acquire", waitValue=9)
    at = tl.arange(0, N)
    grid = at[:, None] * N + at[None, :]
    total = tl.load(dl.consume_token(p, token) + grid)
    total += tl.load(dl.consume_token(p + grid, token))
    total = dl.consume_token(total, token)
    desc = tl.make_tensor_descriptor(p, [N, N], [N, 1], [N, N])
    total += dl.consume_token(desc, token).load([0, 0])
    block = tl.make_block_ptr(p, (N, N), (N, 1), (0, 0), (N, N), (1, 0))
    total += tl.load(dl.consume_token(block, token))
    tl.store(out + grid, total + dl.consume_token(x, token))

@triton_dist.jit(do_not_specialize=["out"])
def fetch(word, out):
    tl.store(out, int32_g(word, dl.rank()))

sig, p, out = symmetric(48, torch.int32), torch.arange(256.0), torch.zeros(256)
tokens[(1,)](sig, p, out, 0.5, 3, 16)
assert torch.equal(out, 4 * p + 0.5), out
word, got = symmetric(16, torch.int32, 123), torch.zeros(1, dtype=torch.int32)
fetch[(1,)](word, got)
assert got[0] == 123
"""


TYPES = "float16 float32 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64"


@pytest.mark.parametrize("world", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_every_function(tmp_path, world):
    body = "\n".join((COPIES, TEAMS, TOKENS))
    run_ranks(tmp_path, world, body, TYPES="float16 uint32", SHMEM_CYCLE_PROF_PE="1")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["MTE", "SDMA", "UDMA"])
def test_every_type(tmp_path, engine):
    run_ranks(tmp_path, 2, COPIES, TYPES=TYPES, ENGINE=engine, SHMEM_CYCLE_PROF_PE="1")


def test_no_function_is_left_out():
    """The kernels above call each function of the module and each primitive."""
    import os

    os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")
    from triton.language import core

    import triton_dist.language as dl
    from triton_dist.language.extra.ascend import libaclshmem_device

    text = COPIES + TEAMS + TOKENS
    called = set(re.findall(r"libshmem_device\.(\w+)\(", text))
    functions = {
        name
        for name, value in inspect.getmembers(libaclshmem_device, core.is_builtin)
        if value.__module__ == libaclshmem_device.__name__
    }
    assert functions == called, functions ^ called
    primitives = set(re.findall(r"\bdl\.(\w+)\(", text))
    assert primitives | {"symm_at"} == set(dl.__all__)  # symm_at: test_distributed.py
