# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that the device's C++ side gives to Python beyond torch.accelerator."""

from __future__ import annotations

import torch

#: Namespace of the device's own operators.
NAMESPACE = "piton"


def ops():
    """The namespace object: `ops().default_generator(0)`."""
    return getattr(torch.ops, NAMESPACE)
