# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Platforms whose device modules this distribution does not have yet."""

from __future__ import annotations

import types


class MissingPlatform(types.ModuleType):
    """Stands for a device module of a platform; every use of it is an error that says so."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            f"{self.__name__}.{name} is not built yet; only Ascend has device functions here"
        )


def missing(platform: str, module: str) -> MissingPlatform:
    """The stand-in for `module` of `platform`."""
    return MissingPlatform(f"{module} ({platform})")
