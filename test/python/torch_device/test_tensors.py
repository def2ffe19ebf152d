# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of the npu device: making, moving, viewing, changing, saving and refusing them."""

import copy
import io
import pickle

import pytest
import torch
from torch.testing import assert_close

NPU = torch.device("npu", 0)


def test_factories_and_moves():
    x = torch.randn(4, 5, device="npu")
    assert x.device == NPU and x.is_npu and not torch.ones(1).is_npu
    assert torch.ones(2).npu().device == NPU
    assert torch.nn.Linear(2, 3).npu().weight.device == NPU
    assert torch.arange(5, device="npu").tolist() == [0, 1, 2, 3, 4]
    assert torch.tensor([1.5], device="npu").item() == 1.5
    assert x.to("cpu", torch.float16).dtype == torch.float16
    assert_close(x.cpu() + 1, (x + 1).cpu())
    assert torch.empty_strided((2, 3), (1, 2), device="npu").stride() == (1, 2)
    assert torch.full((2,), 3, device="npu").device == NPU
    with torch.device("npu"):
        assert torch.ones(2).is_npu
    assert str(x).startswith("tensor(") and "device='npu:0'" in str(x)


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
     torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.float8_e4m3fn],
)  # fmt: skip
def test_every_dtype_goes_there_and_back(dtype):
    x = torch.tensor([0, 1, 0, 1]).to(dtype)
    y = x.npu()
    assert y.dtype == dtype and y.device == NPU
    assert y.view(torch.uint8).tolist() == x.view(torch.uint8).tolist()


def test_memory_is_the_simulators():
    import piton._runtime as runtime

    x = torch.empty(3, device="npu")
    assert x.data_ptr() % 512 == 0
    assert (x + x).data_ptr() % 512 == 0, "a result lies in device memory too"
    before = runtime.memory_statistics(0)["used_bytes"]
    y = torch.empty(1000, dtype=torch.uint8, device="npu")
    assert runtime.memory_statistics(0)["used_bytes"] == before + 1024
    del y
    assert runtime.memory_statistics(0)["used_bytes"] == before


def test_views_share_memory():
    x = torch.zeros(4, 5, device="npu")
    x.t()[1:3].fill_(1)
    assert x.cpu().sum() == 8
    assert x.unfold(0, 2, 1).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    c = torch.zeros(3, dtype=torch.complex64, device="npu")
    torch.view_as_real(c).fill_(2)
    assert (c == 2 + 2j).all()
    assert c.conj().is_conj() and c.conj()[0].item() == 2 - 2j
    parts = torch.arange(9, device="npu").split(3)
    parts[1].zero_()
    assert parts[1]._base.tolist() == [0, 1, 2, 0, 0, 0, 6, 7, 8]


def test_index_and_mask():
    x = torch.arange(12.0, device="npu").view(4, 3)
    assert x[torch.tensor([2, 0], device="npu")].tolist() == [[6, 7, 8], [0, 1, 2]]
    assert x[torch.tensor([1])].tolist() == [[3, 4, 5]], "indices may lie on the cpu"
    x[x > 9] = -1
    x[[0]] = 7.0
    assert x.tolist() == [[7, 7, 7], [3, 4, 5], [6, 7, 8], [9, -1, -1]]


def test_out_grows_and_resize_keeps():
    x = torch.arange(6.0, device="npu")
    out = torch.empty(0, device="npu")
    address = out.data_ptr()
    result = torch.add(x, x, out=out)
    assert result is out and out.tolist() == [0, 2, 4, 6, 8, 10] and out.data_ptr() != address
    out.resize_(400)
    assert out.untyped_storage().nbytes() == 1600 and out[5] == 10
    t = torch.empty(0, device="npu").set_(x.untyped_storage(), 2, (3,))
    assert t.tolist() == [2, 3, 4]
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0


def test_a_result_on_another_device_grows_there():
    torch.npu.set_device(3)
    x = torch.ones(2048, device="npu:1")
    out = torch.empty(0, device="npu:1")
    torch.mul(x, 2, out=out)
    assert out.device.index == 1
    assert torch.npu.memory_allocated(3) == 0
    torch.npu.set_device(0)


