# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symmetric tensors: ordinary torch tensors whose memory lies in the symmetric heap.

They lie on `npu` once the process has used that device and on the CPU otherwise; the memory is the
same. torch is imported when the first tensor is made.
"""

from __future__ import annotations

import math
import sys

from . import _pyshmem

#: DLPack's device types.
_CPU, _EXTENSION = 1, 12


def _uses_npu() -> bool:
    """The program has chosen an npu device, or has memory on one."""
    npu = getattr(sys.modules.get("torch"), "npu", None)
    if not npu or not npu.is_available():
        return False
    state = sys.modules.get("piton_torch.npu._device")
    if state is None:  # another torch_npu
        return npu.is_initialized()
    used = (npu.max_memory_allocated(index) for index in range(npu.device_count()))
    return state.was_chosen or any(used)


def calc_nbytes(shape, dtype) -> int:
    """Bytes of a contiguous tensor; `shape` is an int or a sequence of ints, None gives 0.

    Raises ValueError for a negative dimension.
    """
    if shape is None:
        return 0
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(dim < 0 for dim in dims):
        raise ValueError(f"shape {dims} has a negative dimension")
    return math.prod(dims) * dtype.itemsize


def construct_tensor_from_ptr(ptr: int, shape, dtype, device_id: int = 0):
    """A contiguous tensor of `shape` over the memory at address `ptr`, which it does not own.

    Raises TypeError if `ptr` is no int and ValueError if it is 0 or negative.
    """
    import torch

    if not isinstance(ptr, int):
        raise TypeError(f"the pointer is a {type(ptr).__name__}, expected an int")
    if ptr <= 0:
        raise ValueError(f"the pointer is {ptr}, expected an address")
    nbytes = calc_nbytes(shape, dtype)
    kind = (_EXTENSION, device_id) if _uses_npu() else (_CPU, 0)
    raw = torch.from_dlpack(_pyshmem.bytes_at(ptr, nbytes, *kind))
    return raw.view(dtype).view(shape)


def aclshmem_create_tensor(shape, dtype=None, device_id: int = 0):
    """Collective: a tensor of `dtype` (torch.float32) in the symmetric heap, not cleared.

    Every PE must make the same call. `device_id` is the npu device it belongs to. Raises ValueError
    for an empty or negative shape, RuntimeError if the heap is too small or the PEs differ.
    """
    import torch

    dtype = dtype or torch.float32
    nbytes = calc_nbytes(shape, dtype)
    if nbytes == 0:
        raise ValueError(f"shape {shape} has no elements; the symmetric heap has no empty blocks")
    return construct_tensor_from_ptr(_pyshmem.aclshmem_malloc(nbytes), shape, dtype, device_id)


def aclshmem_free_tensor(tensor) -> None:
    """Collective: frees a tensor of aclshmem_create_tensor; nobody may use it any more."""
    _pyshmem.aclshmem_free(tensor.data_ptr())
