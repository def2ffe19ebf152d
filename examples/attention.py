# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused attention forward: softmax(Q K^T * scale) V without storing the score matrix."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, queries, keys, head_stride_q, head_stride_k,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """BLOCK_M queries of one head; keeps a running maximum and sum over blocks of keys."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    q_off = head * head_stride_q + rows[:, None] * HEAD + dims[None, :]
    q = tl.load(q_ptr + q_off, mask=rows[:, None] < queries, other=0.0)
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD), tl.float32)
    last = keys
    if CAUSAL:
        last = tl.minimum(keys, (tl.program_id(0) + 1) * BLOCK_M)
    for first in range(0, last, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        kv_off = head * head_stride_k + cols[:, None] * HEAD + dims[None, :]
        k = tl.load(k_ptr + kv_off, mask=cols[:, None] < keys, other=0.0)
        v = tl.load(v_ptr + kv_off, mask=cols[:, None] < keys, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        allowed = cols[None, :] < keys
        if CAUSAL:
            allowed = allowed & (cols[None, :] <= rows[:, None])
        scores = tl.where(allowed, scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        p = tl.exp(scores - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + q_off, acc.to(out_ptr.dtype.element_ty), mask=rows[:, None] < queries)


def attention(q, k, v, causal=False, block_m=64, block_n=64):
    """q: (heads, queries, head_dim); k, v: (heads, keys, head_dim); contiguous."""
    heads, queries, dim = q.shape
    keys = k.shape[1]
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(queries, block_m), heads)](
        q, k, v, out, dim**-0.5, queries, keys, q.stride(0), k.stride(0),
        CAUSAL=causal, BLOCK_M=block_m, BLOCK_N=block_n, HEAD=dim,
    )  # fmt: skip
    return out


if __name__ == "__main__":
    for causal in (False, True):
        q, k, v = (torch.randn(4, 200, 64) for _ in range(3))
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        error = (attention(q, k, v, causal) - want).abs().max().item()
        print("causal" if causal else "full", error)
