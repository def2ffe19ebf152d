# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams and events of the npu device.

Both are torch's own: the device's guard (C++) makes, orders and times them, so `torch.Stream`,
`torch.Event` and these names mean the same objects.
"""

from __future__ import annotations

import torch

from ._device import current_device, device_index
from ._native import ops

#: torch's number for the device type behind the name npu.
_DEVICE_TYPE = 20


class Stream(torch.Stream):
    """A queue of work on one device; work in it runs in order.

    device: the device, by default the current one. priority: accepted, all streams are equal.
    """

    def __new__(cls, device=None, priority=0, **kwargs):
        if "stream_id" in kwargs:
            return super().__new__(cls, **kwargs)
        if kwargs:
            raise TypeError(f"Stream() takes device and priority, not {', '.join(kwargs)}")
        index = device_index(device)
        return super().__new__(cls, torch.device("npu", index), priority=priority)

    @property
    def npu_stream(self) -> int:
        """The runtime's handle of the stream, as a kernel launch takes it."""
        return ops().stream_handle(self.stream_id, self.device_index)

    @property
    def _as_parameter_(self):
        import ctypes

        return ctypes.c_void_p(self.npu_stream)

    def record_event(self, event=None):
        """Records `event`, or a new one, after the work that is now in this stream."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other):
        return isinstance(other, torch.Stream) and super().__eq__(other)

    __hash__ = torch.Stream.__hash__

    def __repr__(self):
        return f"<torch.npu.Stream device={self.device} npu_stream={self.npu_stream:#x}>"


class ExternalStream(Stream):
    """A stream that was made outside torch, by its handle. Whoever made it keeps it alive."""

    def __new__(cls, stream_ptr: int, device=None, **kwargs):
        return super().__new__(
            cls,
            stream_id=int(stream_ptr),
            device_index=device_index(device),
            device_type=_DEVICE_TYPE,
        )


class _EventMeta(type):
    # torch.Event.wait and elapsed_time insist on the exact type torch.Event: no subclass.
    def __instancecheck__(cls, value):
        return type(value) is torch.Event and value.device.type == "npu"


class Event(metaclass=_EventMeta):
    """`Event(enable_timing=False, blocking=False, interprocess=False)`: a mark in a stream.

    It has record(stream=None), wait(stream=None), query(), synchronize() and
    elapsed_time(end) in milliseconds.
    """

    def __new__(cls, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise NotImplementedError(
                "Event(interprocess=True): events between processes are not part of the simulated "
                "device; use torch.distributed to order processes"
            )
        return torch.Event("npu", enable_timing=enable_timing, blocking=blocking)


def _own(stream: torch.Stream) -> Stream:
    if isinstance(stream, Stream):
        return stream
    return Stream(
        stream_id=stream.stream_id,
        device_index=stream.device_index,
        device_type=stream.device_type,
    )


def current_stream(device=None) -> Stream:
    """The stream that work on `device` goes to now, for the calling thread."""
    return _own(torch._C._accelerator_getStream(device_index(device)))


def default_stream(device=None) -> Stream:
    """The stream that a device starts with."""
    return Stream(stream_id=0, device_index=device_index(device), device_type=_DEVICE_TYPE)


def set_stream(stream: torch.Stream) -> None:
    """Makes `stream` current on its device, without changing the current device."""
    if stream is None:
        return
    previous = current_device()
    torch._C._accelerator_setStream(stream)
    if current_device() != previous:
        torch._C._accelerator_setDeviceIndex(previous)


class StreamContext:
    """`with torch.npu.stream(s):` work goes to `s`, on the device of `s`. None: no change."""

    def __init__(self, stream):
        if stream is not None and not isinstance(stream, torch.Stream):
            raise TypeError(f"torch.npu.stream() takes a stream or None, not {stream!r}")
        self.stream = stream
        self._before = []

    def __enter__(self):
        if self.stream is None:
            self._before.append(None)
            return
        index = self.stream.device_index
        self._before.append((current_device(), torch._C._accelerator_getStream(index)))
        torch._C._accelerator_setStream(self.stream)
        torch._C._accelerator_setDeviceIndex(index)

    def __exit__(self, *_):
        before = self._before.pop()
        if before is not None:
            device, stream = before
            torch._C._accelerator_setStream(stream)
            torch._C._accelerator_setDeviceIndex(device)
        return False


def stream(stream) -> StreamContext:
    """See StreamContext."""
    return StreamContext(stream)


def synchronize(device=None) -> None:
    """Waits until all work of `device` (default: the current one) is done."""
    torch._C._accelerator_synchronizeDevice(device_index(device))
