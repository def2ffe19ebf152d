# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch_npu.contrib`: `from torch_npu.contrib import transfer_to_npu` makes cuda mean npu."""
