# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's driver for the npu target: which device, how to load and launch.

Tensors of the torch `npu` device and, without any of those in the launch, CPU tensors
are kernel arguments. A launch that touches host memory is complete when it returns.
"""

from __future__ import annotations

import os
import sys

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from . import env
from .frontend import install_early, launch_stream

__all__ = ["NPUDriver"]

install_early()


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
            _step_aside(sub)
            visit(sub)

    visit(DriverBase)

    def init_subclass(cls, **kwargs):
        super(DriverBase, cls).__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            _step_aside(cls)

    DriverBase.__init_subclass__ = classmethod(init_subclass)


_watch_drivers()


def torch_npu():
    """`torch.npu` when torch is loaded and has the npu device, else None."""
    return getattr(sys.modules.get("torch"), "npu", None)


class HostInterface:
    """Device interface for CPU tensors: what `triton.testing.do_bench` needs.

    Launches that touch host memory are complete when they return, so an event is the
    time at which it was recorded.
    """

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def set_device(device) -> None:
        if device not in (0, None):
            raise ValueError(f"CPU tensors run on simulated device 0, not on {device}")

    @staticmethod
    def device_count() -> int:
        from . import _runtime

        return _runtime.device_count()

    @staticmethod
    def synchronize(device=None) -> None:
        from . import _runtime

        _runtime.device_synchronize(device or 0)

    @staticmethod
    def Event(*args, **kwargs):
        from . import _runtime

        return _runtime.Event(*args, **kwargs)


class NPUUtils:
    """What stock and Ascend scripts ask of `driver.active.utils`."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int):
        """Loads a kernel image: (module, function handle, registers, spills, max threads)."""
        from . import _runtime

        module = _runtime.load(kernel)
        return module, module.handle, 0, 0, 0

    def load_kernel_binary(self, name, kernel, shared, device, mix_mode=""):
        """As load_binary; the cube and vector mix is part of the image."""
        return self.load_binary(name, kernel, shared, device)

    def unload_module(self, module) -> None:
        """Nothing to do: an image goes with the last reference to its module."""

    def get_device_properties(self, device=0) -> dict:
        """Core counts and memory sizes (bytes) of a device, by index or as "npu"."""
        from . import _runtime

        properties = _runtime.device_properties(device if isinstance(device, int) else 0)
        # `shared` of a kernel is always 1: local memory is checked by the compiler.
        return {**properties, "max_shared_mem": 1, "warpSize": 0}

    def get_aicore_num(self) -> int:
        return self.get_device_properties()["num_aicore"]

    def get_aivector_core_num(self) -> int:
        return self.get_device_properties()["num_vectorcore"]

    def get_arch(self) -> str:
        return env.arch()

    def create_stream(self, device: int = 0) -> int:
        from . import _runtime

        return _runtime.stream_create(device)

    def allocate_device_memory(self, size: int, device: int = 0) -> int:
        from . import _runtime

        return _runtime.memory_allocate(size, device)

    def allocate_host_memory(self, size: int):
        import ctypes

        return ctypes.create_string_buffer(size)

    def copy_memory(self, dst, src, size: int, direction: str) -> None:
        """Copies `size` bytes; direction: "H2D" or "D2H". Addresses or ctypes buffers."""
        import ctypes

        from . import _runtime

        if direction not in ("H2D", "D2H"):
            raise ValueError(f"direction is {direction!r}; it takes 'H2D' or 'D2H'")
        dst, src = (p if isinstance(p, int) else ctypes.addressof(p) for p in (dst, src))
        _runtime.memory_copy(dst, src, size)

    def read_data_from_file(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def write_data_to_file(self, path: str, data: bytes) -> None:
        with open(path, "wb") as file:
            file.write(data)


class _CompileOnlyLauncher:
    """TRITON_COMPILE_ONLY=1: says where the kernel is and launches nothing."""

    def __init__(self, hash_):
        self.hash = hash_

    def __call__(self, *args):
        from triton.runtime.cache import get_cache_manager

        print("[INFO]: skip running kernel")
        folder = getattr(get_cache_manager(self.hash), "cache_dir", "")
        print(f"[INFO]: The compiled kernel cache is in {folder}")


def make_launcher(src, metadata):
    """The callable for every launch of one compiled kernel (the driver's launcher_cls).

    src: ASTSource or IRSource, for the argument types. metadata: the kernel's namedtuple.
    """
    if env.flag("TRITON_COMPILE_ONLY"):
        return _CompileOnlyLauncher(metadata.hash)
    from . import _runtime

    if env.flag("PITON_REFUSE_CPU_TENSORS"):
        _runtime.refuse_host_tensors(True)
    baked = {path[0] for path in getattr(src, "constants", {}) if len(path) == 1}
    names = [str(name) for name in src.signature]
    arg_names = getattr(getattr(src, "fn", None), "arg_names", names)
    types = [
        "constexpr" if name in arg_names and arg_names.index(name) in baked else type_
        for name, type_ in zip(names, src.signature.values(), strict=True)
    ]
    return _runtime.Launcher(types, names)


_CPP_TYPES = {
    "i1": "int32_t", "u1": "uint32_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t",
    "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "fp16": "float", "bf16": "float", "fp32": "float", "f32": "float", "fp64": "double",
}  # fmt: skip

#: Bytes cleared before each timed call: the size of torch_npu's own cache buffer, and a
#: token for CPU tensors, where there is no NPU cache and clearing would dwarf the kernel.
_NPU_CACHE_BYTES = 192 * 1024 * 1024
_HOST_CACHE_BYTES = 1024 * 1024


class NPUDriver(DriverBase):
    """The simulated NPU."""

    def __init__(self) -> None:
        super().__init__()
        from . import _runtime

        self.utils = NPUUtils()
        self.launcher_cls = make_launcher
        # Asked on every launch, so these are the native functions themselves. The runtime holds
        # each thread's current device and streams; torch.npu sets them there too.
        self.get_current_device = _runtime.current_device
        self.set_current_device = _runtime.set_current_device
        self._current_stream = _runtime.current_stream

    @classmethod
    def is_active(cls) -> bool:
        """True without a visible accelerator, and beside one when PITON_ACTIVE=1."""
        forced = _forced()
        if forced is not None:
            return forced
        from triton.backends import backends

        others = (b.driver for b in backends.values() if b.driver is not cls)
        return not any(other.is_active() for other in others)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("npu", env.arch(), 0)

    def get_current_stream(self, device: int) -> int:
        """Handle of the stream that the next launch uses."""
        stream = launch_stream()
        return self._current_stream(device) if stream is None else stream

    def get_active_torch_device(self):
        import torch

        if torch_npu() is not None:
            return torch.device("npu", self.get_current_device())
        return torch.device("cpu")

    def get_device_interface(self):
        return torch_npu() or HostInterface

    def map_python_to_cpp_type(self, ty: str) -> str:
        """C++ type of an argument in the packed block."""
        if ty.startswith(("*", "tensordesc")):
            return "void*"
        return _CPP_TYPES[ty]

    def get_benchmarker(self):
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        import torch

        npu = torch_npu() is not None
        size = _NPU_CACHE_BYTES if npu else _HOST_CACHE_BYTES
        return torch.empty(size // 4, dtype=torch.int32, device="npu" if npu else "cpu")

    def clear_cache(self, cache) -> None:
        cache.zero_()
