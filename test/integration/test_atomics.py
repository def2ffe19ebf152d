# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics: each kind and type, results, masks, contention of many blocks, locks."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from e2e import (
    BF16,
    INTERPRETED,
    check_close,
    check_equal,
    each_dtype,
    piton_only,
    random_values,
    to_numpy,
)  # fmt: skip


@triton.jit
def atomic_kernel(
    p_ptr, x_ptr, old_ptr, n, OP: tl.constexpr, KEEP: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0)
    if OP == "add":
        old = tl.atomic_add(p_ptr + i, x, mask=mask)
    elif OP == "max":
        old = tl.atomic_max(p_ptr + i, x, mask=mask)
    elif OP == "min":
        old = tl.atomic_min(p_ptr + i, x, mask=mask)
    elif OP == "and":
        old = tl.atomic_and(p_ptr + i, x, mask=mask)
    elif OP == "or":
        old = tl.atomic_or(p_ptr + i, x, mask=mask)
    elif OP == "xor":
        old = tl.atomic_xor(p_ptr + i, x, mask=mask)
    elif OP == "xchg":
        old = tl.atomic_xchg(p_ptr + i, x, mask=mask)
    else:
        tl.static_assert(False, "unknown OP")
    if KEEP:
        tl.store(old_ptr + i, old, mask=mask)


FUNCTIONS = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "xchg": lambda _, x: x,
}  # fmt: skip


def run_atomic(op, dtype, keep, rng, n=100):
    p, x = (random_values(rng, dtype, n + 28) for _ in range(2))
    before, old = p.clone(), torch.zeros_like(p)
    atomic_kernel[(4,)](p, x, old, n, OP=op, KEEP=keep, BLOCK=32)
    want = to_numpy(before).copy()
    want[:n] = FUNCTIONS[op](want[:n], to_numpy(x)[:n])
    if dtype == torch.bfloat16:
        want = torch.from_numpy(want).to(dtype)
    check_equal(p, want)
    if keep:
        check_equal(old[:n], before[:n])


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("op", ("add", "max", "min", "and", "or", "xor", "xchg"))
@each_dtype(torch.int32, torch.int64, torch.uint32, torch.uint64)
def test_integer(dtype, op, keep, rng):
    run_atomic(op, dtype, keep, rng)


@piton_only
@pytest.mark.parametrize("op", ("add", "max", "min", "and", "or", "xor", "xchg"))
@each_dtype(torch.int8, torch.int16)
def test_narrow_integer(dtype, op, rng):
    run_atomic(op, dtype, True, rng)


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("op", ("add", "max", "min", "xchg"))
@each_dtype(torch.float32, torch.float64)
def test_float(dtype, op, keep, rng):
    if INTERPRETED and (op == "xchg" or op == "min" and dtype == torch.float64):
        pytest.skip("the interpreter lacks a float exchange and reads float64 minima as integers")
    run_atomic(op, dtype, keep, rng)


@pytest.mark.parametrize("keep", (False, True))
@each_dtype(torch.float16, BF16)
def test_half_add(dtype, keep, rng):
    run_atomic("add", dtype, keep, rng)


