# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stand-in for Ascend's `torch_npu`, put on the path by `piton exec`.

Names that Ascend scripts use, over Piton's npu device of torch. Where a real torch_npu is
installed, importing this package gives the real one, unless PITON_SHADOW_TORCH_NPU=1
(`piton exec --shadow`).
"""

import importlib.machinery
import importlib.util
import os
import sys


def _real_torch_npu():
    """The spec of a torch_npu anywhere on sys.path but here, or None."""
    if os.environ.get("PITON_SHADOW_TORCH_NPU", "").lower() in ("1", "true", "yes", "on"):
        return None
    here = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))
    others = [path for path in sys.path if os.path.realpath(path or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("torch_npu", others)
    # A folder without code is no torch_npu.
    return spec if spec is not None and spec.loader is not None and spec.origin else None


_spec = _real_torch_npu()
if _spec is not None:
    # The import system hands out what sys.modules holds when this file is done.
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[__name__] = _module
    _spec.loader.exec_module(_module)
else:
    from ._standin import *  # noqa: F403
    from ._standin import __version__, missing_attribute  # noqa: F401

    def __getattr__(name):
        raise AttributeError(missing_attribute(name))
