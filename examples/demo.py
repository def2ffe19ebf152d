# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job of Piton: ordinary Triton scripts on the simulated NPU, checked against torch.

Prints one row a kernel: shape, maximum error, time (median of several warm runs),
torch's time for the same work, and the time of the first call, which compiles. Ends with a
distributed kernel on two processing elements.
Exits with 1 when a result is wrong.
"""

import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

import torch
from attention import attention
from layer_norm import layer_norm_backward, layer_norm_forward
from matmul import matmul
from softmax import softmax
from vector_add import vector_add

F = torch.nn.functional


def timed(fn, runs=5):
    """First result, seconds of the first call, median seconds of the following ones."""
    start = time.perf_counter()
    result = fn()
    first = time.perf_counter() - start
    rest = []
    for _ in range(runs):
        start = time.perf_counter()
        fn()
        rest.append(time.perf_counter() - start)
    return result, first, statistics.median(rest)


def cases():
    """Yields name, shape text, tolerance, kernel call, torch call."""
    x, y = torch.randn(1_000_003), torch.randn(1_000_003)
    yield "vector add", "1000003", 0.0, lambda: vector_add(x, y), lambda: x + y
    s = torch.randn(1823, 781)
    yield "softmax", "1823x781", 1e-6, lambda: softmax(s), lambda: torch.softmax(s, -1)

    n = torch.randn(509, 781)
    w, b, dy = torch.rand(781), torch.rand(781), torch.randn(509, 781)
    yield (
        "layer norm", "509x781", 1e-5,
        lambda: layer_norm_forward(n, w, b)[0], lambda: F.layer_norm(n, (781,), w, b),
    )  # fmt: skip
    _, mean, rstd = layer_norm_forward(n, w, b)

    def torch_backward():
        args = [t.clone().requires_grad_() for t in (n, w, b)]
        F.layer_norm(args[0], (781,), *args[1:]).backward(dy)
        return torch.cat([t.grad.flatten() for t in args])

    yield (
        "layer norm bwd", "509x781", 1e-3,
        lambda: torch.cat([t.flatten() for t in layer_norm_backward(dy, n, w, mean, rstd)]),
        torch_backward,
    )  # fmt: skip
    for dtype, tolerance in ((torch.float32, 1e-3), (torch.float16, 0.25), (torch.bfloat16, 2.0)):
        p, q = torch.randn(500, 333).to(dtype), torch.randn(333, 450).to(dtype)
        name = "matmul " + str(dtype).removeprefix("torch.")
        yield (
            name, "500x450x333", tolerance,
            lambda p=p, q=q: matmul(p, q).float(), lambda p=p, q=q: p.float() @ q.float(),
        )  # fmt: skip
    q, k, v = (torch.randn(4, 500, 64) for _ in range(3))
    yield (
        "attention", "4x500x64", 1e-5,
        lambda: attention(q, k, v), lambda: F.scaled_dot_product_attention(q, k, v),
    )  # fmt: skip


def main():
    columns = f"{'max error':>11}{'time ms':>10}{'torch ms':>10}{'first ms':>10}"
    print(f"{'kernel':<18}{'shape':<14}{columns}")
    wrong = 0
    for name, shape, tolerance, kernel, reference in cases():
        got, first, seconds = timed(kernel)
        want, _, torch_seconds = timed(reference)
        error = (got - want).abs().max().item()
        ok = error <= tolerance
        wrong += not ok
        print(
            f"{name:<18}{shape:<14}{error:>11.2e}{seconds * 1e3:>10.2f}{torch_seconds * 1e3:>10.2f}"
            f"{first * 1e3:>10.1f}{'' if ok else '  WRONG'}"
        )
    return 1 if wrong or not two_ranks() else 0


RESERVED = []


def free_port() -> int:
    """A port that nobody else gets while this runs; who listens there sets SO_REUSEADDR."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    RESERVED.append(reserved)
    return reserved.getsockname()[1]


def two_ranks() -> bool:
    """All-gather and product in one kernel on two PEs (examples/distributed); prints its lines."""
    script = pathlib.Path(__file__).parent / "distributed" / "allgather_gemm.py"
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TRITON_DIST_PLATFORM": "ascend",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "PITON_EXAMPLE_STORE": f"tcp://127.0.0.1:{free_port()}",
    }
    print("\nallgather_gemm on 2 PEs, one process each", flush=True)
    ranks = [
        subprocess.Popen([sys.executable, str(script)], env={**env, "RANK": str(rank)})
        for rank in range(2)
    ]
    return all([rank.wait() == 0 for rank in ranks])


if __name__ == "__main__":
    sys.exit(main())
