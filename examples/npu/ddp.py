# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data-parallel training over hccl, one process a device.

    piton exec -- torchrun --nproc-per-node=2 examples/npu/ddp.py

Every rank works on its share of each batch; the gradients are averaged over hccl, so all ranks
keep the weights that one process would get from whole batches. The script checks that.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import torch_npu  # noqa: F401

STEPS, BATCH = 10, 24


def make_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))


def batches():
    """Inputs [BATCH, 16] and targets [BATCH, 4] on the CPU, the same on every rank."""
    random = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        x = torch.randn(BATCH, 16, generator=random)
        yield x, x[:, :4].sin()


def train(model: nn.Module, device: str, rank: int, ranks: int) -> None:
    """Trains on rows rank, rank + ranks, ... of each batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches():
        x, y = (t[rank::ranks].to(device) for t in (x, y))
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.npu.set_device(local)
    device = f"npu:{local}"
    dist.init_process_group("hccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    assert BATCH % ranks == 0, f"a batch of {BATCH} rows does not divide among {ranks} ranks"

    model = DistributedDataParallel(make_model().to(device), device_ids=[local])
    train(model, device, rank, ranks)

    alone = make_model()
    train(alone, "cpu", 0, 1)
    for ours, theirs in zip(model.module.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-4, atol=1e-5)
    dist.barrier()
    if rank == 0:
        print(f"{ranks} ranks trained the weights of one process")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
