# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the device's library and registers `npu` with torch. Imported once a process."""

from __future__ import annotations

import functools
import importlib.util

import torch
from torch.utils.dlpack import DLDeviceType

from .autoload import version_problem


def _load_library() -> None:
    """Loads the kernels. Raises ImportError if they are for another torch or are not built."""
    problem = version_problem()
    if problem is not None:
        raise ImportError(problem)
    # First Piton's own module: it brings the libpiton_runtime that this process uses.
    import piton._runtime

    piton._runtime.device_count()  # raises if the environment asks for what does not exist
    # An editable install has the library in another folder than this file.
    spec = importlib.util.find_spec("piton_torch._npu")
    if spec is None or spec.origin is None:
        raise ImportError("piton_torch/_npu.so is missing; build it with `make build`")
    torch.ops.load_library(spec.origin)


def _register() -> None:
    from . import hccl, npu

    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", npu)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    hccl.register()


def _patch_dlpack() -> None:
    """`Tensor.__dlpack_device__` knows a device of this kind by its name before the rename only."""
    stock = torch.Tensor.__dlpack_device__

    @functools.wraps(stock)
    def __dlpack_device__(self):
        if self.device.type == "npu":
            return DLDeviceType.kDLExtDev, self.device.index
        return stock(self)

    torch.Tensor.__dlpack_device__ = __dlpack_device__


def _is_on_npu(value) -> bool:
    device = value.device if isinstance(value, torch.Tensor) else value
    return isinstance(device, (str, torch.device)) and str(device).split(":")[0] == "npu"


def _patch_inductor() -> None:
    """torch.compile's own back end generates no code for npu and would fail deep inside itself."""
    wrapper = torch._TorchCompileInductorWrapper
    stock = wrapper.__call__

    @functools.wraps(stock)
    def __call__(self, model_, inputs_, **options):
        values = [*inputs_, *model_.parameters(), *model_.buffers()]
        for node in model_.graph.nodes:
            values += [node.kwargs.get("device"), *node.args]
        if any(_is_on_npu(value) for value in values):
            raise RuntimeError(
                "torch.compile: the back end inductor generates no code for device npu; use "
                "backend='aot_eager' or backend='eager'"
            )
        return stock(self, model_, inputs_, **options)

    wrapper.__call__ = __call__


_load_library()
_register()
_patch_dlpack()
_patch_inductor()
