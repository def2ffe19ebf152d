# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that map to one call of the library, and its enumerations."""

from .._enums import CmpOp as ComparisonType
from .._enums import SignalOp
from .._pyshmem import InitStatus
from .._pyshmem import aclshmemx_init_status as init_status

__all__ = ["ComparisonType", "InitStatus", "SignalOp", "init_status"]
