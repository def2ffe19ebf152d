# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of several processes that need the same kernel at once, one compiles it."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from triton import knobs

from piton import compile_lock

RANK = """
import os, sys, time
os.environ["PITON_ACTIVE"] = "1"
import torch, triton, triton.language as tl
from triton import knobs
from triton.runtime.jit import MockTensor

@triton.jit
def kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.exp(tl.load(x + i)))

def told(src, metadata, metadata_group, times, cache_hit):
    print("hit" if cache_hit else "compiled", flush=True)

knobs.compilation.listener = told
print("ready", flush=True)
sys.stdin.readline()
kernel.warmup(MockTensor(tl.float32), N=512, grid=(1,))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.slow  # three times `import torch`
def test_ranks_compile_a_kernel_once(tmp_path, cache):
    script = tmp_path / "rank.py"
    script.write_text(RANK)
    env = {**os.environ, "TRITON_CACHE_DIR": str(cache)}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(script)], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    for rank in ranks:
        assert rank.stdout.readline() == "ready\n"
    for rank in ranks:
        rank.stdin.write("go\n")
        rank.stdin.flush()
    said = sorted(rank.communicate(timeout=300)[0].strip() for rank in ranks)
    assert said == ["compiled", "hit", "hit"]


def hold(cache, key):
    """A process that has the lock of `key` until it ends."""
    code = (
        "import sys, time; from triton import knobs; from piton import compile_lock\n"
        "knobs.cache.dir = sys.argv[1]\n"
        "with compile_lock.one_at_a_time(sys.argv[2]): print('has it', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(cache), key], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "has it\n"
    return holder


def test_a_holder_that_dies_gives_the_lock_back(cache):
    holder = hold(cache, "k")
    start = time.monotonic()
    threading.Timer(0.3, lambda: os.kill(holder.pid, signal.SIGKILL)).start()
    with compile_lock.one_at_a_time("k"):
        assert 0.2 < time.monotonic() - start < 40  # the holder would keep it for 60
    holder.wait()


def test_patience_ends(cache, monkeypatch):
    monkeypatch.setattr(compile_lock, "PATIENCE", 0.2)
    holder = hold(cache, "k")
    start = time.monotonic()
    with compile_lock.one_at_a_time("k"):
        assert time.monotonic() - start >= 0.2
    holder.kill()
    holder.wait()


def test_a_compilation_inside_another_does_not_wait_for_it():
    start = time.monotonic()
    with compile_lock.one_at_a_time("k"), compile_lock.one_at_a_time("k"):
        assert time.monotonic() - start < 5


def test_an_error_gives_the_lock_back(cache):
    with pytest.raises(ZeroDivisionError), compile_lock.one_at_a_time("k"):
        1 / 0  # noqa: B018
    assert hold(cache, "k").kill() is None


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "file" / "cache"))
    with compile_lock.one_at_a_time("k"):
        pass


def test_always_compile_takes_no_lock(cache, monkeypatch):
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    with compile_lock.one_at_a_time("k"):
        assert not cache.exists()
