# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stand-in package torch_npu: names, fused operators against torch's, errors."""

import sys

import pytest
import torch
from torch.nn import functional as F

import torch_npu
from piton.exec import STANDINS


def test_names():
    import torch_npu._inductor
    import torch_npu.npu.amp
    import torch_npu.profiler
    from torch_npu.contrib import __doc__ as contrib_doc

    assert torch_npu.npu is torch.npu
    assert torch_npu.npu.amp is torch.npu.amp
    assert sys.modules["torch_npu.npu.utils"] is torch.npu.utils
    assert torch_npu.__version__ == torch.__version__.split("+")[0] + "+piton"
    assert torch_npu.__file__.endswith("standins/torch_npu/__init__.py")
    assert isinstance(torch_npu.version.git_version, str) and "cuda" in contrib_doc
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        assert torch_npu._C._npu_getCurrentRawStream(0) == stream.npu_stream
        assert torch_npu._C._npu_getCurrentRawStreamNoWait(0) == stream.npu_stream
    with pytest.raises(AttributeError, match="stand-in for torch_npu has no 'npu_nothing'"):
        torch_npu.npu_nothing  # noqa: B018


# Attention. Layouts: how a tensor [B, N, S, D] is stored, and back.
LAYOUTS = {
    "BNSD": (lambda t: t, lambda t: t),
    "BSND": (lambda t: t.transpose(1, 2), lambda t: t.transpose(1, 2)),
    "BSH": (
        lambda t: t.transpose(1, 2).flatten(-2),
        lambda t: t.unflatten(-1, (4, 8)).transpose(1, 2),
    ),
    "SBH": (
        lambda t: t.permute(2, 0, 1, 3).flatten(-2),
        lambda t: t.unflatten(-1, (4, 8)).permute(1, 2, 0, 3),
    ),
}
SCALE = 8**-0.5


def qkv(*, rows=16, columns=16, kv_heads=4, dtype=torch.float32):
    torch.manual_seed(0)
    shapes = ((2, 4, rows, 8), (2, kv_heads, columns, 8), (2, kv_heads, columns, 8))
    return [torch.randn(s).to("npu", dtype) for s in shapes]


def reference(q, k, v, visible=None):
    """On the CPU in float32. visible: bool [rows, columns], true where a query sees a key."""
    q, k, v = (t.cpu().float() for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=visible)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.bfloat16), ids=str)
def test_attention_in_every_layout(layout, dtype):
    store, load = LAYOUTS[layout]
    q, k, v = qkv(dtype=dtype)
    out, largest, total, empty, *numbers = torch_npu.npu_fusion_attention(
        store(q), store(k), store(v), 4, layout, scale=SCALE
    )
    assert out.shape == store(q).shape and out.dtype == dtype and out.is_npu
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(
        load(out).cpu().float(), reference(q, k, v), rtol=tolerance, atol=tolerance
    )
    scores = q.cpu().float() @ k.cpu().float().transpose(-1, -2) * SCALE
    assert largest.shape == total.shape == (2, 4, 16, 8)
    torch.testing.assert_close(largest[..., 3].cpu(), scores.amax(-1), rtol=1e-4, atol=1e-5)
    want = (scores - scores.amax(-1, keepdim=True)).exp().sum(-1)
    torch.testing.assert_close(total[..., 0].cpu(), want, rtol=1e-4, atol=1e-5)
    assert empty.numel() == 0 and numbers == [0, 0, 0]


def test_attention_with_fewer_key_heads_and_grads():
    q, k, v = qkv(kv_heads=2)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    out = torch_npu.npu_fusion_attention(*leaves, 4, "BNSD", scale=SCALE)[0]
    out.square().sum().backward()
    on_cpu = [t.cpu().requires_grad_() for t in (q, k, v)]
    reference(*on_cpu).square().sum().backward()
    for ours, theirs in zip(leaves, on_cpu, strict=True):
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-5)


def band(rows, columns, before, after, offset=0):
    distance = torch.arange(columns) - torch.arange(rows).unsqueeze(1) - offset
    return (distance <= after) & (distance >= -before)


@pytest.mark.parametrize(
    ("arguments", "visible"),
    (
        ({"atten_mask": ~band(16, 20, 99, 0)}, band(16, 20, 99, 0)),
        ({"atten_mask": (~band(16, 20, 99, 3)).to(torch.uint8)}, band(16, 20, 99, 3)),
        ({"sparse_mode": 1, "atten_mask": ~band(16, 20, 99, 0)}, band(16, 20, 99, 0)),
        ({"sparse_mode": 2}, band(16, 20, 99, 0)),
        ({"sparse_mode": 3}, band(16, 20, 99, 0, offset=4)),
        (
            {"sparse_mode": 4, "pre_tockens": 3, "next_tockens": 1},
            band(16, 20, 3, 1, offset=4),
        ),
        (
            {"atten_mask": torch.zeros(16, 20).bool(), "pre_tockens": 2, "next_tockens": 1},
            band(16, 20, 2, 1),
        ),
        ({"pre_tockens": 2, "next_tockens": 1}, None),  # without a mask the band is not looked at
    ),
)
def test_attention_masks(arguments, visible):
    q, k, v = qkv(columns=20)
    arguments = {n: a.npu() if isinstance(a, torch.Tensor) else a for n, a in arguments.items()}
    out = torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", scale=SCALE, **arguments)[0]
    torch.testing.assert_close(out.cpu(), reference(q, k, v, visible), rtol=1e-4, atol=1e-5)


def test_attention_rows_that_see_nothing_are_zero():
    q, k, v = qkv()
    hidden = torch.zeros(16, 16, dtype=torch.bool, device="npu")
    hidden[3] = True
    out = torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", scale=SCALE, atten_mask=hidden)[0]
    assert (out[:, :, 3] == 0).all() and not out.isnan().any()


