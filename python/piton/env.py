# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Environment variables of Piton and of the Ascend tool chain, read in one place.

Values are read at use, never at import: tests and scripts change them.
"""

from __future__ import annotations

import os

from .options import DEFAULT_TARGET, TARGETS

#: Variables that change what is compiled: part of the cache key. Stock's own list
#: (fixed in C++) holds none of them.
CACHE_RELEVANT = (
    "PITON_BACKEND",
    "PITON_HOST_CPU",
    "PITON_MODE",
    "PITON_SHMEM_BITCODE",
    "PITON_STRICT",
    "TRITON_ALL_BLOCKS_PARALLEL",
    "TRITON_ASCEND_ARCH",
    "TRITON_ASCEND_COMPILE_MODE",
    "TRITON_DEVICE_PRINT",
    "TRITON_DISABLE_FFTS",
    "TRITON_DISABLE_LINE_INFO",
    "TRITON_ENABLE_LIBDEVICE_SIMT",
    "TRITON_ENABLE_SANITIZER",
    "TRITON_NPU_COMPILER_PATH",
)


def flag(name: str, default: bool = False) -> bool:
    """A boolean variable: 1, true, yes, on (any case) enable."""
    value = os.environ.get(name)
    if value is None:
        return default
    return value.strip().lower() in ("1", "true", "yes", "on", "y")


def backend() -> str:
    """PITON_BACKEND: simulator (default) or bisheng."""
    value = os.environ.get("PITON_BACKEND", "simulator")
    if value not in ("simulator", "bisheng"):
        raise ValueError(f"PITON_BACKEND = {value} is invalid; it takes simulator or bisheng")
    return value


def mode() -> str:
    """PITON_MODE: fast (default) or model."""
    value = os.environ.get("PITON_MODE", "fast")
    if value not in ("fast", "model"):
        raise ValueError(f"PITON_MODE = {value} is invalid; it takes fast or model")
    return value


def arch() -> str:
    """The SoC that is simulated: TRITON_ASCEND_ARCH, by default Ascend910B3."""
    value = os.environ.get("TRITON_ASCEND_ARCH", DEFAULT_TARGET)
    if value not in TARGETS:
        raise ValueError(f"TRITON_ASCEND_ARCH = {value} is invalid! Candidates: {list(TARGETS)}")
    return value


def cache_key() -> str:
    """The cache-relevant variables as text."""
    return ";".join(f"{name}={os.environ.get(name, '')}" for name in CACHE_RELEVANT)
