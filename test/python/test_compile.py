# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation through the back end: stages, metadata, overrides, failures, the other back end."""

import json
import os
import pathlib

import pytest
import torch
import triton
import triton.language as tl

from piton import _piton
from piton.errors import MLIRCompilationError
from tracing import TARGET, source

TYPES = {"x": "*fp32", "o": "*fp32", "n": "i32", "BLOCK": 48}


@triton.jit
def scale(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def check_scale(n=100, **options):
    x, o = torch.randn(n), torch.zeros(n)
    kernel = scale[(triton.cdiv(n, 48),)](x, o, n, BLOCK=48, **options)
    torch.testing.assert_close(o, x * 2, rtol=0, atol=0)
    return kernel


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    scale.device_caches.clear()
    yield tmp_path / "cache"
    scale.device_caches.clear()


def test_stages_and_metadata(cache):
    kernel = triton.compile(source(scale, TYPES), target=TARGET)
    assert {"ttir", "ttadapter", "npubin"} <= set(kernel.asm)
    assert "tt.func" in kernel.asm["ttir"] and "func.func" in kernel.asm["ttadapter"]
    facts = kernel.metadata
    assert (facts.name, facts.kernel_name, facts.shared) == ("scale", "scale", 1)
    assert (facts.mix_mode, facts.parallel_mode) == ("aiv", "simd")
    assert facts.tensor_kinds == [0, 1]
    assert _piton.describe_image(kernel.asm["npubin"])["name"] == "scale"
    assert kernel.packed_metadata["kernel_name"] == "scale"


def test_image_for_a_lesser_cpu_runs_here(cache, monkeypatch):
    monkeypatch.setenv("PITON_HOST_CPU", "x86-64-v3")
    facts = _piton.describe_image(check_scale().asm["npubin"])
    assert facts["host_cpu"] == "x86-64-v3"
    assert "+avx2," in facts["host_features"] and "+avx512" not in facts["host_features"]


def test_image_for_a_cpu_that_this_machine_is_not(cache, monkeypatch):
    monkeypatch.setenv("PITON_HOST_CPU", "diamondrapids")
    with pytest.raises(RuntimeError, match="was compiled for CPU 'diamondrapids' and uses '"):
        check_scale()


def test_second_process_would_hit_the_cache(cache):
    first = triton.compile(source(scale, TYPES), target=TARGET)
    image = next(cache.rglob("scale.npubin"))
    before = image.stat().st_mtime_ns
    again = triton.compile(source(scale, TYPES), target=TARGET)
    assert again.hash == first.hash and image.stat().st_mtime_ns == before


def test_ir_file_is_input(cache, tmp_path):
    kernel = triton.compile(source(scale, TYPES), target=TARGET)
    path = tmp_path / "scale.ttir"
    path.write_text(kernel.asm["ttir"])
    again = triton.compile(str(path), target=TARGET)
    x, o = torch.randn(48), torch.zeros(48)
    again[(1, 1, 1)](x, o, 48)
    torch.testing.assert_close(o, x * 2, rtol=0, atol=0)


@pytest.mark.parametrize("ext", ("ttir", "ttadapter"))
def test_override(cache, tmp_path, monkeypatch, ext):
    """TRITON_KERNEL_DUMP writes every stage; TRITON_KERNEL_OVERRIDE reads an edited one."""
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    check_scale()
    dumped = {path.suffix[1:]: path for path in (tmp_path / "dump").rglob("scale.*")}
    assert {"ttir", "ttadapter", "npubin"} <= set(dumped)

    monkeypatch.setenv("TRITON_KERNEL_DUMP", "0")
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    folder = tmp_path / "override" / dumped[ext].parent.name
    folder.mkdir(parents=True)
    text = dumped[ext].read_text().replace("2.000000e+00", "3.000000e+00")
    (folder / f"scale.{ext}").write_text(text)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache2"))
    scale.device_caches.clear()
    # The same specialisation as above: its source hash names the folder.
    x, o = torch.randn(100), torch.zeros(100)
    scale[(3,)](x, o, 100, BLOCK=48)
    torch.testing.assert_close(o, x * 3, rtol=0, atol=0)


@triton.jit
def unknown_asm(x, o):
    v = tl.inline_asm_elementwise("nope $0, $1;", "=r,r", [tl.load(x)], tl.int32, True, 1)
    tl.store(o, v)


def test_a_failed_compilation_names_line_and_folder_and_leaves_no_entry(cache):
    with pytest.raises(MLIRCompilationError) as caught:
        triton.compile(source(unknown_asm, {"x": "*i32", "o": "*i32"}), target=TARGET)
    text = str(caught.value)
    line = unknown_asm.starting_line_number + 2
    assert f"{os.path.abspath(__file__)}:{line}:" in text and "nope" in text
    assert "[ERROR][Triton][BEG]" in text and "[ConvertLinalgIRToBinary] encounters error:" in text
    assert "[INFO]: The compiled kernel cache is in" in text
    assert not list(cache.rglob("unknown_asm*"))
    check_scale()


def test_debug_dumps_and_survives_an_unwritable_folder(cache, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    kernel = check_scale(debug=True)
    assert "Dumping intermediate results to" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "dump" / kernel.hash).iterdir()}
    assert names == {"kernel.ttir.mlir", "kernel.ttadapter.mlir"}
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "file" / "x"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache2"))
    scale.device_caches.clear()
    check_scale(debug=True)


