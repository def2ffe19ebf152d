# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of examples/ over types, odd and ragged shapes, against torch."""

import pytest
import torch
from attention import attention
from layer_norm import layer_norm_backward, layer_norm_forward
from matmul import matmul
from softmax import softmax
from vector_add import vector_add

from e2e import BF16, check_close, check_equal, name_of, random_values

TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
HALVES_AND_FLOAT = (torch.float16, BF16, torch.float32)


@pytest.mark.parametrize("n", (1, 1000, 1024, 98_431))
@pytest.mark.parametrize(
    "dtype", (torch.int8, torch.int32, torch.int64, *HALVES_AND_FLOAT, torch.float64), ids=name_of
)
def test_vector_add(dtype, n, rng):
    x, y = (random_values(rng, dtype, n) for _ in range(2))
    check_equal(vector_add(x, y), x + y)


@pytest.mark.parametrize("shape", ((1, 1), (3, 781), (17, 1000), (5, 2049), (64, 64)), ids=str)
@pytest.mark.parametrize("dtype", HALVES_AND_FLOAT, ids=name_of)
def test_softmax(dtype, shape, rng):
    x = random_values(rng, dtype, shape)
    check_close(softmax(x), torch.softmax(x.double(), -1), TOLERANCE[dtype], 1e-7)


def test_softmax_of_strided_rows(rng):
    x = random_values(rng, torch.float32, (20, 300))[:, :217]
    check_close(softmax(x), torch.softmax(x.double(), -1), 1e-5, 1e-7)


def test_softmax_of_huge_and_infinite_values():
    x = torch.tensor([[3e38, -3e38, 0.0], [float("-inf"), 0.0, 1.0]])
    check_close(softmax(x), torch.softmax(x.double(), -1), 1e-6, 1e-30)


@pytest.mark.parametrize("shape", ((1, 5), (9, 781), (33, 1024)), ids=str)
@pytest.mark.parametrize("dtype", HALVES_AND_FLOAT, ids=name_of)
def test_layer_norm_forward(dtype, shape, rng):
    x, w, b = (random_values(rng, dtype, s) for s in (shape, shape[1:], shape[1:]))
    out, mean, _ = layer_norm_forward(x, w, b)
    want = torch.nn.functional.layer_norm(x.double(), shape[1:], w.double(), b.double())
    tolerance = TOLERANCE[dtype] * 4
    check_close(out, want, tolerance, tolerance)
    check_close(mean, x.double().mean(1), 1e-4, 1e-5)


@pytest.mark.parametrize("groups", (1, 4, 32))
@pytest.mark.parametrize("shape", ((1, 7), (37, 130), (40, 64)), ids=str)
def test_layer_norm_backward(shape, groups, rng):
    x, dy = (random_values(rng, torch.float32, shape) for _ in range(2))
    w, b = (random_values(rng, torch.float32, shape[1]) for _ in range(2))
    _, mean, rstd = layer_norm_forward(x, w, b)
    got = layer_norm_backward(dy, x, w, mean, rstd, groups)
    leaves = [t.double().requires_grad_() for t in (x, w, b)]
    torch.nn.functional.layer_norm(leaves[0], shape[1:], *leaves[1:]).backward(dy.double())
    for tensor, leaf in zip(got, leaves, strict=True):
        check_close(tensor, leaf.grad, 1e-3, 1e-3)


SHAPES = ((1, 1, 1), (128, 128, 64), (33, 190, 257), (130, 5, 65), (256, 129, 70))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", (torch.int8, *HALVES_AND_FLOAT), ids=name_of)
def test_matmul(dtype, shape, rng):
    m, n, k = shape
    small = dict(low=-128, high=127) if dtype == torch.int8 else dict(high=1)
    a, b = random_values(rng, dtype, (m, k), **small), random_values(rng, dtype, (k, n), **small)
    want = a.double() @ b.double()
    if dtype == torch.int8:
        check_equal(matmul(a, b), want.to(torch.int32))
        return
    check_close(matmul(a, b), want, TOLERANCE[dtype], TOLERANCE[dtype] * k**0.5)


@pytest.mark.parametrize("blocks", ((16, 16, 16), (32, 64, 32), (64, 32, 128)), ids=str)
def test_matmul_of_transposed_views(blocks, rng):
    a = random_values(rng, torch.float32, (70, 45), high=1).t()
    b = random_values(rng, torch.float32, (50, 70), high=1).t()
    out = torch.zeros((50, 45)).t()
    check_close(matmul(a, b, *blocks, out=out), a.double() @ b.double(), 1e-5, 1e-4)


@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize("shape", ((1, 16, 16), (2, 100, 100), (3, 130, 130)), ids=str)
@pytest.mark.parametrize("dtype", HALVES_AND_FLOAT, ids=name_of)
def test_attention(dtype, shape, causal, rng):
    heads, queries, keys = shape
    q = random_values(rng, dtype, (heads, queries, 32), high=1)
    k, v = (random_values(rng, dtype, (heads, keys, 32), high=1) for _ in range(2))
    want = torch.nn.functional.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), is_causal=causal
    )
    tolerance = TOLERANCE[dtype]
    check_close(attention(q, k, v, causal, 32, 32), want, tolerance, tolerance)


@pytest.mark.parametrize("queries,keys", ((5, 77), (70, 3)))
def test_attention_over_other_keys(queries, keys, rng):
    q = random_values(rng, torch.float32, (2, queries, 16), high=1)
    k, v = (random_values(rng, torch.float32, (2, keys, 16), high=1) for _ in range(2))
    want = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double())
    check_close(attention(q, k, v), want, 1e-5, 1e-5)
