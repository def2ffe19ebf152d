# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers of the Python tests are imported by name."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def device_library(monkeypatch):
    """Piton's device functions in place of the vendor's; their bitcode files, by variant."""
    from piton import _piton

    folder = pathlib.Path(_piton.__file__).parents[2] / "device"
    files = {v: folder / f"shmem.{v}.bc" for v in ("aic", "aiv", "mix_aic", "mix_aiv")}
    if not files["mix_aic"].exists():
        pytest.skip("not in a build folder: no bitcode of the device functions")
    both = os.pathsep.join(str(files[v]) for v in ("mix_aic", "mix_aiv"))
    monkeypatch.setenv("PITON_SHMEM_BITCODE", both)
    return files
