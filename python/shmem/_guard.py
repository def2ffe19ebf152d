# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the native module, and refuses a process that has two symmetric heap libraries.

Two of them would each have a device state for the one address that kernels read it at.
"""

from __future__ import annotations

import os

from piton import _interrupts

_OURS = "libpiton_runtime.so"
_FOREIGN = ("libshmem.so", "libaclshmem.so", "libshmem_host.so")


def mapped(names, maps: str = "/proc/self/maps") -> list[str]:
    """Paths of the mapped files with one of these names, or with a version behind it."""
    paths = set()
    with open(maps) as lines:
        for line in lines:
            path = line.split(maxsplit=5)[5:]
            name = os.path.basename(path[0].strip()) if path else ""
            if any(name == known or name.startswith(known + ".") for known in names):
                paths.add(os.path.realpath(path[0].strip()))
    return sorted(paths)


def load(maps: str = "/proc/self/maps"):
    """The module `shmem._pyshmem`. Raises ImportError for a second library, naming both."""
    foreign = mapped(_FOREIGN, maps)
    if foreign:
        raise ImportError(
            f"shmem: this process has loaded another symmetric heap, {', '.join(foreign)}; "
            "run without it, or with the package that belongs to it"
        )
    try:
        native = _interrupts.load("shmem._pyshmem")
    except ImportError as error:
        raise ImportError(
            f"shmem: cannot load its native module: {error}; `shmem-config --diagnose` says where "
            "it is looked for"
        ) from error
    ours = mapped((_OURS,), maps)
    if len(ours) > 1:
        raise ImportError(
            f"shmem: this process has loaded {_OURS} twice, {' and '.join(ours)}; keep one "
            "installation on PYTHONPATH and LD_LIBRARY_PATH"
        )
    return native
