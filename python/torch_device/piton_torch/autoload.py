# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry point of group `torch.backends`: called at the end of `import torch`.

An exception here would make `import torch` fail for the whole environment, so whatever
goes wrong becomes one warning that says what to do.
"""

from __future__ import annotations

import sys
import warnings

#: What builds the device for the torch that is installed, from Piton's tree.
BUILD_COMMAND = "pip install --no-build-isolation --no-deps --force-reinstall python/torch_device"


def _minor(version: str) -> tuple[str, ...]:
    """("2", "13") of "2.13.0+cpu"."""
    return tuple(version.split("+")[0].split(".")[:2])


def version_problem() -> str | None:
    """Why the built library does not fit the torch of this process, or None."""
    import torch

    from ._build import TORCH_VERSION

    if _minor(torch.__version__) == _minor(TORCH_VERSION):
        return None
    return (
        f"Piton's npu device was built for torch {TORCH_VERSION} and this is torch "
        f"{torch.__version__}, so `npu` is not available. Build it for this one in Piton's "
        f"tree: {BUILD_COMMAND}"
    )


def autoload() -> None:
    """Makes `npu` a device of torch. Never raises."""
    # Importing `piton_torch.device` first imports torch, which calls this while that module is
    # half imported; it goes on by itself.
    if "piton_torch.device" in sys.modules:
        return
    try:
        problem = version_problem()
        if problem is None:
            from . import device  # noqa: F401
    except Exception as error:
        problem = f"Piton's npu device could not be loaded: {type(error).__name__}: {error}"
    if problem is not None:
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
