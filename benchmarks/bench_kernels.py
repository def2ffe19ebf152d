# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of examples/ against torch: add, softmax, layer norm, matmul, attention."""

import torch
import triton
import triton.language as tl
from attention import attention_kernel
from bench_report import alternate, milliseconds, native_half
from layer_norm import layer_norm_forward_kernel
from matmul import matmul
from softmax import softmax_kernel
from vector_add import add_kernel

from piton import _runtime

F = torch.nn.functional


def check(got, want, tolerance):
    """A fast wrong kernel is no result."""
    error = (got.double() - want.double()).abs().max().item()
    assert error <= tolerance, f"wrong result: error {error}, allowed {tolerance}"


def compare(report, name, ours, theirs, target, rounds=None, **kwargs):
    """Row with our time, torch's time and their ratio."""
    mine, other = alternate([ours, theirs], rounds or report.rounds)
    report.row(name, milliseconds(mine), milliseconds(other), mine / other, target, **kwargs)


class DeviceArray:
    """A copy of a tensor in memory of device 0, as a launch takes it: data_ptr() and dtype."""

    def __init__(self, tensor):
        self.like, self.dtype, self.bytes = tensor, tensor.dtype, tensor.nbytes
        self.address = _runtime.memory_allocate(self.bytes)
        _runtime.memory_copy(self.address, tensor.data_ptr(), self.bytes)

    def data_ptr(self):
        return self.address

    def host(self):
        """The present contents as a CPU tensor."""
        out = torch.empty_like(self.like)
        _runtime.memory_copy(out.data_ptr(), self.address, self.bytes)
        return out

    def free(self):
        _runtime.memory_free(self.address)


def add(report):
    n, block = 4 << 20, 1024
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    grid = (triton.cdiv(n, block),)

    def ours():
        add_kernel[grid](x, y, out, n, BLOCK=block)

    ours()
    check(out, x + y, 0)
    compare(report, "add f32 4M, caller's thread", ours, lambda: torch.add(x, y, out=out), 1.05)
    xs, ys, outs = DeviceArray(x), DeviceArray(y), DeviceArray(out)
    stream = _runtime.stream_create(0)

    def streamed():
        add_kernel[grid](xs, ys, outs, n, BLOCK=block, stream=stream)
        _runtime.stream_synchronize(stream)

    streamed()
    check(outs.host(), x + y, 0)
    compare(
        report, "add f32 4M, through a stream", streamed, lambda: torch.add(x, y, out=out), None
    )
    _runtime.stream_destroy(stream)
    for array in (xs, ys, outs):
        array.free()


def softmax(report):
    for rows, columns, target in ((4096, 1024, 0.8), (4096, 781, 1.05)):
        x = torch.randn(rows, columns)
        out = torch.empty_like(x)

        def ours(x=x, out=out, rows=rows, columns=columns):
            softmax_kernel[(rows,)](x, out, x.stride(0), out.stride(0), columns, BLOCK=1024)

        ours()
        check(out, torch.softmax(x, -1), 1e-6)
        name = f"softmax f32 {rows}x{columns}" + ("" if columns == 1024 else " (of 1024)")
        compare(report, name, ours, lambda x=x: torch.softmax(x, -1), target)


def layer_norm(report):
    for rows, columns, target in ((4096, 1024, 1.0), (4096, 781, 1.05)):
        x, w, b = torch.randn(rows, columns), torch.rand(columns), torch.rand(columns)
        out, mean, rstd = torch.empty_like(x), torch.empty(rows), torch.empty(rows)

        def ours(x=x, w=w, b=b, out=out, mean=mean, rstd=rstd, rows=rows, columns=columns):
            layer_norm_forward_kernel[(rows,)](
                x, out, w, b, mean, rstd, x.stride(0), columns, 1e-5, BLOCK=1024
            )

        def theirs(x=x, w=w, b=b, columns=columns):
            return F.layer_norm(x, (columns,), w, b)

        ours()
        check(out, theirs(), 1e-4)
        name = f"layer norm f32 {rows}x{columns}" + ("" if columns == 1024 else " (of 1024)")
        compare(report, name, ours, theirs, target)


