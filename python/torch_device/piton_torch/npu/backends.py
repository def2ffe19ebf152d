# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Switches of the Ascend math libraries: `torch.npu.matmul.allow_hf32` and its relatives.

The simulated device computes float32 in float32, so they are kept and change no number.
"""

from __future__ import annotations

import types


class _Switches(types.ModuleType):
    """A module whose switches are checked: a name that does not exist is a typing error."""

    def __init__(self, name: str, doc: str, **switches):
        super().__init__(name, doc)
        self.__dict__.update(switches)

    def __setattr__(self, name, value):
        if not name.startswith("__") and name not in self.__dict__:
            raise AttributeError(f"{self.__name__} has no switch {name}")
        super().__setattr__(name, value)


matmul = _Switches("torch.npu.matmul", "Switches of matrix products.", allow_hf32=False)
conv = _Switches("torch.npu.conv", "Switches of convolutions.", allow_hf32=True)
config = _Switches("torch.npu.config", "Switches of the device.", allow_internal_format=False)
aclnn = _Switches("torch.npu.aclnn", "Switches of operators.", allow_hf32=False)

_compile_mode = {"jit_compile": False}
_options: dict[str, str] = {}


def set_compile_mode(jit_compile: bool = False) -> None:
    """Kept and without effect: operators of the simulated device are never compiled at run time."""
    _compile_mode["jit_compile"] = bool(jit_compile)


def is_jit_compile_false() -> bool:
    """Whether set_compile_mode() switched operator compilation off (the start value)."""
    return not _compile_mode["jit_compile"]


def set_option(option: dict) -> None:
    """Options of the Ascend operator libraries by name: kept, without effect."""
    if not isinstance(option, dict):
        raise TypeError(f"torch.npu.set_option() takes a dict of names to values, not {option!r}")
    _options.update({str(name): str(value) for name, value in option.items()})


def get_option(name: str) -> str | None:
    """What set_option() was told, or None."""
    return _options.get(name)
