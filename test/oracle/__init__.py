# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-over oracle: see README.md."""

from .oracle import Oracle, Pointer, Result
from .toolchain import ToolError

__all__ = ["Oracle", "Pointer", "Result", "ToolError"]
