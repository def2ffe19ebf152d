# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers of the Python tests are imported by name."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
