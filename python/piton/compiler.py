# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's compiler back end for the npu target: options, cache key, stages.

Stages: ``ttir`` (Triton IR, optimised) -> ``ttadapter`` (the hand-over IR as text) ->
``npubin`` (a kernel image). Each is one call into C++; only metadata is filled here.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from pathlib import Path

from triton.backends.compiler import BaseBackend, GPUTarget

from . import env
from ._version import __version__
from .options import TARGETS, NPUOptions, report_inert

__all__ = ["NPUOptions", "PitonBackend"]


@functools.lru_cache
def _native_digest() -> str:
    """Digest of what compiles kernels: our own files, Python and native."""
    digest = hashlib.sha256()
    here = Path(__file__).resolve().parent
    from . import _piton

    files = [*sorted(here.glob("*.py")), Path(_piton.__file__)]
    for path in files:
        stat = path.stat()
        # Native modules are large: size and time identify a build well enough.
        if path.suffix == ".so":
            digest.update(f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}".encode())
        else:
            digest.update(path.read_bytes())
    return digest.hexdigest()


class PitonBackend(BaseBackend):
    """Compiles for GPUTarget("npu", <SoC name>, 0)."""

    #: The C++ specializer handles torch tensors itself.
    supports_native_tensor_specialization = True

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "npu"

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        if target.arch not in TARGETS:
            raise ValueError(f"no SoC named {target.arch!r}; candidates: {list(TARGETS)}")
        self.binary_ext = "npubin"
        from . import frontend

        try:
            frontend.install()
        except ImportError as error:
            raise ImportError(
                f"Piton's native module _piton cannot be loaded ({error}); reinstall piton-npu"
            ) from error
        frontend.select(self)

    def hash(self) -> str:
        """What the cache key needs beyond source and options."""
        # Images are made for one CPU: machines that share a cache must not share them.
        from ._piton import codegen_cpu

        return (
            f"piton-{__version__}-{_native_digest()}-{self.target}-{env.cache_key()}"
            f"-{codegen_cpu()}"
        )

    def parse_options(self, opts: dict) -> NPUOptions:
        """Options object from launch keywords; names it does not know are ignored.

        Raises TypeError or ValueError naming the option whose value is refused.
        """
        known = NPUOptions.__dataclass_fields__
        given = {name: opts[name] for name in known if opts.get(name) is not None}
        given["arch"] = self.target.arch
        if "compile_on_910_95" not in given:
            given["compile_on_910_95"] = self.target.arch.startswith(("Ascend910_95", "Ascend950"))
        options = NPUOptions(**given)
        report_inert(given, env.backend())
        return options

    def get_codegen_implementation(self, options) -> dict:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict:
        from . import libdevice  # late: it needs triton.language

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context) -> None:
        """Nothing more: the front end's proxy has loaded what Triton IR may hold."""

    def pack_metadata(self, metadata) -> dict:
        """What the launcher gets with every launch."""
        return {
            "kernel_name": metadata.name[-49:],
            "hash": metadata.hash,
            "debug": metadata.debug,
            "tensor_kinds": getattr(metadata, "tensor_kinds", []),
        }

    def add_stages(self, stages: dict, options: NPUOptions, language=None) -> None:
        from triton.backends.compiler import Language

        if language is Language.GLUON:
            raise NotImplementedError("Gluon kernels are written for GPUs; the npu target has none")
        from . import stages as piton_stages

        for ext, function in piton_stages.for_options(options).items():
            stages[ext] = _guarded(ext, functools.partial(function, options=options))


def _guarded(ext: str, function):
    """`function` as a stage: on failure it names the cache folder and leaves no partial entry."""

    def stage(module, metadata):
        try:
            return function(module, metadata)
        except Exception as error:
            folder = _drop_partial_entry(metadata)
            if type(error).__name__ == "MLIRCompilationError":
                error.cache_dir = folder
            raise

    return stage


def _drop_partial_entry(metadata: dict) -> str | None:
    """Removes the files that earlier stages of this compilation stored; gives the folder."""
    from triton import knobs
    from triton.runtime.cache import FileCacheManager, get_cache_manager

    manager = get_cache_manager(metadata["hash"])
    folder = getattr(manager, "cache_dir", None)
    if folder is None or not isinstance(manager, FileCacheManager) or knobs.cache.manager_class:
        return folder
    # Another process may have finished the same kernel meanwhile.
    if not any(name.startswith("__grp__") for name in os.listdir(folder)):
        shutil.rmtree(folder, ignore_errors=True)
    return folder
