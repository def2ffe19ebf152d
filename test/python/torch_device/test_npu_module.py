# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.npu`: devices, streams, events, memory figures, random numbers, mixed precision."""

import ctypes
import gc
import os
import subprocess
import sys

import pytest
import torch

npu = torch.npu


def test_names_are_one_module():
    import torch.npu.amp
    import torch.npu.streams
    import torch.npu.utils

    assert sys.modules["torch.npu"] is torch.npu
    assert torch.npu.amp.autocast is npu.amp.autocast
    assert torch.npu.streams.Stream is npu.Stream
    assert torch.npu.utils.set_device is npu.set_device
    assert all(hasattr(npu, name) for name in npu.__all__)
    with pytest.raises(AttributeError, match="torch.npu' has no attribute 'nothing'"):
        npu.nothing  # noqa: B018


def test_devices():
    assert npu.is_available() and npu.is_initialized()
    count = npu.device_count()
    assert count == torch.accelerator.device_count() > 1
    npu.set_device(1)
    assert npu.current_device() == 1 and torch.ones(1, device="npu").device.index == 1
    npu.set_device("npu:0")
    npu.set_device(torch.device("npu", 0))
    npu.set_device(-1)  # ignored, as torch.cuda does
    assert npu.current_device() == 0
    with npu.device(1):
        with npu.device(None), npu.device(-1):
            assert npu.current_device() == 1
    with npu.device_of(torch.ones(1, device="npu:1")):
        assert npu.current_device() == 1
    with npu.device_of(torch.ones(1)):
        assert npu.current_device() == 0
    assert npu.can_device_access_peer(0, 1) and not npu.can_device_access_peer(1, 1)


def test_a_device_is_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), npu.device(1):
        1 / 0  # noqa: B018
    assert npu.current_device() == 0


@pytest.mark.parametrize(
    ("device", "error", "text"),
    (
        (99, RuntimeError, "npu device index is 99; there are"),
        ("npu:99", RuntimeError, "npu device index is 99"),
        ("cuda:0", ValueError, "an npu device is expected, such as 'npu:0', not 'cuda:0'"),
        ("cpu", ValueError, "an npu device is expected"),
        ("xx", ValueError, "'xx' names no device"),
        (None, ValueError, "with an index is expected"),
        (1.5, TypeError, "not 1.5"),
        (True, TypeError, "not True"),
    ),
)
def test_bad_devices(device, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        npu.set_device(device)
    assert npu.current_device() == 0


@pytest.mark.parametrize(
    "use",
    (
        npu.device, npu.synchronize, npu.current_stream, npu.default_stream, npu.Stream,
        npu.memory_allocated, npu.mem_get_info, npu.get_device_properties, npu.get_device_name,
        npu.get_rng_state, npu.reset_peak_memory_stats,
    ),
)  # fmt: skip
def test_every_function_checks_its_device(use):
    with pytest.raises(RuntimeError, match="npu device index is 99"):
        use(99)
    assert torch.ones(2, device="npu").sum().item() == 2  # the process lives on


def test_tensors_on_a_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match="99"):
        torch.ones(1, device="npu:99")


def test_properties_come_from_the_hardware_model():
    from piton import _runtime

    model = _runtime.device_properties(0)
    p = npu.get_device_properties()
    assert p.name == npu.get_device_name() == model["name"]
    assert p.total_memory == npu.mem_get_info()[1] == model["memory_bytes"]
    assert (p.cube_core_num, p.vector_core_num) == (
        model["num_cubecore"],
        model["num_vectorcore"],
    )
    assert p.multi_processor_count == model["num_aicore"]


