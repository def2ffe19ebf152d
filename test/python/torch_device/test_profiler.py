# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_npu.profiler: what is in the files after operators and Triton launches."""

import csv
import json

import pytest
import torch
import triton
import triton.language as tl

from torch_npu import profiler as P


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    x = tl.load(x_ptr + lanes, mask=inside)
    tl.store(out_ptr + lanes, x + tl.load(y_ptr + lanes, mask=inside), mask=inside)


def work():
    x = torch.randn(64, 64, device="npu")
    y = (x @ x).relu()
    out = torch.empty_like(x)
    add_kernel[(4,)](x, y, out, x.numel(), BLOCK=1024)
    return out.sum()


def rows_of(folder, name):
    (path,) = folder.glob(f"*_ascend_pt/ASCEND_PROFILER_OUTPUT/{name}")
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trace_of(folder):
    (path,) = folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    return json.loads(path.read_text())


def test_steps_operators_and_launches(tmp_path):
    work()  # compiles
    with P.profile(
        activities=[P.ProfilerActivity.CPU, P.ProfilerActivity.NPU],
        schedule=P.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=P.tensorboard_trace_handler(str(tmp_path), worker_name="me"),
        record_shapes=True,
        experimental_config=P._ExperimentalConfig(
            profiler_level=P.ProfilerLevel.Level1, aic_metrics=P.AiCMetrics.PipeUtilization
        ),
    ) as prof:
        prof.add_metadata("who", "test")
        for _ in range(6):
            work()
            prof.step()
    kernels = rows_of(tmp_path, "kernel_details.csv")
    assert {row["Step Id"] for row in kernels} == {"2", "3"}
    for step in "23":
        names = [row["Name"] for row in kernels if row["Step Id"] == step]
        # One row for what runs on the device: no views, no allocations, no enclosing operators.
        assert names == ["aten::normal_", "aten::mm", "aten::relu", "add_kernel", "aten::sum"]
    types = {row["Name"]: row["Type"] for row in kernels}
    assert types["aten::mm"] == "MatMul" and types["aten::sum"] == "ReduceSum"
    assert types["add_kernel"] == "add_kernel"
    assert all(float(row["Duration(us)"]) > 0 for row in kernels)
    (mm, *_) = (row for row in kernels if row["Name"] == "aten::mm")
    assert (mm["Input Shapes"], mm["Input Data Types"]) == ("64,64;64,64", "Float;Float")
    starts = [float(row["Start Time(us)"]) for row in kernels]
    assert starts == sorted(starts)

    statistic = {row["OP Type"]: row for row in rows_of(tmp_path, "op_statistic.csv")}
    assert statistic["add_kernel"]["Count"] == "2"
    assert abs(sum(float(row["Ratio(%)"]) for row in statistic.values()) - 100) < 0.1
    assert any(row["Name"] == "aten::matmul" for row in rows_of(tmp_path, "operator_details.csv"))

    trace = trace_of(tmp_path)
    assert trace["metadata"] == {"who": "test"}
    events = trace["traceEvents"]
    launches = [e for e in events if e["name"] == "add_kernel" and e.get("cat") == "kernel"]
    assert len(launches) == 2 and all(e["pid"] == "NPU 0" and e["dur"] > 0 for e in launches)
    # Device and host share one clock: a product on the device lies inside its host operator.
    device = [e for e in events if e["name"] == "aten::mm" and e.get("cat") == "kernel"]
    host = [e for e in events if e["name"] == "aten::mm" and e.get("cat") == "cpu_op"]
    assert len(device) == len(host) == 2
    for d, h in zip(device, host, strict=True):
        assert h["ts"] - 1000 <= d["ts"] <= h["ts"] + h["dur"] + 1000


def test_a_kernel_in_a_stream_of_its_own(tmp_path):
    stream = torch.npu.Stream()
    with P.profile(
        activities={P.ProfilerActivity.NPU},
        on_trace_ready=P.tensorboard_trace_handler(str(tmp_path)),
    ):
        with torch.npu.stream(stream):
            work()
    (row,) = (r for r in rows_of(tmp_path, "kernel_details.csv") if r["Name"] == "add_kernel")
    assert int(row["Stream ID"]) == stream.npu_stream
    assert not list(tmp_path.glob("*/*/operator_details.csv"))


def test_gradients_are_recorded(tmp_path):
    weight = torch.randn(8, 8, device="npu", requires_grad=True)
    with P.profile(activities=[P.ProfilerActivity.NPU]) as prof:
        (weight @ weight).sum().backward()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    names = [e["name"] for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]]
    assert names.count("aten::mm") == 3  # one forward, two in autograd's thread


def test_every_recording_is_handed_over():
    seen = []
    with P.profile(
        activities=[P.ProfilerActivity.NPU],
        schedule=P.schedule(wait=1, active=1, repeat=2),
        on_trace_ready=lambda prof: seen.append(len(prof.result().work)),
    ) as prof:
        for _ in range(8):
            torch.ones(4, device="npu").exp()
            prof.step()
    assert len(seen) == 2 and all(seen)


def test_nothing_is_recorded_outside():
    with P.profile(activities=[P.ProfilerActivity.NPU]) as prof:
        pass
    torch.ones(4, device="npu").exp()
    assert prof.result().work == []
    assert triton.knobs.runtime.launch_enter_hook.calls == []


def test_an_error_in_the_profiled_code_passes():
    with pytest.raises(ZeroDivisionError), P.profile(activities=[P.ProfilerActivity.NPU]):
        1 / 0  # noqa: B018
    with P.profile(activities=[P.ProfilerActivity.NPU]) as prof:  # not still recording
        torch.ones(4, device="npu").exp()
    assert len(prof.result().work) == 2


def test_errors():
    with pytest.raises(ValueError, match="activities"):
        P.profile(activities=[])
    with pytest.raises(ValueError, match="activities"):
        P.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    with pytest.raises(TypeError, match="no setting colour"):
        P._ExperimentalConfig(colour=1)
    prof = P.profile(activities=[P.ProfilerActivity.NPU])
    with pytest.raises(RuntimeError, match="start"):
        prof.step()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        prof.export_chrome_trace("x")
    with P.profile(activities=[P.ProfilerActivity.NPU]):
        with pytest.raises(RuntimeError, match="being recorded already"):
            P.profile(activities=[P.ProfilerActivity.NPU]).start()
    assert P.supported_activities() == {P.ProfilerActivity.CPU, P.ProfilerActivity.NPU}
