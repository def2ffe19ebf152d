# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector addition: the smallest Triton script, and Piton's walking skeleton."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i] for one block of BLOCK elements."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    x = tl.load(x_ptr + lanes, mask=inside)
    y = tl.load(y_ptr + lanes, mask=inside)
    tl.store(out_ptr + lanes, x + y, mask=inside)


def vector_add(x, y, block=1024):
    """Sum of two 1-D tensors of one length and dtype."""
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return out


if __name__ == "__main__":
    a, b = torch.rand(98_432), torch.rand(98_432)
    print("max error", (vector_add(a, b) - (a + b)).abs().max().item())
