# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.npu.utils`: names that Ascend scripts take from there."""

from __future__ import annotations

from ._device import (
    current_device,
    device,
    device_count,
    device_of,
    get_device_name,
    get_device_properties,
    is_available,
    set_device,
)
from .streams import current_stream, default_stream, set_stream, stream, synchronize

__all__ = [
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
]
