# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which npu device: indices, the current device, what a device is.

A device argument is None (the current device), an index, a string or a torch.device. Errors name
the index and how many devices there are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

#: The device of the calling thread, in 0.1 microseconds.
current_device = torch._C._accelerator_getDeviceIndex


@functools.cache
def device_count() -> int:
    """How many simulated devices there are: PITON_DEVICE_COUNT at start, 8 without it."""
    from piton import _runtime

    return _runtime.device_count()


def is_available() -> bool:
    """True: a simulated device is always there."""
    return device_count() > 0


def device_index(device=None, *, optional: bool = True) -> int:
    """The index that `device` means.

    Raises ValueError for a device of another type and for None where `optional` is false,
    RuntimeError for an index that does not exist, TypeError for anything that is no device.
    """
    if device is None:
        if not optional:
            raise ValueError("an npu device with an index is expected, such as 'npu:0', not None")
        return current_device()
    if isinstance(device, bool) or not isinstance(device, (int, str, torch.device)):
        raise TypeError(f"an npu device is an index, a string or a torch.device, not {device!r}")
    if isinstance(device, int):
        index = device
    else:
        try:
            device = torch.device(device)
        except RuntimeError as error:
            raise ValueError(f"{device!r} names no device: {error}") from None
        if device.type != "npu":
            raise ValueError(f"an npu device is expected, such as 'npu:0', not {str(device)!r}")
        index = current_device() if device.index is None else device.index
    if not 0 <= index < device_count():
        raise RuntimeError(
            f"npu device index is {index}; there are {device_count()} devices "
            f"(npu:0 .. npu:{device_count() - 1}), and PITON_DEVICE_COUNT sets how many"
        )
    return index


#: The program has chosen a device: symmetric tensors then lie on npu.
was_chosen = False


def set_device(device) -> None:
    """Makes `device` the current device of the calling thread. A negative index is ignored."""
    global was_chosen
    if isinstance(device, int) and not isinstance(device, bool) and device < 0:
        return
    was_chosen = True
    torch._C._accelerator_setDeviceIndex(device_index(device, optional=False))


class device:
    """Context manager: `with torch.npu.device(1): ...`. None or a negative index: no change."""

    def __init__(self, device):
        negative = isinstance(device, int) and not isinstance(device, bool) and device < 0
        self.idx = -1 if device is None or negative else device_index(device)
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = current_device()
        if self.idx >= 0:
            torch._C._accelerator_setDeviceIndex(self.idx)
        return self

    def __exit__(self, *_):
        torch._C._accelerator_setDeviceIndex(self.prev_idx)
        return False


class device_of(device):
    """Context manager: the device of an npu tensor or storage is current; others change nothing."""

    def __init__(self, obj):
        super().__init__(obj.device if obj.device.type == "npu" else None)


@dataclass(frozen=True)
class DeviceProperties:
    """One device, as its hardware model describes it. Memory in bytes, the clock in MHz."""

    name: str
    arch: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int
    ai_core_num: int
    L2_cache_size: int
    ub_bytes: int
    l1_bytes: int
    l0c_bytes: int
    clock_mhz: int
    major: int = 0
    minor: int = 0

    @property
    def multi_processor_count(self) -> int:
        return self.ai_core_num


def get_device_properties(device=None) -> DeviceProperties:
    """What a device is: its SoC's name, memory and core counts."""
    from piton import _runtime

    p = _runtime.device_properties(device_index(device))
    return DeviceProperties(
        name=p["name"],
        arch=p["arch"],
        total_memory=p["memory_bytes"],
        cube_core_num=p["num_cubecore"],
        vector_core_num=p["num_vectorcore"],
        ai_core_num=p["num_aicore"],
        L2_cache_size=p["l2_bytes"],
        ub_bytes=p["ub_bytes"],
        l1_bytes=p["l1_bytes"],
        l0c_bytes=p["l0c_bytes"],
        clock_mhz=p["clock_mhz"],
    )


def get_device_name(device=None) -> str:
    """The SoC of a device, such as Ascend910B3."""
    return get_device_properties(device).name


def get_device_capability(device=None) -> None:
    """None: an NPU has no compute capability numbers, as torch_npu answers too."""
    device_index(device)


def can_device_access_peer(device, peer_device) -> bool:
    """Whether a device may address the memory of another: all simulated devices may."""
    device, peer = device_index(device, optional=False), device_index(peer_device, optional=False)
    return device != peer