def test_properties_follow_the_soc():
    child = subprocess.run(
        [sys.executable, "-c",
         "import torch; p = torch.npu.get_device_properties(0); "
         "print(p.name, p.arch, torch.npu.device_count())"],
        env={**os.environ, "TRITON_ASCEND_ARCH": "Ascend910_9362", "PITON_DEVICE_COUNT": "2"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert child.stdout.split() == ["Ascend910_9362", "dav-c220", "2"], child.stderr


def test_streams():
    stream = npu.Stream()
    assert isinstance(stream, torch.Stream) and stream.device == torch.device("npu:0")
    assert npu.current_stream() == npu.default_stream() != stream
    with npu.stream(stream):
        assert npu.current_stream() == stream
        assert isinstance(npu.current_stream(), npu.Stream)
        assert npu.current_stream().npu_stream == stream.npu_stream
    assert npu.current_stream() == npu.default_stream()
    with npu.stream(None):
        assert npu.current_stream() == npu.default_stream()
    npu.set_stream(stream)
    assert npu.current_stream() == stream
    npu.set_stream(npu.default_stream())
    assert stream.query() and hash(stream) == hash(npu.Stream(
        stream_id=stream.stream_id, device_index=0, device_type=stream.device_type))  # fmt: skip
    assert isinstance(stream._as_parameter_, ctypes.c_void_p)
    assert "npu_stream=0x" in repr(stream)
    assert stream != 3


def test_a_stream_brings_its_device():
    stream = npu.Stream("npu:1")
    with npu.stream(stream):
        assert npu.current_device() == 1 and npu.current_stream() == stream
    assert npu.current_device() == 0 and npu.current_stream(1) == npu.default_stream(1)
    npu.set_stream(stream)
    assert npu.current_device() == 0 and npu.current_stream(1) == stream
    npu.set_stream(npu.default_stream(1))


def test_streams_leave_after_an_error():
    with pytest.raises(ZeroDivisionError), npu.stream(npu.Stream()):
        1 / 0  # noqa: B018
    assert npu.current_stream() == npu.default_stream()


def test_bad_streams():
    with pytest.raises(TypeError, match="a stream or None, not 3"):
        npu.stream(3)
    with pytest.raises(TypeError, match="not colour"):
        npu.Stream(colour="red")


def test_external_stream():
    from piton import _runtime

    handle = _runtime.stream_create(0)
    stream = npu.ExternalStream(handle)
    assert stream.npu_stream == handle
    with npu.stream(stream):
        assert npu.current_stream().npu_stream == handle
        assert torch.ones(5, device="npu").sum().item() == 5
    assert npu.current_stream() == npu.default_stream()
    stream.synchronize()
    _runtime.stream_destroy(handle)


def test_events():
    begin, end = (npu.Event(enable_timing=True) for _ in range(2))
    assert isinstance(begin, npu.Event) and not isinstance(torch.Event("cpu"), npu.Event)
    stream = npu.Stream()
    begin.record()
    torch.ones(1000, device="npu").exp()
    stream.wait_event(begin)
    with npu.stream(stream):
        end.record()
    end.synchronize()
    assert begin.query() and end.query()
    assert 0 < begin.elapsed_time(end) < 60_000
    event = stream.record_event()
    assert isinstance(event, npu.Event)
    npu.current_stream().wait_stream(stream)
    event.wait()
    with pytest.raises(NotImplementedError, match="interprocess"):
        npu.Event(interprocess=True)


def test_memory_figures():
    gc.collect()  # what earlier tests left in cycles, which may otherwise go at any time
    npu.empty_cache()
    npu.reset_peak_memory_stats()
    before = npu.memory_allocated()
    t = torch.empty(1 << 20, device="npu")
    assert npu.memory_allocated() - before >= 4 << 20
    assert npu.memory_reserved() >= npu.memory_allocated()
    free, total = npu.mem_get_info()
    assert 0 < free <= total
    del t
    assert npu.memory_allocated() == before
    assert npu.max_memory_allocated() >= before + (4 << 20)
    npu.reset_peak_memory_stats()
    assert npu.max_memory_allocated() == before
    assert npu.memory_cached() == npu.memory_reserved()
    assert npu.max_memory_cached() == npu.max_memory_reserved()
    nested = npu.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == npu.memory_allocated()
    assert "capacity" in npu.memory_summary()


def test_random_numbers():
    npu.manual_seed(5)
    ours = torch.rand(9, device="npu")
    torch.manual_seed(5)
    assert ours.cpu().equal(torch.rand(9))
    assert torch.rand(9, device="npu").cpu().equal(ours.cpu())  # torch.manual_seed seeds npu too
    assert npu.initial_seed() == 5
    state = npu.get_rng_state()
    first = torch.rand(9, device="npu")
    npu.set_rng_state(state)
    assert torch.rand(9, device="npu").equal(first)
    states = npu.get_rng_state_all()
    assert len(states) == npu.device_count() == len(npu.default_generators)
    first = torch.rand(3, device="npu:1")
    npu.set_rng_state_all(states)
    assert torch.rand(3, device="npu:1").equal(first)
    npu.manual_seed_all(7)
    assert npu.initial_seed() == 7
    assert npu.seed() == npu.initial_seed()
    npu.seed_all()
    with npu.device(1):
        assert npu.initial_seed() == npu.default_generators[0].initial_seed()
    npu.manual_seed(-1)  # as torch.manual_seed: the bits of 2**64 - 1
    assert npu.initial_seed() in (-1, 2**64 - 1)


def test_fork_rng():
    torch.manual_seed(1)
    want = torch.rand(3, device="npu")
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=[0], device_type="npu"):
        torch.rand(3, device="npu")
    assert torch.rand(3, device="npu").equal(want)


@pytest.mark.parametrize("dtype", npu.get_amp_supported_dtype(), ids=str)
def test_autocast(dtype):
    x = torch.randn(8, 8, device="npu")
    with npu.amp.autocast(dtype=dtype):
        assert (x @ x).dtype == dtype
        assert x.softmax(-1).dtype == torch.float32
        assert (x @ x).softmax(-1).dtype == torch.float32
        with npu.amp.autocast(enabled=False):
            assert (x @ x).dtype == torch.float32
    assert (x @ x).dtype == torch.float32
    with torch.autocast("npu"):
        assert (x @ x).dtype == torch.float16
    assert npu.is_bf16_supported()


def test_grad_scaler():
    for dynamic, scale in ((True, 2.0**16), (False, 128.0)):
        scaler = npu.amp.GradScaler(init_scale=scale, dynamic=dynamic)
        weight = torch.ones(3, device="npu", requires_grad=True)
        optimizer = torch.optim.SGD([weight], 0.1)
        scaler.scale((weight * 2).sum()).backward()
        assert weight.grad[0].item() == 2 * scale
        scaler.step(optimizer)
        scaler.update()
        torch.testing.assert_close(weight.detach().cpu(), torch.full((3,), 0.8))
        # An overflow skips the step and, when the scale is dynamic, halves the scale.
        weight.grad.zero_()
        scaler.scale((weight * float("inf")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        torch.testing.assert_close(weight.detach().cpu(), torch.full((3,), 0.8))
        assert scaler.get_scale() == (scale / 2 if dynamic else scale)


def test_custom_functions_under_autocast():
    class Square(torch.autograd.Function):
        @staticmethod
        @npu.amp.custom_fwd(cast_inputs=torch.float16)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @npu.amp.custom_bwd
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = torch.full((2,), 3.0, device="npu", requires_grad=True)
    with npu.amp.autocast():
        y = Square.apply(x)
    assert y.dtype == torch.float16
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_switches():
    assert npu.matmul.allow_hf32 is False
    npu.matmul.allow_hf32 = True
    assert npu.matmul.allow_hf32 is True
    npu.matmul.allow_hf32 = False
    npu.config.allow_internal_format = False
    with pytest.raises(AttributeError, match="torch.npu.conv has no switch alow_hf32"):
        npu.conv.alow_hf32 = True
    npu.set_compile_mode(jit_compile=False)
    assert npu.is_jit_compile_false()
    npu.set_option({"ACL_PRECISION_MODE": "must_keep_origin_dtype"})
    assert npu.get_option("ACL_PRECISION_MODE") == "must_keep_origin_dtype"
    with pytest.raises(TypeError, match="takes a dict"):
        npu.set_option("x")