def matmuls(report):
    """Throughputs: torch's fp32 sets the scale for ours, and our fp32 for the other types."""
    for n in (1024, 2048):
        a, b = torch.randn(n, n), torch.randn(n, n)
        outs, sides, names = {}, [lambda a=a, b=b: a @ b], []
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8):
            if dtype == torch.int8:
                p, q = (torch.randint(-128, 128, (n, n), dtype=dtype) for _ in range(2))
                out = torch.empty((n, n), dtype=torch.int32)
            else:
                p, q, out = a.to(dtype), b.to(dtype), torch.empty((n, n), dtype=dtype)
            matmul(p, q, out=out)
            tolerance = {torch.float32: 2e-3, torch.float16: 0.3, torch.bfloat16: 2.5}
            check(out, p.float() @ q.float(), tolerance.get(dtype, 0.5))
            names.append(str(dtype).removeprefix("torch."))
            sides.append(lambda p=p, q=q, out=out: matmul(p, q, out=out))
            outs[names[-1]] = (p, q)
        rounds = max(report.rounds // (1 if n == 1024 else 3), 3)
        torch_time, *times = alternate(sides, rounds)
        gigaflops = 2 * n**3 / 1e9
        base = times[0]
        for name, seconds in zip(names, times, strict=True):
            reference = torch_time if name == "float32" else base
            target = {"float32": 0.75, "float16": 0.95, "bfloat16": 0.95, "int8": 1.2}[name]
            of = "torch fp32" if name == "float32" else "our fp32"
            report.row(
                f"matmul {name} {n}^3, rate of {of}", f"{gigaflops / seconds:.0f} GF/s",
                f"{gigaflops / reference:.0f} GF/s", reference / seconds, target, at_least=True,
            )  # fmt: skip
        for name in ("float16", "bfloat16"):
            if n == 1024 and native_half(name):
                p, q = outs[name]
                theirs = alternate([lambda p=p, q=q: p @ q], rounds)[0]
                seconds = times[names.index(name)]
                report.row(
                    f"matmul {name} {n}^3, time of torch's own (native)", milliseconds(seconds),
                    milliseconds(theirs), seconds / theirs,
                )  # fmt: skip


def attentions(report):
    heads, n, dim = 8, 1024, 64
    targets = {torch.float32: 1.15, torch.float16: 0.7, torch.bfloat16: 1.15}
    for dtype, target in targets.items():
        q, k, v = (torch.randn(heads, n, dim).to(dtype) for _ in range(3))
        out = torch.empty_like(q)
        block_m, block_n = (128, 64) if dtype == torch.float32 else (128, 128)

        def ours(q=q, k=k, v=v, out=out, block_m=block_m, block_n=block_n):
            attention_kernel[(triton.cdiv(n, block_m), heads)](
                q, k, v, out, dim**-0.5, n, n, q.stride(0), k.stride(0),
                CAUSAL=False, BLOCK_M=block_m, BLOCK_N=block_n, HEAD=dim,
            )  # fmt: skip

        def theirs(q=q, k=k, v=v):
            return F.scaled_dot_product_attention(q[None], k[None], v[None])

        ours()
        exact = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
        check(out, exact, {torch.float32: 1e-5, torch.float16: 2e-3}.get(dtype, 1.6e-2))
        name = str(dtype).removeprefix("torch.")
        native = native_half(name)
        label = f"attention {name} {heads}x{n}x{dim}" + (" (torch's is native)" if native else "")
        compare(report, label, ours, theirs, None if native else target)


@triton.jit
def empty_kernel(x_ptr, n, BLOCK: tl.constexpr):
    """One small store: what is measured is the launch."""
    tl.store(x_ptr + tl.arange(0, BLOCK), n)


ITEMS = {
    "add": add, "softmax": softmax, "layer_norm": layer_norm, "matmul": matmuls,
    "attention": attentions,
}  # fmt: skip
