# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must not bring a process down: damaged caches, forks, Ctrl-C, several processes and
targets, malformed Triton IR. Everything that may end a process runs in a child."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch
import triton
import triton.language as tl

from e2e import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="about Piton's own processes")

PRELUDE = """
import os, sys, time
import torch, triton
import triton.language as tl

@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def endless_kernel(flag_ptr, out_ptr):
    while tl.atomic_add(flag_ptr, 0) == 0:
        pass
    tl.store(out_ptr, 1)

@triton.jit
def long_kernel(out_ptr, n):
    x = 1
    for i in range(n):
        for j in range(n):
            x = x * 3 + (x >> 7) + j
    tl.store(out_ptr, x)

def works(n=5000):
    x = torch.arange(n, dtype=torch.float32)
    out = torch.zeros(n)
    double_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return torch.equal(out, x * 2)
"""


def write_script(folder, body):
    path = folder / "script.py"
    path.write_text(PRELUDE + textwrap.dedent(body))
    return path


def run_script(folder, body, timeout=300, **env):
    """Runs a child script to its end; a death by signal is a failure with its output."""
    child = subprocess.run(
        [sys.executable, str(write_script(folder, body))], capture_output=True, text=True,
        timeout=timeout, env={**os.environ, **env},
    )  # fmt: skip
    assert child.returncode >= 0, f"died of signal {-child.returncode}: {child.stderr[-2000:]}"
    return child