def test_compile_only(cache, monkeypatch, capsys):
    monkeypatch.setenv("TRITON_COMPILE_ONLY", "1")
    x, o = torch.ones(4), torch.zeros(4)
    scale[(1,)](x, o, 4, BLOCK=48)
    out = capsys.readouterr().out
    assert "[INFO]: skip running kernel" in out and str(cache) in out
    assert not o.any()


def test_metadata_file_is_json(cache):
    triton.compile(source(scale, TYPES), target=TARGET)
    path = next(p for p in cache.rglob("scale.json") if not p.name.startswith("__grp__"))
    assert json.loads(pathlib.Path(path).read_text())["arch"] == "Ascend910B3"


def test_bisheng_says_what_is_missing_after_it(cache, monkeypatch):
    pytest.importorskip("ascendnpuir")
    monkeypatch.setenv("PITON_BACKEND", "bisheng")
    with pytest.raises(MLIRCompilationError, match="accepted the kernel, but the last step"):
        triton.compile(source(scale, TYPES), target=TARGET)


def test_wrong_back_end_name(monkeypatch):
    monkeypatch.setenv("PITON_BACKEND", "cuda")
    with pytest.raises(ValueError, match="PITON_BACKEND = cuda is invalid"):
        triton.compile(source(scale, TYPES), target=TARGET)


def test_model_mode_is_refused(monkeypatch):
    monkeypatch.setenv("PITON_MODE", "model")
    with pytest.raises(NotImplementedError, match="PITON_MODE=model"):
        triton.compile(source(scale, TYPES), target=TARGET)


@triton.jit
def tuple_and_descriptor(d, pair, o):
    tile = d.load([0, 0]) * pair[1]
    at = tl.arange(0, 3)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(o + at, tile + tl.load(pair[0]))


def test_tuples_and_host_descriptors_as_arguments(cache):
    from triton.tools.tensor_descriptor import TensorDescriptor

    base, bias, out = torch.randn(5, 8), torch.randn(1), torch.zeros(3, 8)
    descriptor = TensorDescriptor.from_tensor(base, [3, 8])
    tuple_and_descriptor[(1,)](descriptor, (bias, 3.0), out)
    torch.testing.assert_close(out, base[:3] * 3.0 + bias)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_half_scalars_travel_as_floats(cache, dtype):
    name = {torch.float16: "fp16", torch.bfloat16: "bf16"}[dtype]

    @triton.jit
    def add_scalar(x, s):
        tl.store(x, tl.load(x) + s)

    kernel = triton.compile(source(add_scalar, {"x": "*" + name, "s": name}), target=TARGET)
    x = torch.ones(1, dtype=dtype)
    kernel[(1, 1, 1)](x, 0.5)
    assert x.item() == 1.5


@pytest.mark.parametrize("stream", (0, None))
def test_stream_option(cache, stream):
    from piton import _runtime

    handle = _runtime.stream_create() if stream is None else stream
    check_scale(stream=handle)
