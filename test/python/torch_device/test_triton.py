# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels on npu tensors: every way to launch, several devices, benchmarks, tuning."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tuned_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def add(x, y, **options):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256, **options)
    return out


def test_launch_on_npu_tensors():
    x, y = torch.randn(1000, device="npu"), torch.randn(1000, device="npu")
    assert torch.equal(add(x, y), x + y)
    assert torch.equal(add(x[8:], y[8:]), x[8:] + y[8:])


def test_cpu_tensors_work_as_before():
    x, y = torch.randn(1000), torch.randn(1000)
    assert torch.equal(add(x, y), x + y)


def test_a_cpu_tensor_beside_npu_tensors_is_refused():
    x = torch.ones(16, device="npu")
    with pytest.raises(ValueError, match=r"at 1.*cpu tensor\?"):
        add_kernel[(1,)](x, torch.ones(16), x, 16, BLOCK=256)


def test_every_device_of_the_process():
    results = []
    for index in range(torch.npu.device_count()):
        with torch.npu.device(index):
            x = torch.full((300,), float(index), device="npu")
            results.append(add(x, x))
    for index, out in enumerate(results):
        assert out.device.index == index and (out == 2 * index).all()


def test_a_tensor_of_another_device_is_refused():
    x, y = torch.ones(16, device="npu:0"), torch.ones(16, device="npu:3")
    with pytest.raises(ValueError, match="at 1.* is on npu:3, but the launch is on npu:0"):
        add_kernel[(1,)](x, y, x, 16, BLOCK=256)
    with torch.npu.device(3), pytest.raises(ValueError, match="on npu:0.*launch is on npu:3"):
        add_kernel[(1,)](x, x, x, 16, BLOCK=256)


def test_active_device():
    driver = triton.runtime.driver.active
    assert driver.get_active_torch_device() == torch.device("npu", 0)
    torch.npu.set_device(2)
    assert driver.get_current_device() == 2
    assert driver.get_active_torch_device() == torch.device("npu", 2)
    driver.set_current_device(1)
    assert torch.npu.current_device() == 1
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        assert driver.get_current_stream(1) == side.npu_stream
    assert driver.get_device_interface() is torch.npu
    assert driver.utils.get_device_properties(0)["num_vectorcore"] == 40


def test_stream_option_and_context():
    x = torch.ones(256, device="npu")
    side = torch.npu.Stream()
    out = add(x, x, stream=side.npu_stream)
    with torch.npu.stream(side):
        out = add(out, x)
    torch.npu.current_stream().wait_stream(side)
    assert (out == 3).all()


def test_do_bench():
    x = torch.ones(4096, device="npu")
    times = triton.testing.do_bench(lambda: add(x, x), warmup=1, rep=2, return_mode="all")
    assert times and all(t > 0 for t in times)


def test_autotuner():
    x = torch.randn(3000, device="npu")
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(3000, meta["BLOCK"]),)](x, out, 3000)
    assert torch.equal(out, x * 2)
    assert tuned_kernel.best_config.kwargs["BLOCK"] in (256, 1024)


def test_descriptors_and_tuples():
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def copy_kernel(source, pair, BLOCK: tl.constexpr):
        tile = source.load([0, 0])
        i = tl.arange(0, BLOCK)
        tl.store(pair[0] + i[:, None] * BLOCK + i[None, :], tile + pair[1])

    x = torch.randn(16, 16, device="npu")
    out = torch.empty_like(x)
    copy_kernel[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), (out, 1.0), BLOCK=16)
    assert torch.equal(out, x + 1)
    with pytest.raises(ValueError, match="cpu tensor"):
        host = TensorDescriptor.from_tensor(x.cpu(), [16, 16])
        copy_kernel[(1,)](host, (out, 1.0), BLOCK=16)


def test_hooks_see_a_launch():
    seen = []
    triton.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append("enter"))
    triton.knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append("exit"))
    try:
        x = torch.ones(16, device="npu")
        add(x, x)
    finally:
        triton.knobs.runtime.launch_enter_hook.calls.clear()
        triton.knobs.runtime.launch_exit_hook.calls.clear()
    assert seen == ["enter", "exit"]


def test_mixed_program():
    """Kernels and operators in turn, with gradients through the operators."""
    x = torch.randn(512, device="npu", requires_grad=True)
    y = (x * 2).tanh()
    z = add(y.detach(), y.detach())
    loss = (y * z).sum()
    loss.backward()
    reference = x.detach().cpu().requires_grad_()
    yr = (reference * 2).tanh()
    (yr * (2 * yr.detach())).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), reference.grad)
