# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sub_vec_id and sub_vec_num: what depends on the vector core happens for both, the rest once."""

import importlib.util
import os

import numpy as np
import pytest
import sub_vector_maker
import torch
import triton
import triton.language as tl
from triton.language.extra.cann.extension import sub_vec_id, sub_vec_num


def ints(*shape):
    return torch.zeros(shape, dtype=torch.int32)


# -- kernels in which nobody waits: the sides may run one after the other --------------


@triton.jit
def _halves(x, y, counter, HALF: tl.constexpr):
    side = sub_vec_id()
    at = side * HALF + tl.arange(0, HALF)
    tl.store(y + at, tl.load(x + at) * 2 + side)
    tl.atomic_add(counter, 1)  # once
    if side == 1:
        tl.atomic_add(counter + 1, 1)
    tl.atomic_add(counter + 2, 1 + side.to(tl.int32))  # for both: 1 + 2
    tl.store(counter + 3, sub_vec_num())


def test_halves():
    x = torch.arange(64, dtype=torch.int32)
    y, counter = ints(64), ints(4)
    _halves[(1,)](x, y, counter, 32)
    assert torch.equal(y, x * 2 + (x >= 32))
    assert counter.tolist() == [1, 1, 3, 2]


@triton.jit
def _loops(out, once, n, N: tl.constexpr):
    side = sub_vec_id().to(tl.int32)
    carried = side + 1  # a value of each side round a loop that both share
    shared = 0
    for i in range(n):
        carried = carried * 2 + i
        shared += i
        tl.atomic_add(once, 1)
    own = 0
    for i in range(side * 3 + 1):  # bounds of each side
        own += i + 1
    i = 0
    while i < n:  # a while loop that both share
        if side == 0:
            own += 10
        tl.atomic_add(once + 1, 1)
        i += 1
    j = side
    while j < n:  # and one of each side
        own += 100
        j += 1
    tl.store(out + side * N, carried)
    tl.store(out + side * N + 1, own)
    tl.store(once + 2, shared)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_loops(n):
    out, once = ints(2, 4), ints(3)
    _loops[(1,)](out, once, n, 4)
    for side in range(2):
        carried, own = side + 1, 0
        for i in range(n):
            carried = carried * 2 + i
        own = sum(i + 1 for i in range(side * 3 + 1)) + (10 * n if side == 0 else 0)
        own += 100 * max(n - side, 0)
        assert out[side, :2].tolist() == [carried, own]
    assert once.tolist() == [n, n, sum(range(n))]


@triton.jit
def _masks_and_sums(x, out, sums, count, N: tl.constexpr):
    side = sub_vec_id().to(tl.int32)
    at = tl.arange(0, N)
    values = tl.load(x + at)  # once
    tl.store(out + at, values + 100 * side, mask=at % 2 == side)
    mine = tl.where(at % 2 == side, values, 0)
    tl.store(sums + side, tl.sum(mine))
    tl.atomic_add(sums + 2, tl.sum(values))  # once
    tl.atomic_add(sums + 3, tl.sum(mine))  # for both
    if tl.program_id(0) == 0:
        if side == 1:
            if tl.sum(mine) > 0:
                tl.atomic_add(count, 1)
        else:
            tl.atomic_add(count + 1, 1)
        tl.atomic_add(count + 2, 1)


def test_masks_and_sums():
    x = torch.arange(1, 65, dtype=torch.int32)
    out, sums, count = ints(64), ints(4), ints(3)
    _masks_and_sums[(1,)](x, out, sums, count, 64)
    odd = torch.arange(64) % 2
    assert torch.equal(out, (x + 100 * odd).int())
    even_sum, odd_sum = int(x[0::2].sum()), int(x[1::2].sum())
    assert sums.tolist() == [even_sum, odd_sum, int(x.sum()), int(x.sum())]
    assert count.tolist() == [1, 1, 1]


@triton.jit
def _early_return(out, counter):
    if sub_vec_id() == 1:
        tl.store(out, 7)
        return
    tl.atomic_add(counter, 1)


def test_early_return():
    out, counter = ints(1), ints(1)
    _early_return[(1,)](out, counter)
    assert out[0] == 7 and counter[0] == 1


@triton.jit
def _atomics(words, old, N: tl.constexpr):
    side = sub_vec_id()
    for i in range(N):
        seen = tl.atomic_add(words + (i + side) % 3, 1)  # addresses of each side
        tl.store(old + side * N + i, seen)
    tl.atomic_max(words + 3, side.to(tl.int32) * 5)


