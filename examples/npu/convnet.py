# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small convolution network in float16 with a gradient scaler on the npu device.

    piton exec -- python examples/npu/convnet.py [--device cpu] [--steps 30]

The task: is the bright square of a noisy image in its left or in its right half?
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import torch_npu  # noqa: F401

SIZE = 16


class ConvNet(nn.Module):
    """Logits [batch, 2] of images [batch, 1, SIZE, SIZE]."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(16 * (SIZE // 4) ** 2, 2),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


def batches(steps: int, size: int = 32):
    """Images [size, 1, SIZE, SIZE] and labels [size] on the CPU, the same for every device."""
    random = torch.Generator().manual_seed(1)
    for _ in range(steps):
        images = torch.randn(size, 1, SIZE, SIZE, generator=random)
        labels = torch.randint(2, (size,), generator=random)
        rows = torch.randint(SIZE - 4, (size,), generator=random)
        columns = torch.randint(SIZE // 2 - 4, (size,), generator=random) + labels * (SIZE // 2)
        for image, row, column in zip(images, rows, columns, strict=True):
            image[0, row : row + 4, column : column + 4] += 1.5
        yield images, labels


def train(device: str, steps: int, mixed: bool = True) -> tuple[list[float], nn.Module]:
    """The loss of each step, and the model. mixed: autocast to float16 with a scaler."""
    torch.manual_seed(0)
    model = ConvNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    kind = device.split(":")[0]
    scaler = torch.amp.GradScaler(kind, init_scale=1024.0, enabled=mixed)
    losses = []
    for images, labels in batches(steps):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast(kind, dtype=torch.float16, enabled=mixed):
            logits = model(images)
        loss = F.cross_entropy(logits.float(), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, model


def accuracy(model: nn.Module, device: str) -> float:
    """The part of 256 new images that the model gets right."""
    model.eval()
    with torch.no_grad():
        *_, (images, labels) = batches(40, 256)
        return (model(images.to(device)).argmax(1).cpu() == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="npu")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    losses, model = train(options.device, options.steps)
    print(f"trained on {options.device}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    print(f"accuracy on new images: {accuracy(model, options.device):.0%}")


if __name__ == "__main__":
    main()
