# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch_npu.profiler`: which operators and kernels ran on the npu device, and for how long.

    with profile(on_trace_ready=tensorboard_trace_handler("./result")) as prof:
        for batch in data:
            train(batch)
            prof.step()

The result of the handler is a folder `<worker>_<time>_ascend_pt/ASCEND_PROFILER_OUTPUT` with
trace_view.json (chrome://tracing, ui.perfetto.dev), kernel_details.csv, op_statistic.csv and, when
CPU activity is recorded, operator_details.csv. Times are those of the simulation on this host.
"""

from __future__ import annotations

import enum
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable

import torch
from torch.profiler import ProfilerAction

from ._recording import Recording, Result

__all__ = [
    "AiCMetrics",
    "ExportType",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What is recorded: CPU (torch's operators on the host), NPU (work on the device)."""

    CPU = 0
    NPU = 1


class ProfilerLevel(enum.Enum):
    """How much hardware would record. The simulated device records the same at every level."""

    Level_none = "Level_none"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AiCMetrics(enum.Enum):
    """Hardware counters; `fast` simulation has none of them."""

    AiCoreNone = "ACL_AICORE_NONE"
    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"


class ExportType(enum.Enum):
    """The form of the result; it is always text."""

    Text = "text"
    Db = "db"


class _ExperimentalConfig:
    """Settings of hardware profiling by their torch_npu names: kept, and without effect here."""

    _DEFAULTS = {
        "profiler_level": ProfilerLevel.Level0,
        "aic_metrics": AiCMetrics.AiCoreNone,
        "l2_cache": False,
        "msprof_tx": False,
        "mstx": False,
        "data_simplification": True,
        "record_op_args": False,
        "op_attr": False,
        "gc_detect_threshold": None,
        "export_type": ExportType.Text,
        "host_sys": None,
        "sys_io": False,
        "sys_interconnection": False,
        "mstx_domain_include": None,
        "mstx_domain_exclude": None,
    }

    def __init__(self, **settings):
        unknown = sorted(set(settings) - set(self._DEFAULTS))
        if unknown:
            raise TypeError(
                f"_ExperimentalConfig() has no setting {', '.join(unknown)}; "
                f"there are {', '.join(self._DEFAULTS)}"
            )
        self.__dict__.update({**self._DEFAULTS, **settings})


def supported_activities() -> set[ProfilerActivity]:
    """The activities that profile() takes."""
    return set(ProfilerActivity)


def schedule(
    wait: int = 0, active: int = 1, warmup: int = 0, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do in each step: skip_first steps, then wait, warmup and active steps, `repeat`
    times (0: for ever)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no warm-up, the default here
        return torch.profiler.schedule(
            wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first
        )


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, **_
) -> Callable[[profile], None]:
    """A handler for on_trace_ready that writes a result folder below `dir_name`.

    dir_name: by default ASCEND_WORK_PATH, else the current folder. worker_name: by default the
    host's name and the process. Other arguments of torch_npu are accepted.
    """

    def write(prof: profile) -> None:
        root = dir_name or os.environ.get("ASCEND_WORK_PATH") or os.getcwd()
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        stamp = time.strftime("%Y%m%d%H%M%S") + f"{time.time_ns() // 1_000_000 % 1000:03d}"
        folder = os.path.join(root, f"{worker}_{stamp}_ascend_pt")
        prof.result().write(os.path.join(folder, "ASCEND_PROFILER_OUTPUT"), prof.metadata)

    return write


class profile:
    """Records what runs between start and stop, or in the steps that `schedule` says.

    activities: of ProfilerActivity, by default both. schedule: what each step() does; without it
    everything is recorded. on_trace_ready: called with this object at the end of each recording.
    record_shapes, with_stack, with_modules, profile_memory, with_flops: as torch.profiler's.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], None] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ):
        activities = set(ProfilerActivity) if activities is None else set(activities)
        unknown = [a for a in activities if not isinstance(a, ProfilerActivity)]
        if unknown or not activities:
            raise ValueError(
                f"profile(): activities are of torch_npu.profiler.ProfilerActivity (CPU, NPU), "
                f"not {unknown or 'none'}"
            )
        if experimental_config is not None and not isinstance(
            experimental_config, _ExperimentalConfig
        ):
            raise TypeError("profile(): experimental_config is no _ExperimentalConfig")
        self.metadata: dict[str, object] = {}
        self.step_num = 0
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._cpu = ProfilerActivity.CPU in activities
        self._npu = ProfilerActivity.NPU in activities
        self._options = {
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "with_flops": with_flops,
            "with_modules": with_modules,
        }
        self._recording: Recording | None = None
        self._result: Result | None = None
        self._running = False

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def start(self) -> None:
        """Begins; the first step is step 0."""
        if self._running:
            raise RuntimeError("this profile is running already")
        self._begin_if(self._action())
        self._running = True

    def step(self) -> None:
        """Ends a step and begins the next one."""
        if not self._running:
            raise RuntimeError("profile.step() takes a running profile: call start() first")
        ended = self._action()
        self.step_num += 1
        if ended == ProfilerAction.RECORD_AND_SAVE:
            self._finish()
        action = self._action()
        if self._recording is not None and action in (ProfilerAction.NONE, ProfilerAction.WARMUP):
            self._finish()
        if self._recording is not None:
            self._recording.begin_step(self.step_num)
        else:
            self._begin_if(action)

    def stop(self) -> None:
        """Ends the recording, if one is going on, and hands it to on_trace_ready."""
        if not self._running:
            return
        self._running = False
        if self._recording is not None:
            self._finish()

    def result(self) -> Result:
        """The last recording that ended. Raises RuntimeError before there is one."""
        if self._result is None:
            raise RuntimeError("nothing was recorded yet: the result is there after stop()")
        return self._result

    def export_chrome_trace(self, output_path: str) -> None:
        """Writes the last recording for chrome://tracing."""
        self.result().write_chrome_trace(output_path, self.metadata)

    def add_metadata(self, key: str, value: str) -> None:
        """A text that goes into the trace under `key`."""
        self.metadata[str(key)] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """As add_metadata(), for text that is JSON."""
        import json

        self.metadata[str(key)] = json.loads(value)

    def _begin_if(self, action: ProfilerAction) -> None:
        if action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._recording = Recording(cpu=self._cpu, npu=self._npu, **self._options)
            self._recording.start(self.step_num)

    def _finish(self) -> None:
        self._result = self._recording.stop()
        self._recording = None
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        return False
