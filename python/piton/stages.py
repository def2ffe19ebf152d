# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of one compilation: thin calls into `_piton`, and the metadata they add."""

from __future__ import annotations

from . import _piton


def for_options(options) -> dict:
    """Ordered dict: file extension -> stage(module, metadata, options)."""
    return {"ttir": ttir, "ttadapter": ttadapter}


def ttir(module, metadata, options):
    """Triton IR as traced -> optimised Triton IR (in place)."""
    _piton.run_ttir(module, options)
    return module


def ttadapter(module, metadata, options):
    """Triton IR -> hand-over IR."""
    _piton.run_ttadapter(module, options)
    return module
