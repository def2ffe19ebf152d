# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients, optimisers, autocast, torch.compile and function transforms on npu equal the cpu."""

import pytest
import torch
from torch.testing import assert_close


def train(device, steps=8):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.BatchNorm2d(4), torch.nn.Flatten(),
        torch.nn.Linear(144, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 2),
    ).to(device)  # fmt: skip
    x = torch.randn(32, 1, 8, 8).to(device)
    y = (x.sum((1, 2, 3)) > 0).long()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_training_equals_the_cpu():
    losses = train("npu")
    assert_close(torch.tensor(losses), torch.tensor(train("cpu")), rtol=1e-4, atol=1e-5)
    assert losses[-1] < losses[0]


def test_recurrent_and_attention():
    def run(device):
        torch.manual_seed(1)
        lstm = torch.nn.LSTM(4, 8, batch_first=True).to(device)
        attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
        x = torch.randn(2, 5, 4).to(device).requires_grad_()
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
        h, _ = torch.nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
        out, _ = attention(h, h, h)
        out.sum().backward()
        return out.detach().cpu(), x.grad.cpu()

    assert_close(run("npu"), run("cpu"))


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers(kind, bias):
    def run(device):
        torch.manual_seed(2)
        layer = kind(3, 5, num_layers=2, bidirectional=True, bias=bias).to(device)
        x = torch.randn(4, 2, 3).to(device).requires_grad_()
        out, state = layer(x)
        (out.pow(2).sum() + (state[1] if kind is torch.nn.LSTM else state).sum()).backward()
        return [t.detach().cpu() for t in (out, x.grad, *(p.grad for p in layer.parameters()))]

    assert_close(run("npu"), run("cpu"))


def test_autocast_casts_as_on_cuda():
    x, y = torch.randn(8, 8, device="npu"), torch.randn(8, 8, device="npu")
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("npu", dtype=dtype):
            assert (x @ y).dtype == dtype
            assert torch.nn.functional.linear(x, y).dtype == dtype
            assert (x @ y).softmax(1).dtype == torch.float32
            assert (x + y).dtype == torch.float32
            assert torch.addcmul(x.to(dtype), x, y).dtype == torch.float32
            half = x.to(dtype)
            assert torch.nn.functional.layer_norm(half, [8]).dtype == torch.float32
            with pytest.raises(RuntimeError, match="unsafe to autocast"):
                torch.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid())
    assert (x @ y).dtype == torch.float32


def test_gradient_scaler():
    w = torch.randn(4, 4, device="npu", requires_grad=True)
    scaler = torch.amp.GradScaler("npu", init_scale=4.0)
    optimizer = torch.optim.SGD([w], lr=0.1)
    before = w.detach().clone()
    with torch.autocast("npu", dtype=torch.float16):
        loss = (torch.ones(2, 4, device="npu") @ w).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert_close((before - w).detach().cpu(), torch.full((4, 4), 0.2))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(backend):
    x = torch.randn(5, device="npu", requires_grad=True)
    f = torch.compile(lambda t: (t.sin() * 2).relu().sum(), backend=backend)
    f(x).backward()
    reference = x.detach().cpu().requires_grad_()
    (reference.sin() * 2).relu().sum().backward()
    assert_close(x.grad.cpu(), reference.grad)
    torch._dynamo.reset()


def test_compile_with_inductor_is_one_clear_error():
    with pytest.raises(Exception, match="(?s)npu.*aot_eager") as caught:
        torch.compile(lambda t: t.sin() + 1)(torch.ones(3, device="npu"))
    assert "backend" in str(caught.value)
    torch._dynamo.reset()


def test_transforms():
    x = torch.randn(3, device="npu")
    assert_close(torch.vmap(lambda a: a * 2)(x), x * 2)
    assert_close(torch.func.grad(lambda a: (a**2).sum())(x), 2 * x)
    with torch.inference_mode():
        assert ((x + 1) @ x).is_npu
    w = torch.randn(3, device="npu", requires_grad=True)
    checkpoint = torch.utils.checkpoint.checkpoint
    checkpoint(lambda a: a.tanh(), w, use_reentrant=False).sum().backward()
    assert_close(w.grad, 1 - w.detach().tanh() ** 2)
    assert torch.jit.script(torch.nn.ReLU())(x).is_npu


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "call, shapes",
    [
        (torch.mm, [(65, 130), (130, 33)]),
        (torch.bmm, [(3, 17, 40), (3, 40, 9)]),
        (torch.matmul, [(2, 3, 16, 8), (8, 20)]),
        (torch.nn.functional.linear, [(4, 70), (9, 70), (9,)]),
        (torch.addmm, [(7,), (5, 30), (30, 7)]),
        (torch.baddbmm, [(2, 5, 7), (2, 5, 30), (2, 30, 7)]),
        (torch.mm, [(0, 4), (4, 3)]),
        (torch.mm, [(3, 0), (0, 4)]),
    ],
)
def test_half_products(dtype, call, shapes):
    torch.manual_seed(0)
    arguments = [torch.randn(shape).to(dtype) for shape in shapes]
    expected = call(*[a.double() for a in arguments])
    actual = call(*[a.npu() for a in arguments])
    assert actual.dtype == dtype and actual.is_npu
    tolerance = 2e-2 if dtype == torch.bfloat16 else 2e-3
    assert_close(actual.cpu().double(), expected, rtol=tolerance, atol=tolerance * 4)
    transposed = call(*[a.npu().transpose(-1, -2).contiguous().transpose(-1, -2)
                        if a.dim() > 1 else a.npu() for a in arguments])  # fmt: skip
    assert_close(transposed, actual)
