# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`triton.language.extra.cann.extension`, served without a file inside the stock package.

Built so far: sub_vec_id and sub_vec_num. An AI core has a cube core and two vector cores; a kernel
that asks which of the two it runs on is executed as if by both (docs/departures.md).
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys

PACKAGE = "triton.language.extra.cann"
MODULE = PACKAGE + ".extension"


def _fill_extension(module) -> None:
    from triton.language import core

    @core.builtin
    def sub_vec_id(_semantic=None):
        """Which vector core of the AI core this is: 0 or 1, int64."""
        builder = _semantic.builder
        if not hasattr(builder, "create_get_sub_vec_id"):
            raise NotImplementedError("sub_vec_id: only the npu target has vector cores")
        return core.tensor(builder.create_get_sub_vec_id(), core.int64)

    @core.builtin
    def sub_vec_num(_semantic=None):
        """Vector cores of an AI core, a constexpr."""
        return core.constexpr(2)

    def missing(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            f"{MODULE}.{name} is not built yet; sub_vec_id and sub_vec_num are"
        )

    for function in (sub_vec_id, sub_vec_num):
        function.__module__ = MODULE
        setattr(module, function.__name__, function)
    module.__getattr__ = missing
    module.__all__ = ["sub_vec_id", "sub_vec_num"]


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__doc__ = __doc__
        if module.__name__ == MODULE:
            _fill_extension(module)


class CannFinder(importlib.abc.MetaPathFinder):
    """Finds the modules under triton.language.extra.cann that Piton provides."""

    def find_spec(self, name, path=None, target=None):
        if name not in (PACKAGE, MODULE):
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=name == PACKAGE)


def install() -> None:
    """Once a process; at discovery, so that scripts may import the modules before any kernel."""
    if not any(isinstance(finder, CannFinder) for finder in sys.meta_path):
        # Last: a real one, should there be one, wins.
        sys.meta_path.append(CannFinder())