@triton.jit
def contended_kernel(p_ptr, ticket_ptr, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    if OP == "add":
        ticket = tl.atomic_add(p_ptr, 1)
        tl.store(ticket_ptr + pid, ticket)
    elif OP == "tensor":
        tl.atomic_add(p_ptr + i % 4, 1)
    elif OP == "float":
        tl.atomic_add(p_ptr + i % 2, 0.5)
    elif OP == "max":
        tl.atomic_max(p_ptr + i % 8, pid * 10 + i)
    elif OP == "same":
        tl.atomic_add(p_ptr + i * 0, i, mask=i % 3 == 0)
    else:
        tl.static_assert(False, "unknown OP")


@pytest.mark.parametrize("blocks", (1, 300))
def test_tickets(blocks):
    p = torch.zeros(1, dtype=torch.int32)
    tickets = torch.full((blocks,), -1, dtype=torch.int32)
    contended_kernel[(blocks,)](p, tickets, OP="add", BLOCK=32)
    assert p.item() == blocks
    assert sorted(tickets.tolist()) == list(range(blocks))


@pytest.mark.parametrize("op", ("tensor", "float", "max", "same"))
def test_contention(op):
    p = torch.zeros(8, dtype=torch.float32 if op == "float" else torch.int32)
    contended_kernel[(200,)](p, p, OP=op, BLOCK=32)
    i = np.arange(32)
    want = np.zeros(8)
    if op == "tensor":
        want[:4] = 200 * 8
    elif op == "float":
        want[:2] = 200 * 16 * 0.5
    elif op == "max":
        np.maximum.at(want, i % 8, 1990 + i)
    else:
        want[0] = 200 * i[i % 3 == 0].sum()
    check_equal(p, want)


@triton.jit
def colliding_result_kernel(p_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_add(p_ptr + i // 8, 1, mask=i % 4 != 3)
    tl.store(old_ptr + i, old, mask=i % 4 != 3)


def test_results_of_colliding_lanes():
    if INTERPRETED:
        pytest.skip("the interpreter reads all lanes before it writes any")
    p, old = torch.zeros(4, dtype=torch.int32), torch.full((32,), -1, dtype=torch.int32)
    colliding_result_kernel[(1,)](p, old, BLOCK=32)
    assert p.tolist() == [6] * 4
    for group in old.view(4, 8):
        assert sorted(group.tolist()) == [-1, -1, 0, 1, 2, 3, 4, 5]


@triton.jit
def cas_kernel(p_ptr, compare_ptr, value_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_cas(p_ptr + i, tl.load(compare_ptr + i), tl.load(value_ptr + i))
    tl.store(old_ptr + i, old)


@each_dtype(torch.int32, torch.int64, torch.uint64)
def test_cas(dtype, rng):
    p, compare, value = (random_values(rng, dtype, 32, low=0, high=2) for _ in range(3))
    before, old = p.clone(), torch.zeros_like(p)
    cas_kernel[(1,)](p, compare, value, old, BLOCK=32)
    check_equal(old, before)
    b, c, v = (t.numpy() for t in (before, compare, value))
    check_equal(p, np.where(b == c, v, b))


@piton_only
@each_dtype(torch.float32, torch.float16, torch.int16)
def test_cas_other_types(dtype, rng):
    p, compare, value = (
        random_values(rng, torch.int32, 32, low=0, high=2).to(dtype) for _ in range(3)
    )
    before, old = p.clone(), torch.zeros_like(p)
    cas_kernel[(1,)](p, compare, value, old, BLOCK=32)
    check_equal(old, before)
    check_equal(p, torch.where(before == compare, value, before))


@triton.jit
def cas_loop_kernel(p_ptr, x_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    seen = tl.load(p_ptr)
    done = 0
    while done == 0:
        old = tl.atomic_cas(p_ptr, seen, seen * 3 % 1000003 + x)
        if old == seen:
            done = 1
        seen = old


def test_cas_loop():
    p, x = torch.zeros(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    p[0] = 1
    cas_loop_kernel[(64,)](p, x)
    assert p.item() == pow(3, 64, 1000003)


@triton.jit
def spin_lock_kernel(lock_ptr, total_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + i, tl.load(total_ptr + i) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("blocks", (1, 8, 200))
def test_spin_lock(blocks, rng):
    x = random_values(rng, torch.int32, (blocks, 64), low=-9, high=9)
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    spin_lock_kernel[(blocks,)](lock, total, x, BLOCK=64)
    check_equal(total, x.sum(0).to(torch.int32))
    assert lock.item() == 0


@triton.jit
def last_block_kernel(x_ptr, part_ptr, count_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i, mask=pid * BLOCK + i < n, other=0.0)
    tl.store(part_ptr + pid, tl.sum(x, axis=0))
    done = tl.atomic_add(count_ptr, 1)
    if done == tl.num_programs(0) - 1:
        parts = tl.load(part_ptr + i, mask=i < tl.num_programs(0), other=0.0)
        tl.store(out_ptr, tl.sum(parts, axis=0))


def test_last_block_adds_up(rng):
    x = random_values(rng, torch.float32, 3000)
    part, count, out = torch.zeros(64), torch.zeros(1, dtype=torch.int32), torch.zeros(1)
    last_block_kernel[(47,)](x, part, count, out, 3000, BLOCK=64)
    check_close(out, [x.double().sum().item()], 1e-4, 1e-3)


@triton.jit
def semantics_kernel(p_ptr, out_ptr):
    a = tl.atomic_add(p_ptr, 1, sem="relaxed")
    b = tl.atomic_add(p_ptr, 1, sem="acquire", scope="cta")
    c = tl.atomic_xchg(p_ptr + 1, 7, sem="release", scope="sys")
    d = tl.atomic_cas(p_ptr + 1, 7, 8, sem="acq_rel")
    tl.store(out_ptr, a + b * 10 + c * 100 + d * 1000)


def test_memory_semantics():
    p, out = torch.zeros(2, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    semantics_kernel[(1,)](p, out)
    assert (out.item(), p.tolist()) == (7010, [2, 8])


@piton_only
def test_float_extremes_with_signs(rng):
    for op, start in (("max", -np.inf), ("min", np.inf)):
        x = random_values(rng, torch.float32, 128)
        p, old = torch.full((128,), start), torch.zeros(128)
        atomic_kernel[(4,)](p, x, old, 128, OP=op, KEEP=True, BLOCK=32)
        check_equal(p, x)


@triton.jit
def producer_consumer_kernel(flag_ptr, data_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data_ptr + i, i * 3)
        tl.debug_barrier()
        tl.atomic_xchg(flag_ptr, 1)
    else:
        while tl.atomic_add(flag_ptr, 0) == 0:
            pass
        tl.store(out_ptr + pid * BLOCK + i, tl.load(data_ptr + i) + pid)


@piton_only
def test_blocks_wait_for_each_other():
    flag, data = torch.zeros(1, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    out = torch.zeros((6, 32), dtype=torch.int32)
    producer_consumer_kernel[(6,)](flag, data, out, BLOCK=32)
    want = torch.arange(32)[None] * 3 + torch.arange(6)[:, None]
    check_equal(out[1:], want[1:].to(torch.int32))


@triton.jit
def volatile_consumer_kernel(flags_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if pid == 0:
        tl.store(out_ptr, 7)
        tl.debug_barrier()
        tl.atomic_xchg(flags_ptr + 3, 1)
    else:
        if pid % 2 == 0:
            while tl.load(flags_ptr + 3, volatile=True) == 0:
                pass
        else:
            while tl.max(tl.load(flags_ptr + i, volatile=True)) == 0:
                pass
        tl.store(out_ptr + pid, tl.load(out_ptr) + pid)


@piton_only
@pytest.mark.parametrize("programs", [2, 7])
def test_loops_that_only_read(programs):
    """Of a word or of a tensor: they have no effect but to wait, and stay."""
    flags, out = torch.zeros(8, dtype=torch.int32), torch.zeros(programs, dtype=torch.int32)
    volatile_consumer_kernel[(programs,)](flags, out, BLOCK=8)
    check_equal(out, torch.arange(programs, dtype=torch.int32) + 7)
