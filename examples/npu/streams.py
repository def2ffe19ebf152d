# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels and torch operators on two streams, ordered by events.

    piton exec -- python examples/npu/streams.py

One stream prepares the next block of rows with torch while a kernel works on the last one in the
other stream. Events carry each block from stream to stream and say how long it all took.
"""

import torch
import triton
import triton.language as tl

import torch_npu  # noqa: F401


@triton.jit
def scale_rows_kernel(x_ptr, factor_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """out[row, :] = x[row, :] * factor[row]; one row a program, BLOCK >= columns."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=inside)
    tl.store(out_ptr + row * columns + lanes, x * tl.load(factor_ptr + row), mask=inside)


def normalised_blocks(blocks: list[torch.Tensor]) -> tuple[list[torch.Tensor], float]:
    """Each block [rows, columns] with rows of length 1, and the milliseconds from start to end."""
    prepare, work = torch.npu.Stream(), torch.npu.Stream()
    begin, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    begin.record(prepare)
    results = []
    for block in blocks:
        with torch.npu.stream(prepare):
            x = block.npu(non_blocking=True)
            factors = x.pow(2).sum(1).rsqrt()  # torch operators
            ready = prepare.record_event()
        with torch.npu.stream(work):
            work.wait_event(ready)
            out = torch.empty_like(x)
            rows, columns = x.shape
            scale_rows_kernel[(rows,)](
                x, factors, out, columns, BLOCK=triton.next_power_of_2(columns)
            )
            x.record_stream(work)
            factors.record_stream(work)
            results.append(out.add_(0.0))  # an operator after the kernel, in its stream
    end.record(work)
    torch.npu.current_stream().wait_stream(work)
    end.synchronize()
    return [out.cpu() for out in results], begin.elapsed_time(end)


def main():
    torch.manual_seed(0)
    blocks = [torch.randn(64, 1000) for _ in range(8)]
    results, milliseconds = normalised_blocks(blocks)
    for block, out in zip(blocks, results, strict=True):
        torch.testing.assert_close(out, torch.nn.functional.normalize(block), rtol=1e-5, atol=1e-6)
    print(f"{len(blocks)} blocks on two streams equal torch on the CPU ({milliseconds:.1f} ms)")


if __name__ == "__main__":
    main()
