# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that Ascend scripts and backends take from torch_npu's native module."""

import torch.npu as _npu

from piton import _runtime

_npu_getDevice = _npu.current_device
_npu_setDevice = _npu.set_device
_npu_getDeviceCount = _npu.device_count
#: The handle of this thread's current stream of a device, as launches take it.
_npu_getCurrentRawStream = _runtime.current_stream
#: There is no task queue that could hold launches back, so nothing is waited for in either.
_npu_getCurrentRawStreamNoWait = _npu_getCurrentRawStream