def test_atomics_with_addresses_of_each_side():
    words, old = ints(4), ints(2, 9)
    _atomics[(1,)](words, old, 9)
    assert words.tolist() == [6, 6, 6, 5]
    for word in range(3):
        seen = [old[s, i] for s in range(2) for i in range(9) if (i + s) % 3 == word]
        assert sorted(map(int, seen)) == list(range(6))


@triton.jit
def _dot(a, b, c, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tile = at[:, None] * N + at[None, :]
    product = tl.dot(tl.load(a + tile), tl.load(b + tile))  # once
    tl.store(c + tile, product)
    side = sub_vec_id()
    half = tl.where((at[:, None] // (N // 2)) == side, product, 0.0)
    tl.store(out + side * N * N + tile, half)


def test_dot_is_for_both():
    a, b = torch.randn(32, 32), torch.randn(32, 32)
    c, out = torch.zeros(32, 32), torch.zeros(2, 32, 32)
    _dot[(1,)](a, b, c, out, 32)
    torch.testing.assert_close(c, a @ b)
    torch.testing.assert_close(out[0] + out[1], c, rtol=0, atol=0)
    assert (out[0, 16:] == 0).all() and (out[1, :16] == 0).all()


# -- kernels in which a side waits for the other -----------------------------------------


@triton.jit
def _wait_for(flag, value):
    while tl.atomic_add(flag, 0) < value:
        pass


@triton.jit
def _ping_pong(flags, data, out, rounds):
    for i in range(rounds):
        if sub_vec_id() == 0:
            _wait_for(flags, i + 1)  # side 1 sends it, later in the text
            tl.store(out + i, tl.load(data, cache_modifier=".cv"))
            tl.atomic_xchg(flags + 16, i + 1)
        else:
            tl.store(data, 10 * i)
            tl.atomic_xchg(flags, i + 1)
            _wait_for(flags + 16, i + 1)


@pytest.mark.parametrize("blocks", [1, 7])
def test_ping_pong(blocks):
    for _ in range(3):
        flags, data, out = ints(32), ints(1), ints(20)
        _ping_pong[(1,)](flags, data, out, 20)
        assert out.tolist() == [10 * i for i in range(20)]


@triton.jit
def _apart(flags, out, n):
    """Each side is ahead of the other by turns: they may not meet every round."""
    for _ in range(n):
        if sub_vec_id() == 0:
            _wait_for(flags, n)  # only after all rounds of side 1
            tl.atomic_add(out, 1)
        else:
            tl.atomic_add(flags, 1)


def test_sides_run_apart():
    flags, out = ints(1), ints(1)
    _apart[(1,)](flags, out, 9)
    assert out[0] == 9 and flags[0] == 9


@triton.jit
def _once_between(flags, x, y, z, counter, n, N: tl.constexpr):
    """What is done once lies between waits, and sees what both sides did before it."""
    at = tl.arange(0, N)
    side = sub_vec_id().to(tl.int32)
    total = tl.zeros((N,), tl.int32)
    k = 0
    while k < n:
        if side == 1:
            tl.store(x + at, at + k)
            tl.atomic_xchg(flags, k + 1)
        else:
            _wait_for(flags, k + 1)
            tl.atomic_add(x + N, 1)
        values = tl.load(x + at)  # once, after side 1's store
        seen = tl.atomic_add(counter, 1)  # once, and both know the old value
        total += values
        tl.store(y + (side * n + k) * N + at, values + seen)  # of each side
        tl.store(x + at, values * 0 - 1)  # once, after both have read
        k = k + tl.load(x + N + 1)  # a bound from memory, the same for both
    tl.store(z + at, total)  # once
    tl.store(z + N + side * N + at, total)


def test_once_between_waits():
    n, N = 6, 16
    flags, counter = ints(1), ints(1)
    x, y, z = ints(N + 2), ints(2, n, N), ints(3, N)
    x[N + 1] = 1
    _once_between[(1,)](flags, x, y, z, counter, n, N)
    at = np.arange(N)
    for side in range(2):
        for k in range(n):
            np.testing.assert_array_equal(y[side, k], at + k + k)
    for row in z:
        np.testing.assert_array_equal(row, n * at + sum(range(n)))
    assert counter[0] == n and x[N] == n and (x[:N] == -1).all()


@triton.jit
def _pointers(flags, a, b, out, pick, N: tl.constexpr):
    """Pointers and branches that both share, round waits."""
    at = tl.arange(0, N)
    side = sub_vec_id().to(tl.int32)
    source = a
    which = tl.load(pick)
    if which > 0:
        source = b
        if side == 0:
            _wait_for(flags, 1)
        else:
            tl.atomic_xchg(flags, 1)
        factor = tl.load(pick + 1)
    else:
        factor = which - 1
    value = tl.load(source + at) * factor
    tl.store(out + side * N + at, value + side)
    for i in range(factor):
        source += 1
        if side == 0:
            _wait_for(flags + 1, i + 1)
        else:
            tl.atomic_add(flags + 1, 1)
    tl.store(out + (2 + side) * N + at, tl.load(source + at))


@pytest.mark.parametrize("which", [0, 1])
def test_pointers_and_branches(which):
    N = 16
    a, b = torch.arange(32, dtype=torch.int32), torch.arange(100, 132, dtype=torch.int32)
    out, flags = ints(4, N), ints(2)
    _pointers[(1,)](flags, a, b, out, torch.tensor([which, 3], dtype=torch.int32), N)
    source, factor = (b, 3) if which else (a, -1)
    moved = max(factor, 0)
    for side in range(2):
        assert torch.equal(out[side], source[:N] * factor + side)
        assert torch.equal(out[2 + side], source[moved : moved + N])


@triton.jit
def _dot_and_wait(flags, a, b, c, own, tiles, N: tl.constexpr):
    at = tl.arange(0, N)
    tile = at[:, None] * N + at[None, :]
    side = sub_vec_id().to(tl.int32)
    acc = tl.zeros((N, N), tl.float32)
    for t in range(tiles):
        if side == 0:
            _wait_for(flags, t + 1)
        else:
            tl.store(b + tile, tl.load(b + (t + 1) * N * N + tile))
            tl.atomic_xchg(flags, t + 1)
        acc = tl.dot(tl.load(a + tile), tl.load(b + tile), acc)
    tl.store(c + tile, acc)
    tl.store(own + side * N + at, tl.sum(acc, 0) + side)


def test_dot_between_waits():
    N, tiles = 32, 4
    a, b = torch.randn(N, N), torch.randn(tiles + 1, N, N)
    c, own, flags = torch.zeros(N, N), torch.zeros(2, N), ints(1)
    wanted = sum(a @ b[t + 1] for t in range(tiles))
    _dot_and_wait[(1,)](flags, a, b, c, own, tiles, N)
    torch.testing.assert_close(c, wanted, rtol=1e-4, atol=1e-4)
    for side in range(2):
        torch.testing.assert_close(own[side], c.sum(0) + side, rtol=1e-5, atol=1e-4)


@triton.jit
def _many_blocks(flags, out, n):
    pid = tl.program_id(0)
    side = sub_vec_id().to(tl.int32)
    if side == 0:
        _wait_for(flags + pid * 16, 1)
    else:
        _wait_for(flags + 4096, 1)
        tl.atomic_xchg(flags + pid * 16, 1)
    old = tl.atomic_add(out, 1)
    tl.store(out + 1 + pid * 2 + side, old + 1)
    if pid == 0 and side == 0:
        tl.device_print("done", old)


def test_many_blocks():
    """More blocks than cores: waves."""
    blocks = 90
    flags, out = ints(4097), ints(1 + 2 * blocks)
    flags[4096] = 1
    _many_blocks[(blocks,)](flags, out, blocks)
    assert out[0] == blocks and (flags[: 16 * blocks : 16] == 1).all()
    pairs = out[1:].reshape(blocks, 2)
    assert torch.equal(pairs[:, 0], pairs[:, 1])
    assert sorted(pairs[:, 0].tolist()) == list(range(1, blocks + 1))


@triton.jit
def _fault(flags, out):
    if sub_vec_id() == 0:
        _wait_for(flags, 1)
    else:
        tl.device_assert(tl.load(out) == 1, "not one")
        tl.atomic_xchg(flags, 1)


def test_a_side_that_fails_ends_the_launch():
    with pytest.raises(Exception, match="not one.*sub_vec_id 1"):
        _fault[(1,)](ints(1), ints(1), debug=True)


@triton.jit
def _sorted(flags, x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    side = sub_vec_id().to(tl.int32)
    if side == 0:
        _wait_for(flags, 1)
    else:
        tl.atomic_xchg(flags, 1)
    values = tl.load(x + at, mask=at < N - 3, other=-5)
    top, where = tl.max(values, 0, return_indices=True)
    old = tl.atomic_add(out + at, values)  # a tensor that both know
    tl.store(out + (1 + side) * N + at, tl.cumsum(old + values) + top + where)


def test_tensors_that_both_know():
    N = 32
    x = torch.randint(0, 1000, (N,), dtype=torch.int32)
    out, flags = ints(3, N), ints(1)
    out[0] = torch.arange(N)
    _sorted[(1,)](flags, x, out, N)
    values = x.clone()
    values[N - 3 :] = -5
    assert torch.equal(out[0], values + torch.arange(N, dtype=torch.int32))
    wanted = torch.cumsum(torch.arange(N) + values, 0) + values.max() + values.argmax()
    assert torch.equal(out[1], wanted.int()) and torch.equal(out[2], wanted.int())


# -- in distributed kernels ---------------------------------------------------------------


DISTRIBUTED = """
@triton.jit
def cross(sig, data, out, n):
    # Side 0 waits for what side 1 of the PE before it sends (of its own block, in a job of one).
    me, peer = dl.rank(), (dl.rank() + 1) % dl.num_ranks()
    side = sub_vec_id().to(tl.int32)
    for i in range(n):
        if side == 0:
            token = dl.wait(sig, 1, "gpu", "acquire", waitValue=i + 1)
            tl.store(out + i, tl.load(dl.consume_token(data, token) + i))
        else:
            tl.store(dl.symm_at(data, peer) + i, me * 100 + i)
            dl.notify(sig, peer, signal=i + 1)
        libshmem_device.barrier_all()

@triton.jit
def free_running(sig, data, out, n):
    # No barrier: side 1 sends all while side 0 is still at its first word. Slots 64 bytes apart.
    me, peer = dl.rank(), (dl.rank() + 1) % dl.num_ranks()
    for i in range(n):
        if sub_vec_id() == 0:
            token = dl.wait(sig + (n - 1 - i) * 16, 1, "gpu", "acquire", waitValue=7)
            tl.store(out + i, tl.load(dl.consume_token(data, token) + n - 1 - i))
        else:
            tl.store(dl.symm_at(data, peer) + i, me * 100 + i)
            dl.notify(sig + i * 16, peer, signal=7)

@triton.jit
def barriers(x, out, rounds):
    # Each side calls the barrier itself, at different places of the text; together they are one.
    pid, peer = tl.program_id(0), (dl.rank() + 1) % dl.num_ranks()
    side = sub_vec_id().to(tl.int32)
    late = 0
    for r in range(rounds):
        if side == 0:
            tl.store(x + 2 * pid, r + 1)
            libshmem_device.barrier_all()
            late += (tl.load(dl.symm_at(x, peer) + 2 * pid + 1) != r + 1).to(tl.int32)
        else:
            tl.store(x + 2 * pid + 1, r + 1)
            libshmem_device.barrier_all()
            late += (tl.load(dl.symm_at(x, peer) + 2 * pid) != r + 1).to(tl.int32)
        libshmem_device.barrier_all()
    tl.store(out + 2 * pid + side, late)

@triton.jit
def all_at_once(sig, acc, out, n, N: tl.constexpr):
    # Once-only work of every kind round waits of the sides: stores, atomics, notify, wait.
    me, world = dl.rank(), dl.num_ranks()
    peer = (me + 1) % world
    side = sub_vec_id().to(tl.int32)
    at = tl.arange(0, N)
    for i in range(n):
        if side == 1:
            tl.atomic_add(dl.symm_at(acc, peer) + at, at + i)
            libshmem_device.fence()
            dl.notify(sig, peer, signal=1, sig_op="add")  # by side 1
        libshmem_device.fence()
        dl.notify(sig + 16, peer, signal=1, sig_op="add")  # once
        if side == 0:
            dl.wait(sig, 1, "gpu", "acquire", waitValue=i + 1)
        token = dl.wait(sig + 16, 1, "gpu", "acquire", waitValue=i + 1)  # once
        values = tl.load(dl.consume_token(acc + at, token))
        tl.store(out + (i * 2 + side) * N + at, values)
        libshmem_device.barrier_all()

for kernel in (cross, free_running):
    sig, data = symmetric(16 * 40, torch.int32), symmetric(40, torch.int32)
    out = torch.zeros(40, dtype=torch.int32)
    kernel[(1,)](sig, data, out, 40)
    wanted = (rank - 1) % world * 100 + torch.arange(40, dtype=torch.int32)
    assert torch.equal(out, wanted if kernel is cross else wanted.flip(0)), out
    ash.barrier_all()
x, out = symmetric(2 * 6, torch.int32), torch.ones(2 * 6, dtype=torch.int32)
barriers[(6,)](x, out, 5)
assert (out == 0).all(), out
ash.barrier_all()
sig, acc = symmetric(64, torch.int32), symmetric(16, torch.int32)
out = torch.zeros(5, 2, 16, dtype=torch.int32)
all_at_once[(1,)](sig, acc, out, 5, 16)
sums = torch.cumsum(torch.arange(5)[:, None] + torch.arange(16), 0).int()
assert torch.equal(out[:, 0], sums) and torch.equal(out[:, 1], sums), out
assert sig[0] == 5 and sig[16] == 5
"""


@pytest.mark.parametrize("world", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_distributed(tmp_path, world):
    import test_distributed as ranks

    ranks.run_ranks(tmp_path, world, DISTRIBUTED)


def test_a_barrier_of_one_side_never_ends(tmp_path):
    import test_distributed as ranks

    results = ranks.failing_ranks(
        tmp_path,
        1,
        """
        @triton.jit
        def lonely(out):
            if sub_vec_id() == 0:
                libshmem_device.barrier_all()  # the line
            tl.store(out, 1)

        try:
            lonely[(2,)](torch.zeros(1, dtype=torch.int32))
        except Exception as error:
            text = str(error)
            assert "until both vector cores of all 2 blocks of the launch are there" in text, text
            assert "2 of 4 arrivals" in text and "sub_vec_id 0" in text, text
            print("told", flush=True)
            os._exit(0)
        """,
        PITON_STANDSTILL_SECONDS="2",
    )
    ((code, output),) = results
    assert code == 0 and "told" in output, output


# -- random kernels ---------------------------------------------------------------------------


def run_random(tmp_path, seeds):
    made = {seed: sub_vector_maker.Maker(seed) for seed in seeds}
    head = "import triton, triton.language as tl\n"
    head += "from triton.language.extra.cann.extension import sub_vec_id\n\n"
    path = tmp_path / "made_sides.py"
    path.write_text(head + "\n\n".join(m.source for m in made.values()))
    spec = importlib.util.spec_from_file_location("made_sides", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print("seeds", seeds)
    for seed, maker in made.items():
        mem, flags = torch.from_numpy(maker.initial().copy()), ints(maker.flag_words())
        getattr(module, f"sides_{seed}")[(1,)](mem, flags)
        assert np.array_equal(mem.numpy(), maker.emulate()), f"seed {seed}:\n{maker.source}"


def test_known_seeds(tmp_path):
    run_random(tmp_path, range(12))


@pytest.mark.slow
def test_new_seeds(tmp_path):
    start = int(os.environ.get("PITON_FUZZ_SEED", int.from_bytes(os.urandom(3), "big")))
    run_random(tmp_path, range(start, start + int(os.environ.get("PITON_FUZZ_COUNT", "40"))))


@triton.jit
def _returns(flags, count, out, a, b, WAIT: tl.constexpr):
    """Returns that both sides share, in nested branches: what is left becomes cases of a switch."""
    if a > 0:
        if b > 0:
            return
        tl.atomic_add(count, 1)
    else:
        tl.atomic_add(count + 1, 1)
    if sub_vec_id() == 0:
        if WAIT:
            _wait_for(flags, 1)
        tl.store(out, 5)
    else:
        tl.atomic_xchg(flags, 1)
    old = tl.atomic_add(count + 2, 1)
    tl.store(out + 1 + sub_vec_id(), old + 1)


@pytest.mark.parametrize("wait", [False, True])
def test_returns_in_nested_branches(wait):
    for a, b in ((0, 0), (0, 2), (2, 0), (2, 2)):
        flags, count, out = ints(1), ints(3), ints(3)
        _returns[(1,)](flags, count, out, a, b, wait)
        left = a > 0 and b > 0
        assert count.tolist() == [int(a > 0 and not left), int(a == 0), int(not left)]
        assert out.tolist() == ([0, 0, 0] if left else [5, 1, 1])
