# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts import this module for its effects on torch.compile; the stand-in has none.

`torch.compile` on npu tensors takes the back ends eager and aot_eager.
"""
