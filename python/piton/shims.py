# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Console scripts that start the native tools of the distribution.

The tools lie in the package's bin folder beside the libraries they need; a console script
replaces itself by its tool.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def tool_path(name: str) -> Path:
    """Where a native tool lies. Raises FileNotFoundError naming what is missing."""
    package = Path(__file__).parent
    candidates = [package / "bin" / name]
    # In an editable installation only the sources are in the clone: the tools lie beside the
    # native modules.
    native = importlib.util.find_spec("piton._runtime")
    if native and native.origin:
        candidates.append(Path(native.origin).parent / "bin" / name)
    # A build tree stages this package in <build>/python and leaves the tools in <build>/tools.
    candidates.append(package.parent.parent / "tools" / name)
    build = os.environ.get("PITON_TOOLS_DIR")
    if build:
        candidates.insert(0, Path(build) / name)
    for path in candidates:
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(
        f"the tool {name} is not part of this installation (looked in "
        f"{', '.join(str(c.parent) for c in candidates)}); reinstall piton-npu"
    )


def _run(name: str) -> int:
    try:
        path = tool_path(name)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 127
    os.execv(path, [name, *sys.argv[1:]])


def npu_smi() -> int:
    """`npu-smi`: lists the simulated devices."""
    return _run("npu-smi")


def piton_run() -> int:
    """`piton-run`: launches a kernel image without Python."""
    return _run("piton-run")


def piton_compile() -> int:
    """`piton-compile`: Triton IR file to any stage."""
    return _run("piton-compile")


def piton_opt() -> int:
    """`piton-opt`: single passes over a module."""
    return _run("piton-opt")
