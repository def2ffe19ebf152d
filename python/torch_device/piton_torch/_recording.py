# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One recording of the profiler: device work while it runs, and the files it becomes.

Operators come from the device's C++ side, kernels from events around each Triton launch in its
stream, host operators from torch's own profiler. All times are nanoseconds since 1970.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
import time
from dataclasses import dataclass, field

import torch

from .npu._native import ops

#: Ascend's types of operators whose name differs from torch's in CamelCase.
_TYPES = {"sum": "ReduceSum", "mean": "ReduceMean", "mm": "MatMul", "addmm": "MatMul",
          "bmm": "BatchMatMul", "copy_": "TensorMove", "_to_copy": "Cast", "zero_": "ZerosLike",
          "fill_": "Fill", "_softmax": "SoftmaxV2", "native_layer_norm": "LayerNorm",
          "convolution_overrideable": "Conv2D", "embedding": "GatherV2"}  # fmt: skip


@dataclass
class Work:
    """One operator or kernel on the device. Times in nanoseconds; blocks is 0 for operators."""

    name: str
    type: str
    device: int
    stream: int
    start: int
    duration: int
    step: int = 0
    blocks: int = 0
    core: str = "AI_VECTOR_CORE"
    shapes: str = ""
    dtypes: str = ""


@dataclass
class Result:
    """What a recording found."""

    work: list[Work] = field(default_factory=list)
    host_trace: dict | None = None
    host_operators: list[tuple[str, str, int, float, float]] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)

    def write(self, folder: str, metadata: dict) -> None:
        """Writes all files into `folder`, which is made."""
        os.makedirs(folder, exist_ok=True)
        self.write_chrome_trace(os.path.join(folder, "trace_view.json"), metadata)
        self._write_kernels(os.path.join(folder, "kernel_details.csv"))
        self._write_statistic(os.path.join(folder, "op_statistic.csv"))
        if self.host_trace is not None:
            self._write_operators(os.path.join(folder, "operator_details.csv"))

    def write_chrome_trace(self, path: str, metadata: dict) -> None:
        """One JSON object with a row a stream of each device, and the host's rows."""
        trace = dict(self.host_trace or {"traceEvents": [], "displayTimeUnit": "ns"})
        base = int(trace.get("baseTimeNanoseconds", 0))
        events = list(trace["traceEvents"])
        rows = set()
        for work in self.work:
            pid, tid = f"NPU {work.device}", f"stream {work.stream:#x}"
            rows.add(pid)
            arguments = {"type": work.type, "core": work.core, "step": work.step}
            if work.blocks:
                arguments["blocks"] = work.blocks
            if work.shapes:
                arguments["input shapes"] = work.shapes
            events.append(
                {"ph": "X", "cat": "kernel", "name": work.name, "pid": pid, "tid": tid,
                 "ts": (work.start - base) / 1000, "dur": work.duration / 1000,
                 "args": arguments}
            )  # fmt: skip
        for number, start, end in self.steps:
            events.append(
                {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}",
                 "pid": "steps", "tid": "steps", "ts": (start - base) / 1000,
                 "dur": (end - start) / 1000}
            )  # fmt: skip
        for pid in sorted(rows):
            events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": pid}})
        trace["traceEvents"] = events
        if metadata:
            trace["metadata"] = metadata
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)

    def _write_kernels(self, path: str) -> None:
        columns = (
            "Step Id", "Device_id", "Stream ID", "Name", "Type", "Accelerator Core",
            "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Dim", "Input Shapes",
            "Input Data Types",
        )  # fmt: skip
        ends: dict[tuple[int, int], int] = {}
        rows = []
        for work in sorted(self.work, key=lambda w: w.start):
            place = work.device, work.stream
            wait = max(0, work.start - ends.get(place, work.start))
            ends[place] = max(ends.get(place, 0), work.start + work.duration)
            rows.append(
                (work.step, work.device, work.stream, work.name, work.type, work.core,
                 f"{work.start / 1000:.3f}", f"{work.duration / 1000:.3f}", f"{wait / 1000:.3f}",
                 work.blocks, work.shapes, work.dtypes)
            )  # fmt: skip
        _write_csv(path, columns, rows)

    def _write_statistic(self, path: str) -> None:
        groups: dict[tuple[int, str, str], list[float]] = {}
        for work in self.work:
            groups.setdefault((work.device, work.type, work.core), []).append(work.duration / 1000)
        total = sum(sum(times) for times in groups.values()) or 1.0
        rows = [
            (*key, len(times), f"{sum(times):.3f}", f"{min(times):.3f}",
             f"{sum(times) / len(times):.3f}", f"{max(times):.3f}",
             f"{100 * sum(times) / total:.3f}")
            for key, times in sorted(groups.items(), key=lambda item: -sum(item[1]))
        ]  # fmt: skip
        columns = (
            "Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
            "Avg Time(us)", "Max Time(us)", "Ratio(%)",
        )  # fmt: skip
        _write_csv(path, columns, rows)

    def _write_operators(self, path: str) -> None:
        columns = (
            "Name", "Input Shapes", "Calls", "Host Self Duration(us)", "Host Total Duration(us)",
        )  # fmt: skip
        rows = [
            (name, shapes, calls, f"{own:.3f}", f"{total:.3f}")
            for name, shapes, calls, own, total in self.host_operators
        ]
        _write_csv(path, columns, rows)


