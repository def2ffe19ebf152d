# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of the npu device: figures of its allocator, in bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from ._device import device_index


def memory_allocated(device=None) -> int:
    """Bytes in live tensors."""
    return torch.accelerator.memory_allocated(device_index(device))


def max_memory_allocated(device=None) -> int:
    """The largest memory_allocated() since the start or reset_peak_memory_stats()."""
    return torch.accelerator.max_memory_allocated(device_index(device))


def memory_reserved(device=None) -> int:
    """Bytes that the allocator holds: live tensors and blocks kept for the next ones."""
    return torch.accelerator.memory_reserved(device_index(device))


def max_memory_reserved(device=None) -> int:
    """The largest memory_reserved() since the start or reset_peak_memory_stats()."""
    return torch.accelerator.max_memory_reserved(device_index(device))


def memory_cached(device=None) -> int:
    """The old name of memory_reserved()."""
    return memory_reserved(device)


def max_memory_cached(device=None) -> int:
    """The old name of max_memory_reserved()."""
    return max_memory_reserved(device)


def reset_peak_memory_stats(device=None) -> None:
    """Peaks start again from what is in use now."""
    torch.accelerator.reset_peak_memory_stats(device_index(device))


def reset_max_memory_allocated(device=None) -> None:
    """As reset_peak_memory_stats(): it resets every peak."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device=None) -> None:
    """As reset_peak_memory_stats(): it resets every peak."""
    reset_peak_memory_stats(device)


def reset_accumulated_memory_stats(device=None) -> None:
    """Counters of all that was ever allocated start again from 0."""
    torch.accelerator.reset_accumulated_memory_stats(device_index(device))


def memory_stats(device=None) -> OrderedDict[str, Any]:
    """All figures of the allocator by name, such as `allocated_bytes.all.peak`."""
    return torch.accelerator.memory_stats(device_index(device))


def memory_stats_as_nested_dict(device=None) -> dict[str, Any]:
    """memory_stats() with one dictionary a level."""
    out: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        at = out
        *path, last = name.split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
    return out


def mem_get_info(device=None) -> tuple[int, int]:
    """(free, total) bytes of the device; total is its SoC's global memory."""
    return torch.accelerator.get_memory_info(device_index(device))


def empty_cache() -> None:
    """Gives blocks without a tensor back to the device."""
    torch.accelerator.empty_cache()


def get_allocator_backend() -> str:
    """The kind of allocator: native."""
    return "native"


def memory_summary(device=None, abbreviated: bool = False) -> str:
    """A table of the allocator's figures for people."""
    index = device_index(device)
    free, total = mem_get_info(index)
    rows = [
        ("allocated", memory_allocated(index), max_memory_allocated(index)),
        ("reserved", memory_reserved(index), max_memory_reserved(index)),
        ("in use on the device", total - free, None),
        ("capacity", total, None),
    ]
    lines = [f"npu:{index} memory", f"{'':22}{'now':>14}{'peak':>14}"]
    for name, now, peak in rows:
        peak = "" if peak is None else _readable(peak)
        lines.append(f"{name:22}{_readable(now):>14}{peak:>14}")
    return "\n".join(lines) + "\n"


def _readable(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
