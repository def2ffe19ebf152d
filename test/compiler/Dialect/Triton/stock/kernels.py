# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose Triton IR, as stock triton 3.6.0 prints it, lies beside this file.

The texts prove that Piton reads and prints what the stock wheel writes, byte for byte.
Regenerate them with `python generate.py` (needs the stock wheel, no GPU).
"""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask)


@triton.jit
def softmax(out, x, x_stride, out_stride, rows, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0)
    for row in tl.range(start, rows, tl.num_programs(0), num_stages=2):
        columns = tl.arange(0, BLOCK)
        mask = columns < cols
        values = tl.load(x + row * x_stride + columns, mask=mask, other=-float("inf"))
        values = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + columns, values / tl.sum(values, axis=0), mask=mask)


@triton.jit
def layer_norm_forward(x, y, w, b, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y += row * stride
    x += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < n, other=0.0).to(tl.float32)
    mu = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        values = tl.load(x + columns, mask=columns < n, other=0.0).to(tl.float32)
        values = tl.where(columns < n, values - mu, 0.0)
        squares += values * values
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        weight = tl.load(w + columns, mask=mask)
        bias = tl.load(b + columns, mask=mask)
        values = tl.load(x + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + columns, (values - mu) * scale * weight + bias, mask=mask)


@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, lock, stride, n, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x += row * stride
    dy += row * stride
    dx += row * stride
    group = row % GROUP
    lock += group
    count = lock + GROUP
    dw = dw + group * n + columns
    db = db + group * n + columns
    values = tl.load(x + columns, mask=mask, other=0).to(tl.float32)
    grad = tl.load(dy + columns, mask=mask, other=0).to(tl.float32)
    weight = tl.load(w + columns, mask=mask).to(tl.float32)
    mu = tl.load(mean + row)
    scale = tl.load(rstd + row)
    normal = tl.where(mask, (values - mu) * scale, 0.0)
    weighted = tl.where(mask, weight * grad, 0.0)
    c1 = tl.sum(normal * weighted, axis=0) / n
    c2 = tl.sum(weighted, axis=0) / n
    tl.store(dx + columns, (weighted - (normal * c1 + c2)) * scale, mask=mask)
    partial_w = (grad * normal).to(w.dtype.element_ty)
    partial_b = grad.to(w.dtype.element_ty)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    seen = tl.load(count)
    if seen == 0:
        tl.atomic_xchg(count, 1)
    else:
        partial_w += tl.load(dw, mask=mask)
        partial_b += tl.load(db, mask=mask)
    tl.store(dw, partial_w, mask=mask)
    tl.store(db, partial_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    sam,
    sak,
    sbk,
    sbn,
    scm,
    scn,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    rows = tl.cdiv(m, M)
    cols = tl.cdiv(n, N)
    group_size = GROUP * cols
    group = pid // group_size
    first = group * GROUP
    height = min(rows - first, GROUP)
    pid_m = first + ((pid % group_size) % height)
    pid_n = (pid % group_size) // height
    tl.assume(pid_m >= 0)
    offs_m = (pid_m * M + tl.arange(0, M)) % m
    offs_n = (pid_n * N + tl.arange(0, N)) % n
    offs_k = tl.arange(0, K)
    pa = a + (offs_m[:, None] * sam + offs_k[None, :] * sak)
    pb = b + (offs_k[:, None] * sbk + offs_n[None, :] * sbn)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        left = tl.load(pa, mask=offs_k[None, :] < k - step * K, other=0.0)
        right = tl.load(pb, mask=offs_k[:, None] < k - step * K, other=0.0)
        acc = tl.dot(left, right, acc)
        pa += K * sak
        pb += K * sbk
    acc = leaky(acc)
    offs_cm = pid_m * M + tl.arange(0, M)
    offs_cn = pid_n * N + tl.arange(0, N)
    pc = c + scm * offs_cm[:, None] + scn * offs_cn[None, :]
    tl.store(pc, acc.to(tl.float16), mask=(offs_cm[:, None] < m) & (offs_cn[None, :] < n))


@triton.jit
def attention(q, k, v, out, scale, length, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    start = tl.program_id(0)
    head = tl.program_id(1)
    offs_m = start * M + tl.arange(0, M)
    offs_n = tl.arange(0, N)
    offs_d = tl.arange(0, D)
    base = head * length * D
    queries = tl.load(q + base + offs_m[:, None] * D + offs_d[None, :])
    top = tl.zeros([M], dtype=tl.float32) - float("inf")
    total = tl.zeros([M], dtype=tl.float32) + 1.0
    acc = tl.zeros([M, D], dtype=tl.float32)
    for at in tl.range(0, length, N):
        at = tl.multiple_of(at, N)
        keys = tl.load(k + base + (at + offs_n)[None, :] * D + offs_d[:, None])
        scores = tl.dot(queries, keys) * scale
        scores += tl.where(offs_m[:, None] >= (at + offs_n)[None, :], 0, -1.0e6)
        high = tl.maximum(top, tl.max(scores, 1))
        scores -= high[:, None]
        weights = tl.math.exp2(scores)
        alpha = tl.math.exp2(top - high)
        total = total * alpha + tl.sum(weights, 1)
        acc = acc * alpha[:, None]
        values = tl.load(v + base + (at + offs_n)[:, None] * D + offs_d[None, :])
        acc = tl.dot(weights.to(tl.float16), values, acc)
        top = high
    acc = acc / total[:, None]
    tl.store(out + base + offs_m[:, None] * D + offs_d[None, :], acc.to(tl.float16))


@triton.jit
def sort_rows(x, out, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + offsets, tl.sort(tl.load(x + offsets), descending=True))


@triton.jit
def keep_larger(a_value, a_index, b_value, b_index):
    take = a_value > b_value
    return tl.where(take, a_value, b_value), tl.where(take, a_index, b_index)


@triton.jit
def scans(x, out, index, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    values = tl.load(x + offsets)
    tl.store(out + offsets, tl.cumsum(values, 1) + tl.cumprod(values, 0, reverse=True))
    best, where = tl.associative_scan((values, offsets), 1, keep_larger)
    tl.store(index + offsets, where)
    tl.store(index + tl.arange(0, M), tl.argmax(best, 1))
    tl.store(index + tl.arange(0, M), tl.argmin(values, 1, tie_break_left=False))
    tl.store(out, tl.xor_sum(tl.reduce(offsets, 1, keep_any), 0))


@triton.jit
def keep_any(a, b):
    return a + b * 2


@triton.jit
def descriptors(x, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [M, N])
    target = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N], padding_option="nan")
    row = tl.program_id(0) * M
    for column in range(0, cols, N):
        tile = source.load([row, column])
        target.store([row, column], tile * 2)
        target.atomic_add([row, column], tile)


@triton.jit
def host_descriptor(source, out, M: tl.constexpr, N: tl.constexpr):
    tile = source.load([tl.program_id(0) * M, 0])
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tile)


@triton.jit
def block_pointers(x, out, rows, cols, stride, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(
        x, (rows, cols), (stride, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0)
    )
    target = tl.make_block_ptr(
        out, (rows, cols), (stride, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0)
    )
    for _ in range(0, cols, N):
        tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, tl.trans(tl.trans(tile)) + 1, boundary_check=(0,))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (0, N))


@triton.jit
def atomics(x, floats, ints, longs, N: tl.constexpr):
    offsets = tl.arange(0, N)
    mask = offsets < 7
    values = tl.load(x + offsets)
    tl.atomic_add(floats + offsets, values, mask=mask)
    tl.atomic_max(floats + offsets, values, mask=mask)
    tl.atomic_min(floats, 1.0)
    whole = values.to(tl.int32)
    tl.atomic_add(ints + offsets, whole, sem="relaxed", scope="cta")
    tl.atomic_and(ints + offsets, whole, mask=mask)
    tl.atomic_or(ints + offsets, whole, sem="acquire")
    tl.atomic_xor(ints + offsets, whole, sem="release", scope="sys")
    old = tl.atomic_xchg(ints + offsets, whole)
    tl.atomic_cas(ints + offsets, old, whole)
    tl.atomic_min(longs, 3)
    tl.atomic_max(longs, 5)


@triton.jit
def shapes(x, index, out, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(x + offsets, cache_modifier=".cg", eviction_policy="evict_last")
    flat = tl.reshape(tile, [M * N], can_reorder=True)
    low, high = tl.split(tl.reshape(flat, [M * N // 2, 2]))
    pairs = tl.join(low, high)
    tl.store(out + tl.arange(0, M * N), tl.ravel(pairs))
    tl.store(out + tl.arange(0, M * N), tl.cat(low, high, can_reorder=True))
    tl.store(out + offsets, tl.flip(tile, 1))
    tl.store(out + offsets, tl.gather(tile, tl.load(index + offsets), axis=1), cache_modifier=".wt")
    cube = tl.permute(tl.reshape(tile, [2, M // 2, N]), (2, 0, 1))
    tl.store(out + tl.arange(0, M * N), tl.interleave(low, high) + tl.ravel(cube))


@triton.jit
def histogram(x, out, N: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.arange(0, N)
    values = tl.load(x + offsets)
    counts = tl.histogram(values, BINS) + tl.histogram(values, BINS, mask=offsets < 100)
    tl.store(out + tl.arange(0, BINS), counts)


@triton.jit
def dot_scaled(a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    right = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    groups = tl.arange(0, K // 32)[None, :]
    scale_a = tl.load(sa + tl.arange(0, M)[:, None] * (K // 32) + groups)
    scale_b = tl.load(sb + tl.arange(0, N)[:, None] * (K // 32) + groups)
    acc = tl.dot_scaled(left, scale_a, "e5m2", right, scale_b, "e4m3")
    acc = tl.dot_scaled(left, scale_a, "e5m2", right, None, "e4m3", acc=acc, fast_math=True)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], acc)


@triton.jit
def while_loop(x, out, n):
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(x + middle) < 10:
            low = middle + 1
        else:
            high = middle
    tl.store(out, low)


@triton.jit
def early_return(x, out, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    value = tl.load(x + pid)
    if value > 3:
        tl.store(out + pid, value)
        return
    tl.store(out + pid, -value)


@triton.jit(noinline=True)
def helper(x, y):
    return x * y + 1


@triton.jit
def noinline_call(x, out):
    tl.store(out, helper(tl.load(x), 3.0))


@triton.jit
def debug_ops(x, n, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, N))
    tl.device_print("values", values, n)
    tl.device_print("hex", values.to(tl.int32), hex=True)
    tl.device_print("alone")
    tl.device_assert(values > 0, "must be positive")
    tl.static_assert(N > 0)


@triton.jit
def inline_assembly(x, y, out, N: tl.constexpr):
    offsets = tl.arange(0, N)
    low, high = tl.inline_asm_elementwise(
        "mov.b32 $0, $2; mov.b32 $1, $3;",
        "=r,=r,r,r",
        [tl.load(x + offsets), tl.load(y + offsets)],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=1,
    )
    packed = tl.inline_asm_elementwise(
        "mov.b32 $0, $1;", "=r,r", [low.to(tl.int8)], dtype=tl.int8, is_pure=False, pack=4
    )
    tl.store(out + offsets, high + packed.to(tl.float32))


@triton.jit
def compare(a, b):
    if a < b:
        return -1
    elif a == b:
        return 0
    else:
        return 1


@triton.jit
def map_elementwise(x, y, out, N: tl.constexpr):
    offsets = tl.arange(0, N)
    signs = tl.map_elementwise(compare, tl.load(x + offsets), tl.load(y + offsets))
    tl.store(out + offsets, signs)


@triton.jit
def math_ops(x, i, out, N: tl.constexpr):
    offsets = tl.arange(0, N)
    v = tl.load(x + offsets)
    k = tl.load(i + offsets)
    v = tl.exp(v) + tl.exp2(v) + tl.log(v) + tl.log2(v) + tl.sin(v) + tl.cos(v) + tl.erf(v)
    v += tl.sqrt(v) + tl.sqrt_rn(v) + tl.rsqrt(v) + tl.abs(v) + tl.floor(v) + tl.ceil(v)
    v += tl.div_rn(v, 3.0) + tl.fma(v, v, v) + tl.clamp(v, 0.0, 1.0) + tl.maximum(v, 1.0)
    v += tl.clamp(v, 0.0, 1.0, propagate_nan=tl.PropagateNan.ALL) + tl.sigmoid(v)
    v += tl.maximum(v, 2.0, propagate_nan=tl.PropagateNan.ALL) + v % 3.0
    k = tl.umulhi(k, k) + tl.abs(k) + (k >> 1) + (k << 2) + k // 3 + k % 5 + ~k
    half = v.to(tl.float16, fp_downcast_rounding="rtz").to(tl.bfloat16).to(tl.float8e5)
    bits = v.to(tl.int32, bitcast=True) + half.to(tl.float32).to(tl.int32)
    tl.store(out + offsets, v + (k + bits).to(tl.float32))
    tl.store(out.to(tl.pointer_type(tl.int32)) + offsets, (out + offsets).to(tl.int64).to(tl.int32))


@triton.jit
def hints(x, out, n, N: tl.constexpr):
    offsets = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * N + tl.arange(0, N), N), N)
    flags = tl.max_constancy(offsets < n, 4)
    total = tl.zeros([N], tl.float32)
    for i in tl.range(0, n, 1, loop_unroll_factor=2, num_stages=3, disable_licm=True):
        total += tl.load(x + offsets + i, mask=flags, other=0.0, volatile=True)
    for i in tl.range(0, n, flatten=True, disallow_acc_multi_buffer=True):
        total += i
    tl.store(out + offsets, total, mask=flags, eviction_policy="evict_first")


@triton.jit
def bools(x, out, flag, N: tl.constexpr):
    offsets = tl.arange(0, N)
    bits = tl.load(x + offsets)
    tl.store(out + offsets, bits & flag)
    tl.store(out + offsets, tl.rand(1, offsets).to(tl.int32).to(tl.int1))


@triton.jit
def tuples(values, out):
    first, second = values
    tl.store(out, tl.load(first) + second)
