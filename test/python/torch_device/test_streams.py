# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Order of kernels and operators on streams, and memory that running kernels still use."""

import ctypes
import threading
import time

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def wait_then_fill(flag, out, value, n, BLOCK: tl.constexpr):
    """Waits until the host sets `flag`, then fills `out`."""
    while tl.atomic_add(flag, 0) == 0:
        pass
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros([BLOCK], tl.float32) + value, mask=i < n)


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def out_of_bounds(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x - 4096 + i, tl.zeros([BLOCK], tl.float32) - 7)
    tl.store(x + 64 + i, tl.zeros([BLOCK], tl.float32) - 7)


class Flag:
    """An int32 in device memory that the host sets without the stream's order."""

    def __init__(self, device="npu:0"):
        self.tensor = torch.zeros(1, dtype=torch.int32, device=device)
        self.cell = ctypes.c_int32.from_address(self.tensor.data_ptr())

    def set(self, after=0.0):
        if not after:
            self.cell.value = 1
            return None
        timer = threading.Timer(after, self.set)
        timer.start()
        return timer


def pending(out, flag, value=3.0):
    wait_then_fill[(1,)](flag.tensor, out, value, out.numel(), BLOCK=16)


def test_an_operator_waits_for_its_streams_kernels():
    out, flag = torch.zeros(8, device="npu"), Flag()
    pending(out, flag)
    stream = torch.npu.current_stream()
    assert not stream.query()
    flag.set(after=0.2)
    assert (out + 1).tolist() == [4] * 8
    assert stream.query()


@pytest.mark.parametrize(
    "read",
    [
        lambda t: t.cpu()[0].item(),
        lambda t: t[0].item(),
        lambda t: t.to("npu:1")[0].item(),
        lambda t: torch.ops.piton.cpu_alias(t)[0].item(),
        lambda t: t.clone()[0].item(),
        lambda t: torch.zeros(8).copy_(t)[0].item(),
        lambda t: torch.nn.functional.conv1d(t.view(1, 1, 8), torch.ones(1, 1, 1, device="npu"))[
            0, 0, 0
        ].item(),
        lambda t: t.resize_(4096)[0].item(),
    ],
)
def test_every_way_to_read_waits(read):
    out, flag = torch.zeros(8, device="npu"), Flag()
    pending(out, flag)
    flag.set(after=0.1)
    assert read(out) == 3


def test_streams_are_independent_until_an_event_orders_them():
    flag = Flag()
    out, other = torch.zeros(8, device="npu"), torch.zeros(8, device="npu")
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        assert torch.npu.current_stream().stream_id == side.stream_id
        pending(out, flag)
        done = torch.npu.Event()
        done.record()
    assert not done.query() and not side.query()
    assert (other + 1).sum().item() == 8, "the default stream does not wait for the other"
    torch.npu.current_stream().wait_event(done)
    add_one[(1,)](out, 8, BLOCK=16)
    assert out.data_ptr() and not torch.npu.current_stream().query()
    flag.set(after=0.1)
    assert out.tolist() == [4] * 8


def test_kernels_of_one_stream_are_ordered():
    out, flag = torch.zeros(8, device="npu"), Flag()
    pending(out, flag)
    for _ in range(5):
        add_one[(1,)](out, 8, BLOCK=16)
    flag.set()
    torch.npu.synchronize()
    assert out.tolist() == [8] * 8


def test_events_measure_and_wait():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    out, flag = torch.zeros(8, device="npu"), Flag()
    start.record()
    pending(out, flag)
    end.record()
    assert not end.query()
    flag.set(after=0.1)
    end.synchronize()
    assert 80 < start.elapsed_time(end) < 60_000
    side = torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    side.synchronize()


def test_a_freed_tensor_is_kept_while_a_kernel_runs():
    out, flag = torch.zeros(1 << 18, device="npu"), Flag()
    address = out.data_ptr()
    wait_then_fill[(1,)](flag.tensor, out, 3.0, 16, BLOCK=16)
    del out
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        kept = [torch.full((1 << 18,), 5.0, device="npu") for _ in range(4)]
    assert address not in [t.data_ptr() for t in kept]
    flag.set()
    torch.npu.synchronize()
    assert all((t == 5).all() for t in kept)
    again = torch.empty(1 << 18, device="npu")
    assert again.data_ptr() == address, "and is used again afterwards"


def test_full_memory_waits_for_what_running_kernels_hold():
    out, flag = torch.zeros(8, device="npu:4"), Flag("npu:4")
    with torch.npu.device(4):
        free, _ = torch.npu.mem_get_info(4)
        # Addresses only: nothing is written, and no part is more than the host has.
        parts = [torch.empty(free // 8, dtype=torch.uint8, device="npu:4") for _ in range(7)]
        pending(out, flag)
        address = parts.pop(3).data_ptr()
        parts.append(torch.empty(free // 8 - 4096, dtype=torch.uint8, device="npu:4"))
        flag.set(after=0.2)
        last = torch.empty(free // 8, dtype=torch.uint8, device="npu:4")
        assert last.data_ptr() == address and flag.cell.value == 1


def test_a_faulty_kernel_cannot_hurt_the_allocator():
    blocks = [torch.ones(64, device="npu") for _ in range(50)]
    out_of_bounds[(1,)](blocks[25], BLOCK=2048)
    torch.npu.synchronize()
    del blocks
    fresh = [torch.full((n,), float(n), device="npu") for n in range(1, 200)]
    assert len({t.data_ptr() for t in fresh}) == 199
    assert all((t == n).all() for n, t in enumerate(fresh, 1))
    del fresh
    torch.npu.empty_cache()


def test_stream_numbers():
    s = torch.npu.Stream(device="npu:2")
    assert s.device == torch.device("npu:2") and s.npu_stream != 0
    assert len({torch.npu.Stream().stream_id for _ in range(20)}) == 20
    with pytest.raises(ValueError, match="no stream with id 99"):
        torch.Stream(stream_id=99, device_index=0, device_type=s.device_type).synchronize()
    x = torch.ones(1, device="npu")
    x.record_stream(s)


def test_current_device_and_stream_belong_to_a_thread():
    seen = []
    torch.npu.set_device(2)

    def body():
        seen.append((torch.npu.current_device(), torch.npu.current_stream().stream_id))

    with torch.npu.stream(torch.npu.Stream()):
        worker = threading.Thread(target=body)
        worker.start()
        worker.join()
    assert seen == [(0, 0)]


def test_waiting_does_not_hold_the_gil():
    out, flag = torch.zeros(8, device="npu"), Flag()
    pending(out, flag)
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.005):
            ticks.append(time.perf_counter())

    worker = threading.Thread(target=count)
    worker.start()
    flag.set(after=0.3)
    out + 1
    stop.set()
    worker.join()
    assert len(ticks) > 5
