# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalisation, forward and backward.

The backward pass sums the weight and bias gradients of many rows into a few
partial buffers, each guarded by a spin lock, and a second kernel adds those up.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_forward_kernel(
    x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, columns, eps,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One row; BLOCK >= columns. Keeps mean and 1/std for the backward pass."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * stride + lanes, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    weight = tl.load(weight_ptr + lanes, mask=inside)
    bias = tl.load(bias_ptr + lanes, mask=inside)
    tl.store(out_ptr + row * stride + lanes, centred * rstd * weight + bias, mask=inside)


@triton.jit
def layer_norm_backward_kernel(
    dx_ptr, dy_ptr, dw_part_ptr, db_part_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, lock_ptr,
    stride, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Input gradient of one row; weight and bias gradients into group row % GROUPS."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * stride + lanes, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + lanes, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + lanes, mask=inside, other=0.0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(inside, (x - mean) * rstd, 0.0)
    wdy = weight * dy
    c1 = tl.sum(xhat * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * stride + lanes, (wdy - (xhat * c1 + c2)) * rstd, mask=inside)

    group = row % GROUPS
    lock = lock_ptr + group
    used = lock_ptr + GROUPS + group
    dw_part = dw_part_ptr + group * columns + lanes
    db_part = db_part_ptr + group * columns + lanes
    dw = dy * xhat
    db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(used) == 0:
        tl.atomic_xchg(used, 1)
    else:
        dw += tl.load(dw_part, mask=inside)
        db += tl.load(db_part, mask=inside)
    tl.store(dw_part, dw, mask=inside)
    tl.store(db_part, db, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_reduce_kernel(
    dw_part_ptr, db_part_ptr, dw_ptr, db_ptr, groups, columns,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Sums the partial weight and bias gradients of BLOCK_N columns over all groups."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for first in range(0, groups, BLOCK_M):
        rows = first + tl.arange(0, BLOCK_M)
        inside = (rows[:, None] < groups) & (cols[None, :] < columns)
        where = rows[:, None] * columns + cols[None, :]
        dw += tl.load(dw_part_ptr + where, mask=inside, other=0.0)
        db += tl.load(db_part_ptr + where, mask=inside, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < columns)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=cols < columns)


def layer_norm_forward(x, weight, bias, eps=1e-5):
    """Returns out, mean and 1/std of a 2-D tensor normalised over its last dimension."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    mean = torch.empty(rows, dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    block = triton.next_power_of_2(columns)
    layer_norm_forward_kernel[(rows,)](
        x, out, weight, bias, mean, rstd, x.stride(0), columns, eps, BLOCK=block
    )
    return out, mean, rstd


def layer_norm_backward(dy, x, weight, mean, rstd, groups=32):
    """Gradients of input, weight and bias."""
    rows, columns = x.shape
    dx = torch.empty_like(x)
    locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
    dw_part = torch.zeros((groups, columns), dtype=torch.float32, device=x.device)
    db_part = torch.zeros_like(dw_part)
    block = triton.next_power_of_2(columns)
    layer_norm_backward_kernel[(rows,)](
        dx, dy, dw_part, db_part, x, weight, mean, rstd, locks, x.stride(0), columns,
        GROUPS=groups, BLOCK=block,
    )  # fmt: skip
    dw = torch.empty(columns, dtype=weight.dtype, device=x.device)
    db = torch.empty_like(dw)
    layer_norm_reduce_kernel[(triton.cdiv(columns, 128),)](
        dw_part, db_part, dw, db, min(groups, rows), columns, BLOCK_M=32, BLOCK_N=128
    )
    return dx, dw, db


if __name__ == "__main__":
    x = torch.randn(151, 781, requires_grad=True)
    w = torch.rand(781, requires_grad=True)
    b = torch.rand(781, requires_grad=True)
    dy = torch.randn(151, 781)
    expected = torch.nn.functional.layer_norm(x, (781,), w, b)
    expected.backward(dy)
    with torch.no_grad():
        out, mean, rstd = layer_norm_forward(x, w, b)
        dx, dw, db = layer_norm_backward(dy, x, w, mean, rstd)
    for name, got, want in (
        ("out", out, expected), ("dx", dx, x.grad), ("dw", dw, w.grad), ("db", db, b.grad),
    ):  # fmt: skip
        print(f"{name}: max error {(got - want).abs().max().item():.2e}")