def test_attention_of_packed_sequences():
    q, k, v = qkv()
    packed = [torch.cat([t[0].transpose(0, 1), t[1].transpose(0, 1)[:9]]) for t in (q, k, v)]
    out = torch_npu.npu_fusion_attention(
        *packed, 4, "TND", scale=SCALE, sparse_mode=2,
        actual_seq_qlen=[16, 25], actual_seq_kvlen=[16, 25],
    )[0]  # fmt: skip
    for part, rows in ((0, slice(0, 16)), (1, slice(16, 25))):
        n = rows.stop - rows.start
        want = reference(*(t[part : part + 1, :, :n] for t in (q, k, v)), band(n, n, 99, 0))
        torch.testing.assert_close(out[rows].transpose(0, 1).cpu(), want[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    (
        ({"input_layout": "BNDS"}, ValueError, "input_layout is 'BNDS'; it takes BSH"),
        ({"sparse_mode": 7}, NotImplementedError, "sparse_mode is 7"),
        ({"sparse_mode": 1}, ValueError, "takes the whole atten_mask"),
        ({"prefix": [1]}, NotImplementedError, "prefix is not supported"),
        ({"input_layout": "TND"}, ValueError, "takes actual_seq_qlen"),
    ),
)
def test_attention_errors(arguments, error, text):
    q, k, v = qkv()
    with pytest.raises(error, match=text):
        torch_npu.npu_fusion_attention(q, k, v, 4, **{"input_layout": "BNSD", **arguments})


def test_attention_with_heads_that_do_not_divide():
    q, k, v = qkv(kv_heads=3)
    with pytest.raises(ValueError, match="4 query heads are no multiple of 3"):
        torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD")


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16), ids=str)
def test_fused_operators(dtype):
    torch.manual_seed(0)
    x, gamma = torch.randn(3, 8).to("npu", dtype), torch.rand(8).to("npu", dtype)
    tolerance = {"rtol": 2e-3, "atol": 2e-3} if dtype == torch.float16 else {}
    y, rstd = torch_npu.npu_rms_norm(x, gamma)
    torch.testing.assert_close(y, F.rms_norm(x, (8,), gamma, 1e-6), **tolerance)
    assert rstd.shape == (3, 1) and rstd.dtype == torch.float32
    torch.testing.assert_close(torch_npu.npu_swiglu(x), F.silu(x[:, :4]) * x[:, 4:], **tolerance)
    torch.testing.assert_close(torch_npu.npu_silu(x), F.silu(x))
    gelu = x.float() * torch.sigmoid(1.702 * x.float())
    torch.testing.assert_close(torch_npu.npu_fast_gelu(x).float(), gelu, **tolerance)
    assert torch_npu.npu_dtype_cast(x, torch.bfloat16).dtype == torch.bfloat16
    assert torch_npu.npu_format_cast(x, 29) is x and torch_npu.get_npu_format(x) == 2
    assert torch_npu.empty_with_format((2, 3), dtype=dtype).is_npu


@pytest.mark.parametrize("mode", ("half", "interleave"))
def test_rotary_position(mode):
    # Turning by an angle and back is the identity, and lengths stay.
    angle = torch.rand(5, 4)
    both = torch.cat((angle, angle), -1) if mode == "half" else angle.repeat_interleave(2, -1)
    cos, sin = both.cos().npu(), both.sin().npu()
    x = torch.randn(5, 8, device="npu")
    y = torch_npu.npu_rotary_mul(x, cos, sin, mode)
    torch.testing.assert_close(y.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(torch_npu.npu_rotary_mul(y, cos, -sin, mode), x)
    assert not torch.allclose(x, y)


def test_operator_errors():
    x = torch.ones(3, 7, device="npu")
    with pytest.raises(ValueError, match="dimension -1 has 7 elements"):
        torch_npu.npu_swiglu(x)
    with pytest.raises(ValueError, match="gamma has shape"):
        torch_npu.npu_rms_norm(x, torch.ones(3, device="npu"))
    with pytest.raises(ValueError, match="rotary_mode is 'third'"):
        torch_npu.npu_rotary_mul(x, x, x, "third")
    with pytest.raises(TypeError, match="number of a format"):
        torch_npu.npu_format_cast(x, "NZ")


TRANSFER = """
import torch
from torch_npu.contrib import transfer_to_npu
assert torch.cuda.is_available() and torch.cuda.device_count() == torch.npu.device_count()
x = torch.randn(4, 4, device="cuda")
assert x.device.type == "npu" and x.is_cuda and torch.ones(2).cuda().is_npu
assert torch.ones(2).to("cuda:1").device == torch.device("cuda:1") == torch.device("npu", 1)
assert isinstance(x.device, torch.device)
model = torch.nn.Linear(4, 2).cuda()
assert model(x).device.type == "npu" and model.to(device="cuda").weight.is_npu
with torch.autocast("cuda", dtype=torch.bfloat16):
    assert (x @ x).dtype == torch.bfloat16
with torch.cuda.stream(torch.cuda.Stream()):
    torch.cuda.synchronize()
torch.cuda.set_device(1)
assert torch.npu.current_device() == 1
double = torch.compile(lambda a: a * 2, backend="aot_eager")
assert torch.equal(double(x), x * 2)
with torch.cuda.amp.autocast(dtype=torch.float16):
    assert (x @ x).dtype == torch.float16
print("transferred")
"""


def test_transfer_to_npu(script):
    # In a process of its own: it changes torch for good.
    code, output = script(f"import sys; sys.path.insert(0, {str(STANDINS)!r})\n{TRANSFER}")
    assert code == 0 and output.endswith("transferred\n"), output
