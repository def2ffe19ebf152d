# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that Ascend scripts and backends take from torch_npu's native module."""

import torch.npu as _npu

_npu_getDevice = _npu.current_device
_npu_setDevice = _npu.set_device
_npu_getDeviceCount = _npu.device_count


def _npu_getCurrentRawStream(device: int) -> int:
    """The handle of the current stream of a device; 0 for its default stream."""
    return _npu.current_stream(device).npu_stream


#: There is no task queue that could hold launches back, so nothing is waited for in either.
_npu_getCurrentRawStreamNoWait = _npu_getCurrentRawStream
