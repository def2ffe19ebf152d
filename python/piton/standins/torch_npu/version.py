# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Versions: torch's, with a local part that says whose package this is."""

import torch

__version__ = torch.__version__.split("+")[0] + "+piton"
git_version = "piton"
