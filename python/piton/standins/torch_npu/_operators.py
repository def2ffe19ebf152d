# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused operators of torch_npu that scripts call by name, as compositions of torch operators.

All are differentiable. Half types are computed in float32 inside, as the Ascend kernels do.
"""

import torch

#: torch_npu's number for the plain layout, the only one that the simulated device stores.
ND_FORMAT = 2


def get_npu_format(self: torch.Tensor) -> int:
    """The storage format of a tensor: always 2 (ND)."""
    return ND_FORMAT


def npu_format_cast(self: torch.Tensor, acl_format: int) -> torch.Tensor:
    """The tensor itself: storage formats are invisible to results and ND is the only one here."""
    if not isinstance(acl_format, int):
        raise TypeError(f"npu_format_cast() takes the number of a format, not {acl_format!r}")
    return self


npu_format_cast_ = npu_format_cast


def empty_with_format(size, dtype=None, device="npu", acl_format: int = ND_FORMAT):
    """torch.empty: see npu_format_cast()."""
    return torch.empty(size, dtype=dtype, device=device)


def npu_dtype_cast(self: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """self.to(dtype)."""
    return self.to(dtype)


def npu_rms_norm(self: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6):
    """(self * rstd * gamma, rstd) over the last gamma.dim() dimensions.

    rstd = 1 / sqrt(mean(self^2) + epsilon), float32, with those dimensions of size 1.
    """
    if self.shape[self.dim() - gamma.dim() :] != gamma.shape:
        raise ValueError(
            f"npu_rms_norm: gamma has shape {tuple(gamma.shape)}; it takes the last dimensions of "
            f"the input, which has {tuple(self.shape)}"
        )
    wide = self.float()
    dims = tuple(range(-gamma.dim(), 0))
    rstd = torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + epsilon)
    return (wide * rstd * gamma.float()).to(self.dtype), rstd


def npu_swiglu(self: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """silu(a) * b, where a and b are the halves of `self` along `dim`."""
    if self.shape[dim] % 2:
        raise ValueError(
            f"npu_swiglu: dimension {dim} has {self.shape[dim]} elements; it is halved"
        )
    a, b = self.float().chunk(2, dim)
    return (torch.nn.functional.silu(a) * b).to(self.dtype)


def npu_rotary_mul(
    self: torch.Tensor, r1: torch.Tensor, r2: torch.Tensor, rotary_mode: str = "half"
) -> torch.Tensor:
    """self * r1 + rotate(self) * r2 with r1 = cos and r2 = sin, broadcast to `self`.

    rotary_mode: "half" turns the halves of the last dimension, "interleave" neighbouring pairs.
    """
    if rotary_mode == "half":
        a, b = self.chunk(2, -1)
        turned = torch.cat((-b, a), -1)
    elif rotary_mode == "interleave":
        turned = torch.stack((-self[..., 1::2], self[..., ::2]), -1).flatten(-2)
    else:
        raise ValueError(f"npu_rotary_mul: rotary_mode is {rotary_mode!r}; half or interleave")
    return self * r1 + turned * r2


def npu_silu(self: torch.Tensor) -> torch.Tensor:
    """self * sigmoid(self)."""
    return torch.nn.functional.silu(self)


def npu_fast_gelu(self: torch.Tensor) -> torch.Tensor:
    """Ascend's approximation of gelu: x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|))."""
    wide = self.float()
    size = wide.abs()
    return (wide / (1 + torch.exp(-1.702 * size)) * torch.exp(0.851 * (wide - size))).to(self.dtype)


fast_gelu = npu_fast_gelu