def test_devices():
    assert torch.npu.device_count() == 8
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    torch.npu.set_device(3)
    assert torch.empty(1, device="npu").device.index == 3
    with torch.npu.device(2):
        assert torch.zeros(1, device="npu").device.index == 2
    assert torch.npu.current_device() == 3
    p = torch.ones(2, device="npu:5")
    assert (p + p).device.index == 5 and torch.zeros_like(p).device.index == 5
    assert p.to("npu:1").device.index == 1 and p.to("npu:1").tolist() == [1, 1]
    q = torch.zeros(2, device="npu:6")
    q.copy_(p)
    assert q.tolist() == [1, 1]


def test_random_numbers_are_the_cpus():
    torch.manual_seed(5)
    a = torch.randn(3, device="npu")
    torch.manual_seed(5)
    assert torch.equal(a.cpu(), torch.randn(3))
    g = torch.Generator(device="npu")
    g.manual_seed(9)
    first = torch.rand(3, device="npu", generator=g)
    g.manual_seed(9)
    assert torch.equal(first, torch.rand(3, device="npu", generator=g))
    state = torch.npu.get_rng_state()
    a = torch.rand(2, device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(a, torch.rand(2, device="npu"))
    torch.manual_seed(1)
    cpu = torch.rand(1)
    torch.manual_seed(1)
    torch.rand(4, device="npu:2")
    assert torch.equal(cpu, torch.rand(1)), "each device has a state of its own"
    with torch.random.fork_rng(devices=[0], device_type="npu"):
        torch.rand(1, device="npu")
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator"):
        torch.rand(3, device="npu", generator=torch.Generator())


def test_save_load_copy_pickle():
    x = torch.randn(4, device="npu:2")
    model = torch.nn.Linear(2, 3).npu()
    file = io.BytesIO()
    torch.save({"x": x, "model": model.state_dict()}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].device == x.device and torch.equal(loaded["x"], x)
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"
    assert copy.deepcopy(model.weight).device == NPU
    assert torch.equal(pickle.loads(pickle.dumps(x)), x)
    assert x.untyped_storage().is_npu and torch.UntypedStorage(4).npu().device == NPU


def test_pinned_memory():
    x = torch.randn(300)
    p = x.pin_memory()
    assert p.is_pinned() and not x.is_pinned() and torch.equal(p, x)
    assert p[17:].is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned()
    assert torch.equal(p.to("npu", non_blocking=True).cpu(), x)
    assert not torch.ones(2, device="npu").is_pinned()
    loader = torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2, pin_memory=True)
    assert all(batch.is_pinned() for batch in loader)


def test_dlpack_both_ways():
    from torch.utils.dlpack import from_dlpack, to_dlpack

    x = torch.arange(4.0, device="npu:1")
    for y in (from_dlpack(x), from_dlpack(to_dlpack(x)), torch.from_dlpack(x.__dlpack__())):
        assert y.device == x.device and y.data_ptr() == x.data_ptr() and torch.equal(x, y)
    kind, index = x.__dlpack_device__()
    assert (int(kind), index) == (12, 1)
    assert torch.ones(1).__dlpack_device__()[0] == 1


def test_numpy_needs_the_cpu():
    x = torch.ones(2, device="npu")
    with pytest.raises(TypeError, match="npu"):
        x.numpy()
    alias = torch.ops.piton.cpu_alias(x)
    alias.numpy()[0] = 5
    assert x.tolist() == [5, 1] and alias.data_ptr() == x.data_ptr()


def test_zero_tensors_and_empty_ones():
    x = torch.ones(2, device="npu", dtype=torch.complex64, requires_grad=True)
    torch.sgn(x).sum().abs().backward()
    assert x.grad.is_npu
    assert torch.empty(0, 3, device="npu").sum().item() == 0
    assert torch.cat([torch.empty(0, device="npu"), torch.ones(1, device="npu")]).tolist() == [1]


