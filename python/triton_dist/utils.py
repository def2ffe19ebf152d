# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which platform this is, and what chooses a module by it. Imports no vendor's package.

The platform is the one whose management tool is on PATH (`piton exec` puts `npu-smi` there);
TRITON_DIST_PLATFORM (ascend, cuda, hip or maca) overrides that on a host with several.
"""

from __future__ import annotations

import functools
import inspect
import os
import shutil

_TOOLS = {"ascend": "npu-smi", "cuda": "nvidia-smi", "hip": "rocm-smi", "maca": "mx-smi"}


def _is(platform: str) -> bool:
    chosen = os.environ.get("TRITON_DIST_PLATFORM", "").strip().lower()
    if not chosen:
        return shutil.which(_TOOLS[platform]) is not None
    if chosen not in _TOOLS:
        raise ValueError(
            f"TRITON_DIST_PLATFORM={chosen} is none of {', '.join(_TOOLS)}; unset it to choose by "
            "the management tool on PATH"
        )
    return chosen == platform


def is_ascend() -> bool:
    """True on a host with `npu-smi`."""
    return _is("ascend")


def is_cuda() -> bool:
    """True on a host with `nvidia-smi`."""
    return _is("cuda")


def is_hip() -> bool:
    """True on a host with `rocm-smi`."""
    return _is("hip")


def is_maca() -> bool:
    """True on a host with `mx-smi`."""
    return _is("maca")


def get_shmem_backend() -> str:
    """Name of the communication library of a GPU platform. RuntimeError elsewhere."""
    if is_cuda():
        return "nvshmem"
    if is_hip():
        backend = os.environ.get("TRITON_DIST_SHMEM_BACKEND", "rocshmem")
        if backend not in ("rocshmem", "mori_shmem"):
            raise ValueError(
                f"TRITON_DIST_SHMEM_BACKEND={backend} is neither rocshmem nor mori_shmem"
            )
        return backend
    raise RuntimeError(
        "only CUDA and HIP have a shmem back end to choose; on Ascend use `import shmem as ash`"
    )


class ModuleProxy:
    """Stands for the one module whose predicate is true.

    candidates: pairs (predicate, module). Exactly one predicate must hold; attributes are read,
    written and deleted in its module.
    """

    __slots__ = ("_module",)

    def __init__(self, candidates):
        candidates = list(candidates)
        active = [module for predicate, module in candidates if predicate()]
        names = [getattr(predicate, "__name__", str(predicate)) for predicate, _ in candidates]
        assert len(active) == 1, (
            f"exactly one active module is required, but {len(active)} of {', '.join(names)} hold; "
            "start the program with `piton exec -- ...` or set TRITON_DIST_PLATFORM=ascend"
        )
        object.__setattr__(self, "_module", active[0])

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_module"), name)

    def __setattr__(self, name, value):
        if name == "_module":
            object.__setattr__(self, name, value)
        else:
            setattr(self._module, name, value)

    def __delattr__(self, name):
        delattr(self._module, name)

    def dispatch(self, func):
        """A Triton builtin that, when called, calls the chosen module's function of that name.

        func: gives name, signature and documentation; its body is never run. A module that lacks
        the name gives AttributeError at the call.
        """
        from triton.language import core

        @functools.wraps(func)
        def call(*args, _semantic=None, _generator=None, **kwargs):
            module = object.__getattribute__(self, "_module")
            target = getattr(module, func.__name__, None)
            if target is None:
                raise AttributeError(f"{module.__name__} has no {func.__name__}")
            if not core.is_builtin(target) and hasattr(target, "cache_key"):
                return _generator.call_JitFunction(target, args, kwargs)
            parameters = inspect.signature(target).parameters
            for name, value in (("_semantic", _semantic), ("_generator", _generator)):
                if name in parameters:
                    kwargs[name] = value
            return target(*args, **kwargs)

        given = [
            parameter
            for parameter in inspect.signature(func).parameters.values()
            if parameter.name not in ("_semantic", "_generator")
        ]
        hidden = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name in ("_semantic", "_generator")
        ]
        rest = [p for p in given if p.kind is inspect.Parameter.VAR_KEYWORD]
        given = [p for p in given if p.kind is not inspect.Parameter.VAR_KEYWORD]
        builtin = core.builtin(call)
        builtin.__signature__ = inspect.Signature([*given, *hidden, *rest])
        return builtin

    def declare(self, names, scope: dict) -> None:
        """Puts a dispatched function of any signature for each name into `scope`, a module's
        globals().
        """
        for name in names:

            def stub(*args, **kwargs): ...

            stub.__name__ = stub.__qualname__ = name
            stub.__module__ = scope["__name__"]
            scope[name] = self.dispatch(stub)
