# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the speed table, alternating measurement, and what the CPU can do by itself."""

import os
import statistics
import time
import traceback


def cpu_flags():
    """The CPU's feature names."""
    with open("/proc/cpuinfo") as text:
        for line in text:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def cpu_line():
    """One line: model, cores usable here, and the features that matter to these kernels."""
    model = "unknown CPU"
    with open("/proc/cpuinfo") as text:
        for line in text:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    wanted = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", *sorted(NATIVE_HALF))
    have = cpu_flags()
    names = " ".join(name for name in wanted if name in have)
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs usable: {names}"


# CPU features with which torch computes in a half type itself: its ratios are no target then.
NATIVE_HALF = {
    "avx512_bf16": "bfloat16", "avx512_fp16": "float16", "amx_bf16": "bfloat16",
    "amx_fp16": "float16",
}  # fmt: skip


def native_half(dtype):
    """Whether the CPU has instructions for this half type ("float16", "bfloat16")."""
    return any(feature in cpu_flags() for feature, name in NATIVE_HALF.items() if name == dtype)


def alternate(functions, rounds, batch=1):
    """Median seconds of each function; every round calls each of them once (`batch` times)."""
    for fn in functions:
        fn()
        fn()
    times = [[] for _ in functions]
    for _ in range(rounds):
        for fn, mine in zip(functions, times, strict=True):
            start = time.perf_counter()
            for _ in range(batch):
                fn()
            mine.append((time.perf_counter() - start) / batch)
    return [statistics.median(mine) for mine in times]


class Report:
    """Prints rows as they come, and counts what was missed."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.met = self.missed = 0
        self.broken = []
        print(f"{'measurement':<46}{'piton':>11}{'other':>11}{'figure':>12}{'target':>12}")

    def run(self, name, item):
        """One item; an item that fails is a row too and the table goes on."""
        try:
            item(self)
        except Exception as error:
            self.broken.append(name)
            traceback.print_exc()
            print(f"{name:<46}FAILED: {type(error).__name__}: {str(error).splitlines()[:1]}")

    def row(self, name, piton, other, figure, target=None, at_least=False, unit="x"):
        """`figure` (with `unit`) against `target`: at most it, or at least it. `piton` and
        `other` are texts. Without a target the row is information."""
        wanted, verdict = "", ""
        if target is not None:
            ok = figure >= target if at_least else figure <= target
            self.met += ok
            self.missed += not ok
            wanted = f"{'>=' if at_least else '<='} {target:g} {unit}"
            verdict = "ok" if ok else "MISS"
        print(f"{name:<46}{piton:>11}{other:>11}{figure:>10.2f} {unit}{wanted:>12} {verdict}")

    def note(self, name, text):
        """A row without a figure."""
        print(f"{name:<46}{text}")

    def close(self):
        text = f"{self.met} targets met, {self.missed} missed"
        if self.broken:
            text += f", not measured: {', '.join(self.broken)}"
        print(text)


def milliseconds(seconds):
    """Text of a time."""
    return f"{seconds * 1e3:.3f} ms"
