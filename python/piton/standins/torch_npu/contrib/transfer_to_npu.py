# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Importing this module makes a script written for CUDA run on npu: the names of torch.cuda,
`.cuda()`, `device="cuda"` and the back end nccl mean their npu counterparts from then on.

It reaches what scripts write out: factory functions, Tensor and Module methods, torch.device,
torch.cuda and torch.distributed. Devices that torch's own Python code spells "cuda" stay so.
"""

import functools
import types

import torch
import torch.distributed as dist

_FACTORIES = (
    "arange", "as_tensor", "empty", "empty_like", "empty_strided", "eye", "full", "full_like",
    "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "range", "tensor", "tril_indices",
    "triu_indices", "zeros", "zeros_like",
)  # fmt: skip
_TENSOR_METHODS = ("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "to")


def _npu(value):
    """`value` with a cuda device replaced by the npu device of that index."""
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "npu" + value[4:]
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("npu", value.index) if value.index is not None else torch.device("npu")
    return value


def _with_npu_devices(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        args = [_npu(arg) for arg in args]
        for name in ("device", "device_type"):
            if name in kwargs:
                kwargs[name] = _npu(kwargs[name])
        return function(*args, **kwargs)

    return call


class _DeviceMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _device)


_device = torch.device


class _Device(metaclass=_DeviceMeta):
    def __new__(cls, *args, **kwargs):
        args = [_npu(arg) for arg in args]
        if "type" in kwargs:
            kwargs["type"] = _npu(kwargs["type"])
        return _device(*args, **kwargs)


def _apply():
    for name in _FACTORIES:
        setattr(torch, name, _with_npu_devices(getattr(torch, name)))
    for name in _TENSOR_METHODS:
        setattr(torch.Tensor, name, _with_npu_devices(getattr(torch.Tensor, name)))
    torch.Tensor.cuda = lambda self, device=None, *a, **k: self.npu(_npu(device), *a, **k)
    torch.Tensor.is_cuda = property(lambda self: self.device.type == "npu")
    torch.nn.Module.cuda = lambda self, device=None: self.npu(_npu(device))
    torch.nn.Module.to = _with_npu_devices(torch.nn.Module.to)
    torch.device = _Device
    _adopt(torch.cuda, torch.npu)
    # An npu has no capability of CUDA's kind (torch.npu answers None), but code compares it.
    torch.cuda.get_device_capability = lambda device=None: (0, 0)
    torch.autocast.__init__ = _with_npu_devices(torch.autocast.__init__)
    if dist.is_available():
        _apply_distributed()


def _adopt(module, source):
    """Gives `module` the public names that `source` has too. Its own submodules stay and are
    treated in the same way: torch.compile takes names like torch.cuda.amp.autocast_mode from them.
    """
    for name in dir(module):
        if name.startswith("_") or not hasattr(source, name):
            continue
        mine = getattr(module, name)
        if not isinstance(mine, types.ModuleType):
            setattr(module, name, getattr(source, name))
        elif mine.__name__.startswith(module.__name__ + "."):
            _adopt(mine, getattr(source, name))


def _apply_distributed():
    start = dist.init_process_group

    @functools.wraps(start)
    def init_process_group(backend=None, *args, **kwargs):
        backend = {"nccl": "hccl", "cpu:gloo,cuda:nccl": "cpu:gloo,npu:hccl"}.get(backend, backend)
        return start(backend, *args, **kwargs)

    dist.init_process_group = init_process_group
    group = dist.new_group

    @functools.wraps(group)
    def new_group(ranks=None, timeout=None, backend=None, *args, **kwargs):
        return group(ranks, timeout, "hccl" if backend == "nccl" else backend, *args, **kwargs)

    dist.new_group = new_group


_apply()
