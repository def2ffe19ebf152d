# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that between them call every builder method. KERNELS: name -> (function, signature)."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

KERNELS = {}


def kernel(**signature):
    def register(fn):
        jitted = triton.jit(fn)
        KERNELS[fn.__name__] = (jitted, signature)
        return jitted

    return register


@kernel(x="*fp32", y="*fp32", o="*fp32", n="i32", BLOCK=1024)
def add(x, y, o, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(o + offs, a + tl.load(y + offs, mask=mask, other=a), mask=mask)


@kernel(
    a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32", sam="i32", sbk="i32", scm="i32",
    BM=64, BN=64, BK=32,
)  # fmt: skip
def matmul(a, b, c, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    ap = a + om[:, None] * sam + ok[None, :]
    bp = b + ok[:, None] * sbk + on[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        mask = (om[:, None] < M) & (ok[None, :] < K - k * BK)
        x = tl.load(ap, mask=mask, other=0.0)
        y = tl.load(bp, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK
        bp += BK * sbk
    tl.store(
        c + om[:, None] * scm + on[None, :],
        acc.to(tl.float16),
        mask=(om[:, None] < M) & (on[None, :] < N),
    )


@kernel(x="*fp32", o="*fp32", idx="*i32", BLOCK=64)
def shapes_and_reductions(x, o, idx, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + offs)
    i = tl.load(idx + offs)
    s = tl.sum(v, 0)
    mx, am = tl.max(v, 0, return_indices=True)
    c = tl.cumsum(v, 0)
    r2 = tl.cumprod(v, 0, reverse=True)
    so = tl.sort(v)
    h = tl.histogram(i, 16)
    hm = tl.histogram(i, 16, mask=i > 3)
    g = tl.gather(v, i, 0)
    j = tl.join(v, c)
    r = tl.reshape(j, (BLOCK * 2,))
    left, right = tl.split(j)
    f = tl.flip(v, 0)
    t = tl.trans(tl.reshape(v, (8, 8)))
    t3 = tl.permute(tl.reshape(v, (2, 4, 8)), (2, 0, 1))
    b = tl.broadcast_to(tl.reshape(v, (BLOCK, 1)), (BLOCK, 4))
    cat = tl.cat(v, c, can_reorder=True)
    tl.store(o + offs, g + so + left + right + am + mx + s + r2 + f)
    tl.store(o + tl.arange(0, 2 * BLOCK), r + cat)
    tl.store(o + tl.arange(0, 16), (h + hm).to(tl.float32))
    tl.store(o + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :], t)
    tl.store(o, tl.sum(tl.sum(tl.sum(t3, 2), 1), 0) + tl.min(b) + tl.xor_sum(i, 0))


@kernel(x="*fp32", y="*fp32", o="*fp32", i="*i32", u="*u32", n="i32", w="u64", BLOCK=32)
def elementwise(x, y, o, i, u, n, w, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a = tl.load(x + offs)
    b = tl.load(y + offs)
    ii = tl.load(i + offs)
    uu = tl.load(u + offs)
    f = tl.exp(a) + tl.exp2(a) + tl.log(a) + tl.log2(a) + tl.sin(a) + tl.cos(a) + tl.sqrt(a)
    f += tl.rsqrt(a) + tl.erf(a) + tl.floor(a) + tl.ceil(a) + tl.abs(a) + tl.fma(a, b, a)
    f += tl.sqrt_rn(a) + tl.div_rn(a, b) + tl.fdiv(a, b) + a / b - a * b + a % b
    f += tl.maximum(a, b) + tl.minimum(a, b)
    f += tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    f += tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    f += tl.clamp(a, -1.0, 1.0) + tl.clamp(a, -b, b, propagate_nan=tl.PropagateNan.ALL)
    f += tl.where((a < b) | (a <= b) & (a > b) ^ (a >= b), a, b) + tl.where(a == b, a, 0)
    f += tl.where(a != b, a, -b) + tl.softmax(a) + tl.sigmoid(a)
    k = ii + ii * ii - ii // 3 + ii % 5 + (ii << 2) + (ii >> 1) + (ii & 7) + (ii | 8) + (ii ^ 9)
    k += ~ii + tl.abs(ii) + tl.maximum(ii, 1) + tl.minimum(ii, 2) + (-ii)
    q = uu // 3 + uu % 5 + (uu >> 1) + tl.maximum(uu, 1) + tl.minimum(uu, 2) + tl.umulhi(uu, uu)
    m = (ii < 1) | (ii <= 2) | (ii > 3) | (ii >= 4) | (ii == 5) | (ii != 6)
    m |= (uu < 1) | (uu <= 2) | (uu > 3) | (uu >= 4)
    tl.store(o + offs, f + k.to(tl.float32) + q.to(tl.float32), mask=m & (offs < n))
    tl.store(o, (w + 1).to(tl.float32) + tl.num_programs(1) + tl.program_id(2))


@kernel(x="*fp32", h="*fp16", b="*bf16", d="*fp64", i8="*i8", i1="*i1", e5="*fp8e5", e4="*fp8e4nv",
        p="i64", BLOCK=32)  # fmt: skip
def casts(x, h, b, d, i8, i1, e5, e4, p, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + offs)
    tl.store(h + offs, v.to(tl.float16))
    tl.store(b + offs, v.to(tl.bfloat16))
    tl.store(b + offs, tl.load(h + offs).to(tl.bfloat16))
    tl.store(d + offs, v.to(tl.float64))
    tl.store(x + offs, tl.load(d + offs).to(tl.float32))
    tl.store(i8 + offs, v.to(tl.int8))
    tl.store(i8 + offs, v.to(tl.uint8).to(tl.int8, bitcast=True))
    tl.store(i1 + offs, v > 0)
    tl.store(x + offs, tl.load(i1 + offs).to(tl.float32))
    tl.store(x + offs, tl.load(i8 + offs).to(tl.int64).to(tl.int16).to(tl.float32))
    tl.store(x + offs, tl.load(i8 + offs).to(tl.uint32).to(tl.float32))
    tl.store(e5 + offs, v.to(tl.float8e5))
    tl.store(e4 + offs, v.to(tl.float8e4nv, fp_downcast_rounding="rtne"))
    tl.store(x + offs, tl.load(e5 + offs).to(tl.float32) + tl.load(e4 + offs).to(tl.float32))
    tl.store(h + offs, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(x + offs, v.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True))
    q = p.to(tl.pointer_type(tl.float32))
    tl.store(q + offs, v)
    tl.store(q, (x.to(tl.int64) + 4).to(tl.float32))
    tl.store(q + tl.arange(0, 2), tl.full((2,), 3, tl.uint8).to(tl.float32))
    tl.store(h + offs, tl.full((BLOCK,), 1.5, tl.float16))
    tl.store(b, tl.full((), 2.5, tl.bfloat16))
    tl.store(d, tl.full((), 2.5, tl.float64))
    if x:
        tl.store(q, 1.0)


@kernel(a="*fp16", i="*i32", u="*u8", M="i32", N="i32", BM=16, BN=64)
def descriptors(a, i, u, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(a, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    v = d.load([0, 0])
    d.store([BM, 0], v + 1)
    di = tl.make_tensor_descriptor(i, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    w = di.load([0, 0])
    di.atomic_add([0, 0], w)
    di.atomic_min([0, 0], w)
    di.atomic_max([0, 0], w)
    di.atomic_and([0, 0], w)
    di.atomic_or([0, 0], w)
    di.atomic_xor([0, 0], w)
    du = tl.make_tensor_descriptor(u, shape=[N], strides=[1], block_shape=[BN])
    for k in tl.range(0, M):
        du.store([k], du.load([k * BN]))
    dr = tl.make_tensor_descriptor(
        a, shape=[M, N], strides=[N, 1], block_shape=[1, BN], padding_option="nan"
    )
    rows = tl.arange(0, BM)
    g = dr.gather(rows, 0)
    dr.scatter(g, rows, 0)


@kernel(d="tensordesc<fp16[16,64]>", o="*fp16")
def host_descriptor(d, o):
    v = d.load([0, 0])
    tl.store(o + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], v + d.shape[0])


@kernel(a="*fp32", M="i32", N="i32", BM=16, BN=32)
def block_pointers(a, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(a, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    for _ in range(3):
        w = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        tl.store(p, w, boundary_check=(0,))
        p = tl.advance(p, (BM, 0))
    tl.store(p, tl.load(p))


@kernel(a="*fp32", n="i32", flag="i1")
def control_flow(a, n, flag):
    if n > 100:
        return
    i = 0
    s = 0.0
    while i < n:
        s += tl.load(a + i)
        if s > 10:
            s -= 1
        else:
            s += 2
        i += 1
    for j in tl.range(n, 0, -2, num_stages=3, loop_unroll_factor=4):
        s += j
    for j in tl.range(0, n, flatten=True, disallow_acc_multi_buffer=True, warp_specialize=True):
        s = s * 2 if flag else s + j
    for j in tl.range(0, n, disable_licm=True):
        s += 1
    while tl.condition(i > 0, disable_licm=True):
        i -= 1
    for j in tl.static_range(3):
        s += j
    tl.store(a, s + i)


@triton.jit
def helper(x, y, K: tl.constexpr):
    if K > 3:
        return x + y, x - y
    return x * y, x


@triton.jit(noinline=True)
def scalar_helper(x, n):
    if n > 3:
        return x + n
    return x


@kernel(a="*fp32", t=("*fp32", ("i32", "constexpr"), "i64"), n="i32")
def tuples_and_calls(a, t, n):
    p, q = helper(tl.load(a), tl.load(t[0]), 4)
    r, s = helper(p, q, 2)
    tl.store(t[0] + t[1][0], r + s + scalar_helper(p, n))
    u = (p, q)
    for i in range(n):
        u = (u[1], u[0] + i)
    tl.store(a + t[2], u[0] + u[1])


@kernel(a="*fp32", i="*i32", l="*i64", h="*fp16", u="*u32", n="i32", BLOCK=16)
def atomics(a, i, l, h, u, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.atomic_add(a + offs, 1.0, mask=mask, sem="relaxed", scope="cta")
    tl.atomic_add(h + offs, v.to(tl.float16))
    tl.atomic_max(a + offs, v)
    tl.atomic_min(a, 1.0)
    tl.atomic_max(i + offs, 3, mask=mask)
    tl.atomic_min(u + offs, 3, mask=mask)
    tl.atomic_max(u, 3)
    tl.atomic_and(i, 1, sem="acquire")
    tl.atomic_or(i, 1, sem="release")
    tl.atomic_xor(i, 1, scope="sys")
    tl.atomic_xchg(l, 1)
    tl.atomic_cas(i, 0, 1)
    tl.atomic_cas(i + offs, tl.zeros((BLOCK,), tl.int32), tl.load(i + offs))


@triton.jit
def combine(a, b, c, d):
    return tl.where(a > c, a, c), b + d


@triton.jit
def selu(x, alpha):
    if x > 0:
        return x
    return alpha * (x - 1)


@kernel(a="*fp32", b="*i32", BLOCK=64)
def custom_regions(a, b, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(a + offs)
    y = tl.load(b + offs)
    r, s = tl.reduce((x, y), 0, combine)
    u, v = tl.associative_scan((x, y), 0, combine, reverse=True)
    m = tl.map_elementwise(selu, x, x * 2)
    tl.store(a + offs, u + v + r + s + m)


@kernel(a="*fp32", b="*i32", n="i32", BLOCK=64)
def hints_and_debug(a, b, n, BLOCK: tl.constexpr):
    offs = tl.multiple_of(tl.max_contiguous(tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(
        a + tl.max_constancy(offs, [1]), cache_modifier=".cg", eviction_policy="evict_first"
    )
    tl.assume(n > 0)
    tl.device_print("x", x, n)
    tl.device_print("hex ", n, hex=True)
    tl.device_assert(x > 0, "positive")
    tl.static_assert(BLOCK == 64)
    tl.debug_barrier()
    y = tl.inline_asm_elementwise(
        "mov.b32 $0, $1;", "=r,r", [tl.load(b + offs)], dtype=tl.int32, is_pure=True, pack=1
    )
    z = libdevice.tanh(x) if False else x
    tl.store(a + offs, z + y, cache_modifier=".wb", eviction_policy="evict_last")
    tl.store(a + offs, tl.load(a + offs, volatile=True))


@kernel(a="*fp32", s="*u8", o="*fp32", B=32)
def dots(a, s, o, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(a + i[:, None] * B + i[None, :])
    y = tl.dot(x, x, input_precision="ieee")
    z = tl.dot(x.to(tl.float16), x.to(tl.float16), out_dtype=tl.float16)
    w = tl.dot(x.to(tl.int8), x.to(tl.int8))
    e = x.to(tl.float8e5)
    sc = tl.load(s + i[:, None])
    d = tl.dot_scaled(e, sc, "e5m2", e, None, "e5m2")
    x3 = tl.reshape(x, (2, 16, 32))
    t = tl.dot(x3, tl.trans(x3, 0, 2, 1))
    tl.store(o + i[:, None] * B + i[None, :], y + z + w + d)
    tl.store(o, tl.sum(t))


@kernel(o="*fp32", seed="u64", n="i32", BLOCK=64)
def random(o, seed, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(o + offs, tl.rand(seed, offs) + tl.randn(seed, offs))
    tl.store(o + offs, tl.randint(seed, offs))
