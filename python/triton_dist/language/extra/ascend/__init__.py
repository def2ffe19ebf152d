# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Ascend provides: libaclshmem_device, language_extra and algorithm."""
