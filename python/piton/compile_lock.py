# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ranks of a job compile the same kernels at the same moment. Among the processes that share a
Triton cache one compiles a kernel, the others wait and then find it in the cache.

The lock only saves work: a process that cannot take it, or not in time, compiles by itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time

try:
    import fcntl
except ImportError:
    fcntl = None

#: Longest wait for another process, in seconds: it may have been stopped, not only be slow.
PATIENCE = 60.0

_held = threading.local()


def _lock_file(key: str) -> int | None:
    """A new descriptor of the file that stands for `key`, one of 256 below the cache's folder."""
    from triton import knobs

    folder = os.path.join(knobs.cache.dir, "piton-locks")
    name = hashlib.sha256(key.encode()).hexdigest()[:2]
    try:
        os.makedirs(folder, exist_ok=True)
        return os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _acquire(descriptor: int) -> None:
    """Returns with the lock, or without it once that has taken too long or cannot be had."""
    deadline = time.monotonic() + PATIENCE
    pause = 0.002
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        except OSError:
            return


@contextlib.contextmanager
def one_at_a_time(key: str):
    """While the block runs, no other process of this cache runs a block of the same key.

    key: any text that names the kernel and its specialization. A kernel that is compiled inside of
    another's compilation takes no lock of its own. A process that ends gives its lock back.
    """
    from triton import knobs

    outer = getattr(_held, "yes", False)
    descriptor = None
    if fcntl and not outer and not knobs.compilation.always_compile:
        descriptor = _lock_file(key)
    if descriptor is None:
        yield
        return
    _held.yes = True
    try:
        _acquire(descriptor)
        yield
    finally:
        _held.yes = False
        # A process forked in between has the descriptor too; closing ours alone would not unlock.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
