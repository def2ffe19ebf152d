# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions beyond the primitives; each module chooses its platform when it is imported."""
