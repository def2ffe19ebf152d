# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix multiplication in tiles, any strides, masked edges; fp32, fp16, bf16, int8."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, am, ak, bk, bn, cm, cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    """One BLOCK_M x BLOCK_N tile of C = A @ B, accumulated in ACC over K."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + rows[:, None] * am + inner[None, :] * ak
    b_tile = b_ptr + inner[:, None] * bk + cols[None, :] * bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(a_tile, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0)
        b = tl.load(b_tile, mask=(inner[:, None] < left) & (cols[None, :] < n), other=0)
        acc = tl.dot(a, b, acc, out_dtype=ACC)
        a_tile += BLOCK_K * ak
        b_tile += BLOCK_K * bk
    c_tile = c_ptr + rows[:, None] * cm + cols[None, :] * cn
    tl.store(
        c_tile,
        acc.to(c_ptr.dtype.element_ty),
        mask=(rows[:, None] < m) & (cols[None, :] < n),
    )


def matmul(a, b, block_m=128, block_n=128, block_k=64, out=None):
    """A @ B for 2-D tensors of one dtype; int8 gives int32."""
    (m, k), n = a.shape, b.shape[1]
    integer = a.dtype == torch.int8
    if out is None:
        out = torch.empty((m, n), dtype=torch.int32 if integer else a.dtype, device=a.device)
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    matmul_kernel[grid](
        a, b, out, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        out.stride(0), out.stride(1), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
        ACC=tl.int32 if integer else tl.float32,
    )  # fmt: skip
    return out


if __name__ == "__main__":
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a, b = torch.randn(333, 257).to(dtype), torch.randn(257, 190).to(dtype)
        want = a.float() @ b.float()
        print(dtype, "max error", (matmul(a, b).float() - want).abs().max().item())
