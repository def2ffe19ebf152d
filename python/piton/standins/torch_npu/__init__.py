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
    paths = list(sys.path)
    while True:
        spec = importlib.machinery.PathFinder.find_spec("torch_npu", paths)
        # A folder without code is no torch_npu.
        if spec is None or spec.loader is None or not spec.origin:
            return None
        folder = os.path.dirname(spec.origin)
        if not os.path.exists(os.path.join(folder, "_standin.py")):
            return spec
        # A stand-in: this one, or that of another Piton on the path.
        folder = os.path.realpath(os.path.dirname(folder))
        paths = [path for path in paths if os.path.realpath(path or os.curdir) != folder]


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
