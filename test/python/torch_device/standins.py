# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imported for its effect: torch_npu's stand-in and the npu examples are importable, as under
`piton exec -- python examples/npu/...`."""

import pathlib
import sys

from piton.exec import STANDINS

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "npu"

sys.path[:0] = [str(STANDINS), str(EXAMPLES)]
