# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Piton: compiles Triton kernels for Ascend NPUs and runs them on a simulated one.

Triton finds this package through its entry point (group ``triton.backends``) and
imports ``piton.compiler`` and ``piton.driver`` while ``import triton`` still runs, so
nothing here imports triton's language or compiler at import time.
"""

from ._version import __version__

__all__ = ["__version__"]


def __getattr__(name):
    """`_piton`, wherever it is first imported from."""
    if name != "_piton":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _interrupts

    return _interrupts.load(f"{__name__}._piton")