# -- what is refused --------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda a, b: a + b,
        lambda a, b: torch.mm(a, b.t()),
        lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: b.add_(a),
        lambda a, b: torch.add(a, a, out=b),
        lambda a, b: torch.where(a > 0, a, b),
        lambda a, b: torch.nn.functional.linear(a, b),
        lambda a, b: a.index_select(0, torch.tensor([0])),
    ],
)
def test_mixed_devices_are_refused(use):
    a = torch.ones(2, 3, device="npu")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device.*npu:0"):
        use(a, torch.ones(2, 3))


def test_two_npu_devices_are_refused():
    with pytest.raises(RuntimeError, match="same device, but found at least two devices, npu:0"):
        torch.ones(2, device="npu") + torch.ones(2, device="npu:1")


def test_cpu_scalars_are_taken():
    a = torch.ones(2, device="npu")
    assert (a + torch.tensor(2.0)).tolist() == [3, 3] and (torch.tensor(2.0) + a).is_npu


def test_sparse_and_quantized_are_refused():
    x = torch.eye(3, device="npu")
    with pytest.raises(NotImplementedError, match="_to_sparse.*Sparse"):
        x.to_sparse()
    with pytest.raises((NotImplementedError, RuntimeError), match="(?i)sparse"):
        torch.eye(3).to_sparse().to("npu")
    with pytest.raises((NotImplementedError, RuntimeError), match="(?i)sparse"):
        torch.empty(3, 3, layout=torch.sparse_coo, device="npu")
    with pytest.raises(NotImplementedError, match="quantized"):
        torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    assert (x + 1).is_npu


def test_no_cpu_kernel():
    torch.library.define("piton_test::no_kernel", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="piton_test::no_kernel.*CPU has none"):
        torch.ops.piton_test.no_kernel(torch.ones(1, device="npu"))


def test_custom_operators_run():
    torch.library.define("piton_test::twice", "(Tensor x) -> Tensor")
    torch.library.impl("piton_test::twice", "cpu", lambda x: x * 2)
    torch.library.define("piton_test::foreign", "(Tensor x) -> Tensor")
    torch.library.impl(
        "piton_test::foreign", "cpu", lambda x: torch.from_numpy(x.numpy().copy() * 3)
    )
    x = torch.ones(3, device="npu")
    copied = torch.ops.piton.copied_bytes()
    assert torch.ops.piton_test.twice(x).tolist() == [2, 2, 2]
    assert torch.ops.piton.copied_bytes() == copied
    y = torch.ops.piton_test.foreign(x)
    assert y.is_npu and y.tolist() == [3, 3, 3]
    assert torch.ops.piton.copied_bytes() == copied + 12, "memory of another library is copied in"


def test_invalid_devices():
    with pytest.raises(RuntimeError, match="invalid device ordinal 8.*PITON_DEVICE_COUNT"):
        torch.empty(1, device="npu:8")
    with pytest.raises(RuntimeError, match="invalid device ordinal 99"):
        torch.accelerator.set_device_index(99)
    assert torch.npu.current_device() == 0


def test_out_of_memory():
    free, total = torch.npu.mem_get_info()
    assert total == 64 << 30
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(65 << 30, dtype=torch.uint8, device="npu")
    text = str(caught.value)
    assert "NPU out of memory. Tried to allocate 65.00 GiB (NPU 0; 64.00 GiB total capacity" in text
    with pytest.raises(torch.OutOfMemoryError):
        torch.ones(1, device="npu").expand(20 << 30).contiguous()
    assert torch.npu.mem_get_info()[0] <= free
    assert torch.ones(4, device="npu").sum().item() == 4


def test_memory_statistics():
    base = torch.npu.memory_allocated()
    x = torch.empty(10 << 20, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - base == 10 << 20
    assert torch.npu.max_memory_allocated() >= base + (10 << 20)
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    x.fill_(1)
    reserved = torch.npu.memory_reserved()
    del x
    assert torch.npu.memory_allocated() == base and torch.npu.memory_reserved() == reserved
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < reserved
    torch.accelerator.reset_peak_memory_stats()
    assert torch.npu.max_memory_allocated() == base
