# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enumerations that are numbers to the library."""

from enum import IntEnum


class SignalOp(IntEnum):
    """What a signal does to its word."""

    SIGNAL_SET = 0
    SIGNAL_ADD = 1


class CmpOp(IntEnum):
    """What a wait compares with: word CMP value."""

    CMP_EQ = 0
    CMP_NE = 1
    CMP_GT = 2
    CMP_GE = 3
    CMP_LT = 4
    CMP_LE = 5
