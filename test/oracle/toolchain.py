# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the oracle runs on, prepared once and cached: the compiler of the wheel ascendnpu-ir, its
device library retargeted to x86-64, and the emulator.

Nothing here knows about kernels. Results lie in $XDG_CACHE_HOME/piton-oracle (~/.cache).
"""

import ctypes
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WHEEL_VERSION = "1.2.0"
LIBRARY_FORMAT = "1"  # raise when retarget() changes
HERE = Path(__file__).resolve().parent
LAYOUT = (
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    "x86_64-pc-linux-gnu",
)
# the part of the contract of the closed final tool that the compiler checks: a version line, then a copy of its input
STAND_IN = """#!/bin/sh
[ "$1" = --version ] && { echo "hivmc 0.2.0 (abcdef0 2026-01-01)"; exit 0; }
cp "$1" "$ORACLE_CAPTURE"
while [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done
exit 0
"""


class ToolError(RuntimeError):
    """A tool of this machine is missing or failed in a way that is no verdict on the kernel."""


def tool(name):
    path = shutil.which(name + "-22") or shutil.which(name)
    if not path:
        raise ToolError(f"{name}-22 not found: install mlir-22-tools, llvm-22, clang-22 and lld-22")
    return path


def run_tool(cmd, **kw):
    r = subprocess.run(cmd, capture_output=True, text=True, **kw)
    if r.returncode:
        raise ToolError(f"{os.path.basename(cmd[0])} failed ({r.returncode}): {r.stderr[:1500]}")
    return r.stdout


def retarget(text):
    """NPU bitcode text -> x86-64: intrinsics become external functions, shifts by the full width become 0."""
    text = re.sub(
        r"^target datalayout = .*", f'target datalayout = "{LAYOUT[0]}"', text, count=1, flags=re.M
    )
    text = re.sub(
        r"^target triple = .*", f'target triple = "{LAYOUT[1]}"', text, count=1, flags=re.M
    )
    out = []
    for ln in text.split("\n"):
        if ln.startswith("attributes #"):
            ln = re.sub(
                r'"(target-cpu|target-features|frame-pointer|stack-protector-buffer-size)"="[^"]*"|memory\([^)]*\)',
                "",
                ln,
            )
        elif ln.startswith("declare ") and "@llvm.hivm" in ln:
            ln = re.sub(r" (writeonly|readonly|captures\(none\))", "", ln)
        elif ", !" in ln:
            ln = re.sub(r", !(asan\.[a-z.]+|tbaa) !\d+", "", ln)
        if "@llvm.hivm." in ln:
            ln = re.sub(
                r"@llvm\.hivm\.([A-Za-z0-9_.]+)",
                lambda m: "@hivm_" + m.group(1).replace(".", "_"),
                ln,
            )
        m = (
            re.match(r"\s+(%\S+) = (shl|lshr)( nuw| nsw| exact)* i(32|64) (\S+), (%\S+)$", ln)
            if " = shl" in ln or " = lshr" in ln
            else None
        )
        if m:  # the library shifts by 64 in its mask functions; in LLVM that is poison, on the device 0
            r, op, _, w, a, b = m.groups()
            q = '%"tot.' + r[1:].strip('"')
            out += [
                f'  {q}.m" = and i{w} {b}, {int(w) - 1}',
                f'  {q}.s" = {op} i{w} {a}, {q}.m"',
                f'  {q}.c" = icmp ult i{w} {b}, {w}',
            ]
            ln = f'  {r} = select i1 {q}.c", i{w} {q}.s", i{w} 0'
        out.append(ln)
    return "\n".join(out)


class Toolchain:
    def __init__(self, wheel=None, cache=None, log=None):
        base = cache or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "piton-oracle"
        )
        self.cache = Path(base)
        self.cache.mkdir(parents=True, exist_ok=True)
        self.log = log or (lambda s: print(s, file=sys.stderr))
        self.wheel = self._find_wheel(wheel)
        self.bin = self.wheel / "bin"
        self.fake = self._stand_in()
        self.emulator = self._emulator()
        self.npu = ctypes.CDLL(str(self.emulator), mode=ctypes.RTLD_GLOBAL)
        self.exports = set(
            re.findall(
                r" [TWV] (\w+)$",
                run_tool([tool("llvm-nm"), "-D", "--defined-only", str(self.emulator)]),
                re.M,
            )
        )
        self.key = hashlib.sha256(
            f"{self.wheel}{(self.wheel / 'lib' / 'meta_op.aiv.bc').stat().st_size}{LIBRARY_FORMAT}".encode()
        ).hexdigest()[:12]

    def _find_wheel(self, wheel):
        """Folder with bin/ and lib/ of the compiler: `wheel`, or that of this Python."""
        if wheel is None:
            spec = importlib.util.find_spec("ascendnpuir")
            if spec is None or not spec.submodule_search_locations:
                raise ToolError(f"the wheel ascendnpu-ir {WHEEL_VERSION} is not installed")
            wheel = next(iter(spec.submodule_search_locations))
        folder = Path(wheel).resolve()
        if not (folder / "bin" / "bishengir-compile").exists():
            raise ToolError(f"no bin/bishengir-compile in {folder}")
        return folder

    def _stand_in(self):
        d = self.cache / "stand-in"
        d.mkdir(exist_ok=True)
        f = d / "hivmc"
        if not f.exists() or f.read_text() != STAND_IN:
            f.write_text(STAND_IN)
            f.chmod(0o755)
        return d

    def _emulator(self):
        src = sorted((HERE / "npu").glob("*.cpp")) + sorted((HERE / "npu").glob("*.h"))
        h = hashlib.sha256(b"".join(f.read_bytes() for f in src)).hexdigest()[:12]
        so = self.cache / f"npu-{h}" / "libnpu.so"
        if not so.exists():
            self.log("oracle: building the emulator (about 20 s, once)")
            so.parent.mkdir(exist_ok=True)
            tmp = so.with_suffix(f".{os.getpid()}.tmp")
            run_tool(
                [tool("clang++"), "-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-o", str(tmp)]
                + [str(f) for f in src if f.suffix == ".cpp"]
            )
            tmp.replace(so)
        return so

    def library(self, path):
        """Retargeted bitcode and entry signatures of one library file named by a module attribute."""
        name = Path(path).name
        d = self.cache / f"lib-{self.key}"
        bc, sig = d / name, d / (name + ".json")
        if not sig.exists():
            self.log(f"oracle: retargeting {name} (once)")
            d.mkdir(exist_ok=True)
            tmp = d / f"{name}.{os.getpid()}"
            text = retarget(run_tool([tool("llvm-dis"), str(self.wheel / "lib" / name), "-o", "-"]))
            Path(f"{tmp}.ll").write_text(text)
            run_tool([tool("llvm-as"), f"{tmp}.ll", "-o", f"{tmp}.bc"])
            os.unlink(f"{tmp}.ll")
            sigs = {}
            for m in re.finditer(r"^define [^@]*@_mlir_ciface_(\w+)\((.*)\) ", text, re.M):
                parts = [a for a in re.split(r",\s*(?![^()]*\))", m.group(2)) if a.strip()]
                sigs[m.group(1)] = [
                    re.sub(r" (noundef|signext|zeroext|%\S+)", "", a).strip() for a in parts
                ]
            os.replace(f"{tmp}.bc", bc)
            sig.write_text(json.dumps(sigs))
        return bc, json.loads(sig.read_text())
