# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small GPT on the npu device with mixed precision, as a script for an Ascend would.

piton exec -- python examples/npu/gpt.py [--device cpu] [--steps 30]
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import torch_npu  # noqa: F401

TEXT = (
    "A kernel reads a tile, works on it and writes it back. A program is a grid of kernels, and a "
    "core takes one after the other. What a core cannot hold, it reads again; what it reads again, "
    "it waits for. So a good kernel asks for the next tile before it needs it. "
) * 8
VOCABULARY = sorted(set(TEXT))
CONTEXT = 32


class Block(nn.Module):
    """Causal attention and a feed-forward layer, each behind a norm and added to its input."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).unbind(2)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attention.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.norm2(x))


class GPT(nn.Module):
    """Logits [batch, length, vocabulary] of tokens [batch, length]."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2):
        super().__init__()
        self.tokens = nn.Embedding(len(VOCABULARY), width)
        self.places = nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(VOCABULARY))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.places(places))))


def batches(steps: int, size: int = 8):
    """Token tensors [size, CONTEXT + 1] on the CPU, the same ones for every device."""
    data = torch.tensor([VOCABULARY.index(c) for c in TEXT])
    random = torch.Generator().manual_seed(1)
    for _ in range(steps):
        starts = torch.randint(len(data) - CONTEXT - 1, (size,), generator=random)
        yield torch.stack([data[s : s + CONTEXT + 1] for s in starts])


def train(device: str, steps: int, dtype: torch.dtype | None = None) -> list[float]:
    """The loss of each step. dtype: of autocast, None trains in float32 throughout."""
    torch.manual_seed(0)
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for batch in batches(steps):
        batch = batch.to(device, non_blocking=True)
        with torch.autocast(device.split(":")[0], dtype=dtype, enabled=dtype is not None):
            logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="npu")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    losses = train(options.device, options.steps, torch.bfloat16)
    for step in range(0, options.steps, 5):
        print(f"step {step:3} loss {losses[step]:.3f}")
    print(f"trained on {options.device}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
