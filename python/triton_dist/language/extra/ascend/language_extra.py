# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Low-level functions of a core: Ascend has none of them."""
