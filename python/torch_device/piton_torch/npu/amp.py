# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixed precision on the npu device: torch.amp with the device filled in."""

from __future__ import annotations

import functools

import torch

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(torch.amp.autocast):
    """`with torch.npu.amp.autocast(dtype=torch.bfloat16): ...`; float16 without a dtype."""

    def __init__(self, enabled: bool = True, dtype=torch.float16, cache_enabled: bool = True):
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """torch.amp.GradScaler for the npu device.

    dynamic: False keeps the scale at init_scale, an argument that only torch_npu has.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ):
        if not dynamic:
            growth_factor, backoff_factor, growth_interval = 1.0 + 1e-9, 1.0 - 1e-9, 2**31 - 1
        super().__init__(
            "npu",
            init_scale=init_scale,
            growth_factor=growth_factor,
            backoff_factor=backoff_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )
        self._dynamic = dynamic

    def update(self, new_scale=None) -> None:
        if self._dynamic or new_scale is not None:
            super().update(new_scale)
        elif self._enabled:
            # The scale stays; only the record of this step's overflow checks is dropped.
            scale = self.get_scale()
            super().update(scale)


custom_fwd = functools.partial(torch.amp.custom_fwd, device_type="npu")
custom_bwd = functools.partial(torch.amp.custom_bwd, device_type="npu")
