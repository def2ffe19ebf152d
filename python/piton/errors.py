# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the npu target."""

from __future__ import annotations

from triton.runtime.errors import PTXASError

_LABELS = {
    "ttir": "TritonIROptimization",
    "ttadapter": "ConvertTritonIRToLinalgIR",
    "npubin": "ConvertLinalgIRToBinary",
    "mlirbc": "LinalgIRToBytecodeByTritonMLIROpt",
    "bcmlir": "BytecodeToLinalgIRByBishengirOpt",
}


class MLIRCompilationError(PTXASError):
    """A stage of the compiler refused the kernel.

    The base class is the one that stock's autotuner takes as "skip this configuration".
    `message` holds lines of the form ``file:line:column: error: text``.
    """

    def __init__(self, stage_name: str, message: str = "", cache_dir: str | None = None):
        super().__init__(message)
        self.stage_name = stage_name
        self.message = message
        self.cache_dir = cache_dir

    def __str__(self) -> str:
        lines = [
            "",
            "///------------------[ERROR][Triton][BEG]------------------",
            f"[{_LABELS.get(self.stage_name, 'MLIRCompile')}] encounters error:",
            self.message,
        ]
        if self.cache_dir:
            lines.append(f"[INFO]: The compiled kernel cache is in {self.cache_dir}")
        lines.append("///------------------[ERROR][Triton][END]------------------")
        return "\n".join(lines)

    def __reduce__(self):
        return type(self), (self.stage_name, self.message, self.cache_dir)
