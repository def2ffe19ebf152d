# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids, printing, assertions, autotuning, hooks, benchmarking, the cache, and bad input.

After each refused or failed launch a good one must work in the same process.
"""

import threading

import pytest
import torch
import triton
import triton.language as tl

from e2e import check_equal, piton_only, random_values


@triton.jit
def ids_kernel(out_ptr, NX: tl.constexpr, NY: tl.constexpr, NZ: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (x * NY + y) * NZ + z
    total = tl.num_programs(0) * 10000 + tl.num_programs(1) * 100 + tl.num_programs(2)
    tl.store(out_ptr + at, at * 1000000 + total)


@pytest.mark.parametrize("grid", ((1,), (7,), (3, 5), (2, 3, 4), (1, 1, 9)), ids=str)
def test_program_ids(grid):
    x, y, z = (*grid, 1, 1)[:3]
    out = torch.full((x * y * z,), -1, dtype=torch.int64)
    ids_kernel[grid](out, NX=x, NY=y, NZ=z)
    want = torch.arange(x * y * z) * 1000000 + x * 10000 + y * 100 + z
    check_equal(out, want.to(torch.int32).to(torch.int64))


@triton.jit
def touch_kernel(out_ptr):
    tl.store(out_ptr + tl.program_id(0), 1)


def works():
    """A launch that must succeed."""
    out = torch.zeros(3, dtype=torch.int32)
    touch_kernel[(3,)](out)
    return out.tolist() == [1, 1, 1]


@piton_only
@pytest.mark.parametrize("grid", ((0,), (0, 3), (2, 0, 5)), ids=str)
def test_empty_grid(grid):
    out = torch.zeros(8, dtype=torch.int32)
    touch_kernel[grid](out)
    assert not out.any() and works()


def test_huge_grid():
    out = torch.zeros(70_000, dtype=torch.int8)
    touch_kernel[(70_000,)](out)
    assert out.all()


def test_callable_grid():
    out = torch.zeros(6, dtype=torch.int32)
    touch_kernel[lambda meta: (6,)](out)
    assert out.all()


@triton.jit
def no_argument_kernel():
    pass


def test_kernel_without_arguments():
    no_argument_kernel[(4,)]()


@triton.jit
def print_kernel(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_print("value", tl.load(x_ptr + i))
    tl.device_print("pid ", tl.program_id(0))


@piton_only
def test_device_print(monkeypatch, capfd):
    monkeypatch.setenv("TRITON_DEVICE_PRINT", "1")
    print_kernel[(1,)](torch.tensor([11, 22, 33, 44], dtype=torch.int32), N=4)
    text = capfd.readouterr().out
    assert "value" in text and "pid" in text
    assert all(str(v) in text for v in (11, 22, 33, 44))


@triton.jit
def assert_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x > 0, "every x is positive")


@piton_only
def test_device_assert():
    good, bad = torch.ones(8), torch.ones(8)
    bad[3] = -1
    assert_kernel[(1,)](good, N=8, debug=True)
    with pytest.raises(Exception, match="every x is positive"):
        assert_kernel[(1,)](bad, N=8, debug=True)
    assert works()
    assert_kernel[(1,)](bad, N=8)  # without debug nothing is checked


@triton.jit
def static_assert_kernel(out_ptr, N: tl.constexpr):
    tl.static_assert(N > 4, "N is too small")
    tl.store(out_ptr, N)


@piton_only
def test_static_assert():
    out = torch.zeros(1, dtype=torch.int32)
    static_assert_kernel[(1,)](out, N=5)
    with pytest.raises(triton.compiler.errors.CompileTimeAssertionFailure, match="too small"):
        static_assert_kernel[(1,)](out, N=3)
    assert out.item() == 5 and works()


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 128}, num_warps=2)], key=["n"]
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + i, tl.load(x_ptr + i) * 3)
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 3, mask=i < n)


@piton_only
@pytest.mark.parametrize("n", (256, 300))
def test_autotune(n, rng):
    x = random_values(rng, torch.float32, n)
    out = torch.zeros(n)
    tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    check_equal(out, x * 3)
    assert tuned_kernel.best_config.kwargs["BLOCK"] in (32, 128)


@piton_only
def test_do_bench():
    out = torch.zeros(3, dtype=torch.int32)
    milliseconds = triton.testing.do_bench(lambda: touch_kernel[(3,)](out), warmup=1, rep=5)
    assert 0 < milliseconds < 1000


@piton_only
def test_launch_hooks():
    seen = []
    enter, leave = triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook

    def on_enter(metadata):
        seen.append(("enter", metadata.get()["name"]))

    def on_exit(metadata):
        seen.append(("exit", metadata.get()["name"]))

    enter.add(on_enter)
    leave.add(on_exit)
    try:
        assert works()
    finally:
        enter.remove(on_enter)
        leave.remove(on_exit)
    assert [s[0] for s in seen] == ["enter", "exit"]
    assert all("touch_kernel" in s[1] for s in seen)


@piton_only
def test_warmup_compiles_without_running():
    kernel = touch_kernel.warmup(torch.int32, grid=(1,))
    assert "touch_kernel" in kernel.asm["ttir"]
    assert "func.func" in kernel.asm["ttadapter"]


@piton_only
def test_unknown_option():
    with pytest.raises(KeyError, match="no_such_option"):
        touch_kernel[(1,)](torch.zeros(1, dtype=torch.int32), no_such_option=3)
    assert works()


@triton.jit
def wrong_type_kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + "text")


@triton.jit
def too_large_kernel(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)


@piton_only
def test_compile_errors_name_the_line():
    out = torch.zeros(8, dtype=torch.int32)
    with pytest.raises(triton.compiler.errors.CompilationError, match="text"):
        wrong_type_kernel[(1,)](out)
    with pytest.raises(Exception, match="1048576"):
        too_large_kernel[(1,)](out, N=2**21)
    assert works()


@piton_only
def test_wrong_device():
    with pytest.raises(Exception, match="(?i)meta|device|data_ptr|pointer"):
        touch_kernel[(1,)](torch.zeros(4, dtype=torch.int32, device="meta"))
    with pytest.raises(Exception, match="(?i)pointer|unsupported|type"):
        touch_kernel[(1,)](object())
    assert works()


@triton.jit
def wild_kernel(out_ptr, address):
    p = address.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(out_ptr, tl.load(p))


@piton_only
def test_unmapped_address():
    out = torch.zeros(1, dtype=torch.int32)
    with pytest.raises(Exception, match="(?i)test_launch.py|address"):
        wild_kernel[(1,)](out, 2**40 + 64)
    assert works()


@triton.jit
def touch_address_kernel(address, HOW: tl.constexpr, FIBER: tl.constexpr, flag_ptr):
    p = address.to(tl.pointer_type(tl.int32), bitcast=True)
    if FIBER:
        while tl.atomic_add(flag_ptr, 0) == 0:
            pass
    if tl.program_id(0) == 300:
        if HOW == "load":
            tl.store(flag_ptr, tl.load(p))
        elif HOW == "store":
            tl.store(p, 1)
        elif HOW == "block store":
            tl.store(p + tl.arange(0, 64), 1)
        else:
            tl.atomic_add(p, 1)


@piton_only
@pytest.mark.parametrize("fiber", (False, True), ids=("plain", "fiber"))
@pytest.mark.parametrize("how", ("load", "store", "block store", "atomic"))
def test_unmapped_address_in_any_access(how, fiber):
    """The block lies in the part of the grid that another thread starts with. Which line of a
    tile is touched first is open."""
    flag = torch.ones(1, dtype=torch.int32)
    with pytest.raises(
        RuntimeError, match=r"test_launch.py:\d+: invalid .*0x10000000[01]"
    ) as error:
        touch_address_kernel[(400,)](2**40 + 64, HOW=how, FIBER=fiber, flag_ptr=flag)
    assert "program id (0, 0, 300)" in str(error.value) or "program id (300" in str(error.value)
    assert works()


@piton_only
def test_cpu_tensors_can_be_refused():
    """What `piton exec` switches on, as hardware would behave."""
    from piton import _runtime

    x = torch.zeros(4, dtype=torch.int32)
    _runtime.refuse_host_tensors(True)
    try:
        with pytest.raises(ValueError, match=r"Pointer argument \(at 0\).*cpu tensor\?"):
            touch_kernel[(1,)](x)
        assert x.tolist() == [0] * 4
    finally:
        _runtime.refuse_host_tensors(False)
    assert works()


@piton_only
def test_grid_beyond_the_limit():
    with pytest.raises(Exception, match="(?i)grid|overflow|2147483648|int"):
        touch_kernel[(2**31,)](torch.zeros(1, dtype=torch.int32))
    with pytest.raises(Exception, match="(?i)grid|negative|-1"):
        touch_kernel[(-1,)](torch.zeros(1, dtype=torch.int32))
    assert works()


@piton_only
def test_threads(rng):
    results = {}

    def job(k):
        x = torch.full((512,), float(k))
        out = torch.zeros(512)
        for _ in range(20):
            tuned_free_kernel[(16,)](x, out, 512, k % 3, BLOCK=32)
        results[k] = (out == 2.0 * k + k % 3).all().item()

    threads = [threading.Thread(target=job, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == dict.fromkeys(range(6), True)


@triton.jit
def tuned_free_kernel(x_ptr, out_ptr, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2 + K, mask=i < n)


def test_empty_tensors():
    x, out = torch.zeros(0), torch.zeros(0)
    tuned_free_kernel[(1,)](x, out, 0, 1, BLOCK=32)


def test_one_is_no_constant_for_the_result(rng):
    x = random_values(rng, torch.float32, 1)
    out = torch.zeros(1)
    for n in (1, 0):
        out.zero_()
        tuned_free_kernel[(1,)](x, out, n, 0, BLOCK=32)
        check_equal(out, x * 2 if n else torch.zeros(1))


@piton_only
def test_cached_kernel_is_reused():
    seen = []
    hook = triton.knobs.runtime.jit_post_compile_hook
    triton.knobs.runtime.jit_post_compile_hook = lambda **k: seen.append(k) and None
    try:
        out = torch.zeros(4, dtype=torch.int16)
        for _ in range(3):
            touch_kernel[(4,)](out)
    finally:
        triton.knobs.runtime.jit_post_compile_hook = hook
    assert len(seen) <= 1 and out.all()


@triton.jit
def inline_asm_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    r = tl.inline_asm_elementwise(
        "made.up $0, $1;", "=l,l", [x], dtype=tl.int64, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, r)


@piton_only
def test_unknown_inline_assembly_is_refused():
    x = torch.zeros(16, dtype=torch.int64)
    with pytest.raises(Exception, match="made.up"):
        inline_asm_kernel[(1,)](x, x, N=16)
    assert works()


@triton.jit
def double_plus(x, y):
    if x > 0:
        return x * 2 + y
    return y - x


@triton.jit
def map_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    r = tl.map_elementwise(double_plus, tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(out_ptr + i, r)


@piton_only
def test_map_elementwise(rng):
    x, y = (random_values(rng, torch.int32, 64, low=-9, high=9) for _ in range(2))
    out = torch.zeros(64, dtype=torch.int32)
    map_kernel[(1,)](x, y, out, N=64)
    check_equal(out, torch.where(x > 0, x * 2 + y, y - x))
