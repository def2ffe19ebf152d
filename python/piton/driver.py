# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's driver for the npu target: which device, how to load and launch."""

from __future__ import annotations

import os

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from . import env
from .frontend import patch_block_shapes

__all__ = ["NPUDriver"]

patch_block_shapes()


def _forced() -> bool | None:
    """PITON_ACTIVE: True chooses Piton beside a real accelerator, False never, None by rule."""
    return env.flag("PITON_ACTIVE") if os.environ.get("PITON_ACTIVE") else None


def _step_aside(driver_class) -> None:
    """Makes another driver inactive while PITON_ACTIVE=1 chooses Piton."""
    stock = driver_class.__dict__.get("is_active")
    if stock is None or getattr(driver_class, "_piton_wrapped", None) is driver_class:
        return
    bound = stock.__get__(None, driver_class)

    def is_active(cls):
        return False if _forced() else bound()

    driver_class.is_active = classmethod(is_active)
    driver_class._piton_wrapped = driver_class


def _watch_drivers() -> None:
    """PITON_ACTIVE=1 must win over drivers loaded before and after this module.

    Stock asks every registered driver and takes the only active one; their order is
    that of the entry points, so the others are wrapped as their classes appear.
    """

    def visit(cls):
        for sub in cls.__subclasses__():
            if sub.__name__ != "NPUDriver":
                _step_aside(sub)
            visit(sub)

    visit(DriverBase)

    def init_subclass(cls, **kwargs):
        super(DriverBase, cls).__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            _step_aside(cls)

    DriverBase.__init_subclass__ = classmethod(init_subclass)


_watch_drivers()


class NPUDriver(DriverBase):
    """The simulated NPU."""

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def is_active(cls) -> bool:
        forced = _forced()
        if forced is not None:
            return forced
        from triton.backends import backends

        others = (b.driver for b in backends.values() if b.driver is not cls)
        return not any(other.is_active() for other in others)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("npu", env.arch(), 0)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError

    def get_benchmarker(self):
        from triton.testing import do_bench

        return do_bench