def _write_csv(path: str, columns, rows) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


class Recording:
    """Records from start() to stop(). Only one at a time can record the device."""

    def __init__(self, *, cpu: bool, npu: bool, record_shapes: bool, **host_options):
        self._npu = npu
        self._shapes = record_shapes
        self._host = None
        if cpu:
            self._host = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU],
                record_shapes=record_shapes,
                **host_options,
            )
        self._launches = _Launches()
        self._steps: list[list[int]] = []

    def start(self, step: int) -> None:
        if self._npu:
            ops().trace_start(self._shapes)
            self._launches.start()
        if self._host is not None:
            try:
                self._host.start()
            except Exception:  # torch's profiler is in use: nothing of ours stays behind
                if self._npu:
                    ops().trace_stop()
                    self._launches.stop()
                raise
        self._steps = [[step, time.time_ns(), 0]]

    def begin_step(self, step: int) -> None:
        now = time.time_ns()
        self._steps[-1][2] = now
        self._steps.append([step, now, 0])

    def stop(self) -> Result:
        result = Result()
        torch.npu.synchronize()
        self._steps[-1][2] = time.time_ns()
        if self._host is not None:
            self._host.stop()
            result.host_trace, result.host_operators = _host_side(self._host, self._shapes)
        if self._npu:
            result.work = _operators(ops().trace_stop()) + self._launches.stop()
            result.work.sort(key=lambda work: work.start)
            for work in result.work:
                work.step = self._step_at(work.start)
        result.steps = [tuple(step) for step in self._steps]
        return result

    def _step_at(self, when: int) -> int:
        number = self._steps[0][0]
        for step, start, _ in self._steps:
            if start > when:
                break
            number = step
        return number


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.strip("_").split("_"))


def _operators(text: str) -> list[Work]:
    """The operators of a trace of the C++ side; see src/Trace.cpp for its lines."""
    out = []
    for line in text.splitlines():
        name, device, start, end, shapes, dtypes = line.split("\t")
        plain = name.split("::")[-1]
        out.append(
            Work(
                name=name,
                type=_TYPES.get(plain) or _camel(plain),
                device=int(device),
                stream=0,
                start=int(start),
                duration=int(end) - int(start),
                core="MIX_AIC" if "MatMul" in _TYPES.get(plain, "") else "AI_VECTOR_CORE",
                shapes=shapes,
                dtypes=dtypes,
            )
        )
    return out


class _Launches:
    """Times Triton launches by an event before and one after each, in its own stream."""

    def __init__(self):
        self._open: list = []
        self._done: list = []
        self._origin: dict[int, tuple[object, int]] = {}

    def start(self) -> None:
        self._knobs = _triton_knobs()
        if self._knobs is None:
            return
        self._knobs.runtime.launch_enter_hook.add(self._enter)
        self._knobs.runtime.launch_exit_hook.add(self._exit)

    def _enter(self, metadata) -> None:
        from piton import _runtime

        device = torch.npu.current_device()
        if device not in self._origin:
            origin = _runtime.Event()
            origin.record(torch.npu.default_stream(device).npu_stream)
            origin.synchronize()
            self._origin[device] = origin, time.time_ns()
        details = metadata.get()
        stream = details.get("stream") or torch.npu.current_stream(device).npu_stream
        begin = _runtime.Event()
        begin.record(stream)
        self._open.append((str(details.get("name")), device, stream, begin))

    def _exit(self, metadata) -> None:
        from piton import _runtime

        if self._open:
            launch = self._open.pop()
            end = _runtime.Event()
            end.record(launch[2])
            self._done.append((*launch, end))

    def stop(self) -> list[Work]:
        if self._knobs is None:
            return []
        self._knobs.runtime.launch_enter_hook.remove(self._enter)
        self._knobs.runtime.launch_exit_hook.remove(self._exit)
        out = []
        for name, device, stream, begin, end in self._done:
            end.synchronize()
            origin, at = self._origin[device]
            start = at + int(origin.elapsed_time(begin) * 1e6)
            duration = int(begin.elapsed_time(end) * 1e6)
            out.append(Work(name, name, device, stream, start, duration))
        self._done.clear()
        return out


def _triton_knobs():
    """triton's settings if a Triton with launch hooks is there, or None."""
    try:
        from triton import knobs
    except ImportError:
        return None
    return knobs if hasattr(knobs.runtime, "launch_enter_hook") else None


def _host_side(host, shapes: bool):
    """torch's trace as an object, and its operators: name, shapes, calls, own and total us."""
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        host.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
    finally:
        os.unlink(path)
    operators = [
        (
            average.key,
            ";".join(str(shape) for shape in average.input_shapes) if shapes else "",
            average.count,
            average.self_cpu_time_total,
            average.cpu_time_total,
        )
        for average in host.key_averages(group_by_input_shape=shapes)
    ]
    return trace, operators