def test_two_targets_in_one_process(tmp_path):
    child = run_script(
        tmp_path,
        """
        from triton.compiler import ASTSource
        from triton.backends.compiler import GPUTarget
        types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        source = ASTSource(double_kernel, types, {"BLOCK": 64})
        def cuda():
            return "mma" not in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        order = [works, cuda, works, cuda]
        assert all(step() for step in order)
        """,
        TRITON_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert child.returncode == 0, child.stderr


def test_unwritable_cache(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    child = run_script(tmp_path, "print(works())", TRITON_CACHE_DIR=str(blocked / "cache"))
    if child.returncode == 0:
        assert "True" in child.stdout
    else:
        assert str(blocked) in child.stderr


@pytest.mark.parametrize("damage", ("truncate", "flip", "empty"))
def test_damaged_image_in_the_cache(damage, tmp_path):
    cache = tmp_path / "cache"
    env = {"TRITON_CACHE_DIR": str(cache)}
    first = run_script(tmp_path, "assert works()", **env)
    assert first.returncode == 0, first.stderr
    images = list(cache.rglob("*.npubin"))
    assert images
    for image in images:
        data = bytearray(image.read_bytes())
        if damage == "truncate":
            data = data[: len(data) // 2]
        elif damage == "flip":
            data[len(data) // 2] ^= 0xFF
        else:
            data = b""
        image.write_bytes(data)
    child = run_script(
        tmp_path,
        """
        try:
            print("result", works())
        except Exception as error:
            print("refused", type(error).__name__, error)
        os.environ["TRITON_CACHE_DIR"] = os.environ["TRITON_CACHE_DIR"] + "2"
        double_kernel.device_caches.clear()
        assert works(300)
        """,
        **env,
    )
    assert child.returncode == 0, child.stderr
    assert "result True" in child.stdout or "image" in child.stdout.lower(), child.stdout


def test_fork_after_a_launch(tmp_path):
    child = run_script(
        tmp_path,
        """
        assert works(200_000)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                torch.set_num_threads(1)  # torch's own OpenMP pool does not survive a fork
                os._exit(0 if works(200_000) and works(100) else 1)
            assert os.waitpid(child, 0)[1] == 0
        assert works(200_000)
        """,
    )
    assert child.returncode == 0, child.stderr


def test_interrupt_from_outside(tmp_path):
    """As a terminal does it: a signal to the process, while both threads are in a block."""
    script = write_script(
        tmp_path,
        """
        out = torch.zeros(1, dtype=torch.int32)
        assert works()
        long_kernel[(2,)](out, 1)  # compiled now
        try:
            print("ready", flush=True)
            long_kernel[(2,)](out, 2_000_000)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
        assert works()
        print("works")
        """,
    )
    child = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A shell starts background jobs with SIGINT ignored, and Python keeps that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        assert child.stdout.readline().strip() == "ready", child.communicate()[1]
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=300)
    finally:
        child.kill()
    assert child.returncode == 0, err
    assert out.split() == ["interrupted", "works"]


def test_interrupts_at_any_time(tmp_path):
    """Each Ctrl-C, wherever it falls between the call and the kernel, is one KeyboardInterrupt;
    two that follow each other closely are one or two. Compiles in between leave no handler."""
    child = run_script(
        tmp_path,
        """
        import random, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random.seed(7)
        flag, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        calls = {
            "endless": lambda: endless_kernel[(2,)](flag, out),
            "long": lambda: long_kernel[(2,)](out, 2_000_000),
            "one block": lambda: long_kernel[(1,)](out, 2_000_000),
            "stream": lambda: queued(),
        }
        from piton import _runtime
        stream = _runtime.stream_create(0)
        word = _runtime.memory_allocate(4)
        _runtime.memory_copy(word, flag.data_ptr(), 4)

        class OnDevice:
            dtype = torch.int32
            data_ptr = lambda self: word

        def queued():
            for _ in range(3):
                endless_kernel[(2,)](OnDevice(), OnDevice(), stream=stream)
            _runtime.stream_synchronize(stream)

        def settle():
            # What a signal before the wait ended is reported once, and not as KeyboardInterrupt.
            try:
                _runtime.stream_synchronize(stream)
            except RuntimeError as error:
                assert "interrupted" in str(error), error
            _runtime.stream_synchronize(stream)


        def interrupt(delay, times):
            time.sleep(delay)
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

        def round(call, delay, times=1):
            raised = 0
            other = threading.Thread(target=interrupt, args=(delay, times))
            try:
                try:
                    other.start()
                    call()
                    print("finished")
                except KeyboardInterrupt:
                    raised += 1
                for _ in range(times):
                    try:
                        other.join()
                        time.sleep(0.001)
                    except KeyboardInterrupt:
                        raised += 1
            except KeyboardInterrupt:  # the second one, between two of the lines above
                raised += 1
                other.join()
            assert 1 <= raised <= times, (delay, times, raised)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            settle()

        for call in calls.values():
            # The kernel is compiled here, and the signal mostly comes before it runs.
            round(call, 0.05)
            for k in range(30):
                round(call, random.choice([0, 1e-5, 1e-4, 1e-3, 2e-2]) * random.random())
                if k % 10 == 0:
                    assert works(100 + k)
            for _ in range(5):
                round(call, 1e-2, times=2)
            assert works()
        print("works")
        """,
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout.split() == ["works"]


def count_files(folder):
    return sum(len(files) for _, _, files in os.walk(folder))


def test_kill_in_the_middle_of_a_compilation(tmp_path):
    """SIGKILL at points spread over a compilation: whatever the cache then holds is whole."""
    from piton import _runtime

    script = write_script(
        tmp_path, "print('ready', flush=True); works(); print('done', flush=True)"
    )
    for k in range(1, 3):
        cache = tmp_path / f"cache{k}"
        child = subprocess.Popen(
            [sys.executable, str(script)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "TRITON_CACHE_DIR": str(cache)},
        )  # fmt: skip
        assert child.stdout.readline().strip() == "ready"
        deadline = time.monotonic() + 60
        # Once that many files are there, even under a temporary name. os.walk, since folders go
        # away while they are looked into.
        while count_files(cache) < 2 * k and time.monotonic() < deadline:
            pass
        child.kill()
        child.communicate()
        for image in cache.rglob("*.npubin"):
            if not any(part.startswith("tmp.") for part in image.parts):
                _runtime.load(image.read_bytes())  # refuses all but a whole image
        for listing in cache.rglob("*.json"):
            if not any(part.startswith("tmp.") for part in listing.parts):
                json.loads(listing.read_text())
    again = run_script(tmp_path, "assert works()", TRITON_CACHE_DIR=str(tmp_path / "cache2"))
    assert again.returncode == 0, again.stderr


def test_processes_share_a_cache(tmp_path):
    script = write_script(tmp_path, "assert works()")
    env = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    children = [
        subprocess.Popen([sys.executable, str(script)], env=env, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    errors = [child.communicate(timeout=240)[1] for child in children]
    assert [child.returncode for child in children] == [0] * 4, errors


def test_spawned_after_launch(tmp_path):
    child = run_script(
        tmp_path,
        """
        import multiprocessing as mp
        def job(k):
            return works(1000 + k)
        if __name__ == "__main__":
            assert works()
            with mp.get_context("fork").Pool(2) as pool:
                assert all(pool.map(job, range(4)))
        """,
    )
    assert child.returncode == 0, child.stderr


def tool(name):
    """A built tool, from PATH or beside the staged Python package."""
    found = shutil.which(name)
    if found:
        return found
    import piton

    for folder in pathlib.Path(piton.__file__).absolute().parents:
        if (folder / "tools" / name).exists():
            return str(folder / "tools" / name)
    pytest.skip(f"{name} is not built")


GOOD = """module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %b = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %r, %b : tensor<64xi32>
    %x = tt.load %a, %m : tensor<64x!tt.ptr<f32>>
    %y = arith.addf %x, %x : tensor<64xf32>
    tt.store %a, %y, %m : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""


def compile_text(text, *flags):
    """piton-compile on a text; a crash (signal, or an abort's stack dump) fails."""
    child = subprocess.run(
        [tool("piton-compile"), "-", "-o", "/dev/null", "--reproducer=none", *flags],
        input=text, capture_output=True, text=True, timeout=300, errors="replace",
    )  # fmt: skip
    assert child.returncode >= 0 and child.returncode < 128, child.stderr[-3000:]
    assert "Stack dump" not in child.stderr, child.stderr[-3000:]
    return child


def test_good_text():
    child = compile_text(GOOD)
    assert child.returncode == 0, child.stderr


def test_truncated_text():
    for end in range(1, len(GOOD) - 3, 23):
        child = compile_text(GOOD[:end], "--emit=ttir")
        assert child.returncode == 0 or child.stderr.strip(), f"silent at {end}"


BAD = {
    "unknown op": GOOD.replace("tt.splat %p", "tt.no_such_op %p"),
    "wrong type": GOOD.replace("arith.addf", "arith.addi"),
    "wrong shape": GOOD.replace("%b = tt.splat %n : i32 -> tensor<64xi32>",
                                "%b = tt.splat %n : i32 -> tensor<32xi32>"),
    "too large": GOOD.replace("64", "2097152"),
    "binary": "\x00\x01\x02\x7fELF",
    "empty file": "",
    "no kernel": "module {}",
    "deep nesting": "module {" * 200_000,
    "deep types": "module { tt.func @k(%a: " + "tensor<1x" * 100_000,
    "deep attributes": 'module attributes {a = ' + "[" * 100_000,
    "huge number": GOOD.replace("end = 64 : i32", "end = 99999999999999999999999 : i32"),
    "negative range": GOOD.replace("start = 0", "start = 100"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_text(name):
    child = compile_text(BAD[name])
    assert child.returncode != 0 and child.stderr.strip()


@triton.jit
def plain_kernel(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, i)


def test_override_with_broken_text(tmp_path):
    """A broken hand-written stage is one error, and the next kernel still compiles."""
    path = tmp_path / "broken.ttir"
    path.write_text(GOOD[:200])
    with pytest.raises(Exception):  # noqa: B017 - whichever class the stock loader chooses
        triton.compile(str(path), target=triton.runtime.driver.active.get_current_target())
    out = torch.zeros(16, dtype=torch.int32)
    plain_kernel[(1,)](out, N=16)
    assert out.tolist() == list(range(16))


def test_compile_from_a_file(tmp_path):
    path = tmp_path / "k.ttir"
    path.write_text(GOOD)
    target = triton.runtime.driver.active.get_current_target()
    kernel = triton.compile(str(path), target=target)
    x = torch.arange(64.0)
    kernel[(1, 1, 1)](x, 10)
    want = torch.arange(64.0)
    want[:10] *= 2
    assert torch.equal(x, want)
