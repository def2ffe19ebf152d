# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles hand-over IR with the real Ascend compiler (A2, A3) and runs what it made on this machine,
instruction by instruction, with a happens-before checker.

    from oracle import Oracle
    r = Oracle("Ascend910B3").run("k.mlir", args=[x, y, 777], grid=(4, 1, 1))
    r.accepted, r.compiler_stderr, r.outputs, r.reports, r.unmodelled, r.instructions

Arguments are the kernel's own, without lock, workspace and program ids; bf16 arrays are uint16. See
README.md for what is modelled. Needs numpy, the wheel ascendnpu-ir, clang, lld and the LLVM and MLIR
tools of version 22.
"""

import argparse
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import lowering
from .lowering import Unmodelled
from .toolchain import Toolchain, ToolError

DEFAULT_FLAGS = (
    "--enable-auto-multi-buffer=True",
    "--enable-auto-bind-sub-block=True",
    "--enable-debug-info=true",
    "--enable-hfusion-compile=true",
    "--enable-hivm-compile=true",
    "--enable-triton-kernel-compile=true",
)
CTYPES = {
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
    "i16": ctypes.c_int16,
    "i8": ctypes.c_int8,
    "i1": ctypes.c_int8,
    "f16": ctypes.c_uint16,
    "bf16": ctypes.c_uint16,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "index": ctypes.c_int64,
}
BITS = {
    "f32": 32,
    "i32": 32,
    "f16": 16,
    "bf16": 16,
    "i16": 16,
    "i64": 64,
    "f64": 64,
    "i8": 8,
    "i1": 8,
}
DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f64": np.float64,
}


@dataclass
class Pointer:
    """A buffer whose address is passed as an integer argument."""

    array: np.ndarray
    offset: int = 0


@dataclass
class Report:
    """One finding: the instruction that noticed it and the one that it conflicts with."""

    kind: str
    severity: str  # error or note
    text: str
    first: tuple = None  # (core, pipe, instruction, file, line)
    second: tuple = None
    memory: str = ""
    range: tuple = None  # bytes [lo, hi] in that memory
    count: int = 1

    def __str__(self):
        at = lambda t: (
            f"{t[0]}:{t[1]} {t[2]}"
            + (f" ({os.path.basename(t[3]) or 'text'}:{t[4]})" if t[4] else "")
        )
        if self.second:
            return f"{self.kind}: {at(self.first)} against {at(self.second)} on {self.memory} bytes {self.range[0]:#x}..{self.range[1]:#x}"
        return f"{self.kind}: {self.text}" + (
            f" [{self.first[0]}" + (f", line {self.first[4]}" if self.first[4] else "") + "]"
            if self.first and self.first[0]
            else ""
        )


@dataclass
class Result:
    accepted: bool = False
    compiler_stderr: str = ""
    unmodelled: str = None  # name of what is not modelled
    outputs: list = field(default_factory=list)
    reports: list = field(default_factory=list)
    prints: list = field(default_factory=list)
    instructions: int = 0
    histogram: dict = field(default_factory=dict)
    entry: list = field(default_factory=list)
    task_type: int = None
    padded: list = field(default_factory=list)  # library calls whose signature had to be adapted
    compile_seconds: float = 0.0
    lower_seconds: float = 0.0
    run_seconds: float = 0.0

    @property
    def errors(self):
        return [r for r in self.reports if r.severity == "error"]

    @property
    def ok(self):
        return self.accepted and not self.unmodelled and not self.errors


def to_mlir19(text):
    """Text printed by MLIR 22 as MLIR 19 reads it: two ops, and locations without ends."""
    out = []
    for ln in text.split("\n"):
        m = re.search(r"bufferization\.to_tensor [^\n]*?( to tensor<.*?)(?= loc\(|\s*$)", ln)
        if m:
            ln = ln[: m.start(1)] + ln[m.end(1) :]
        ln = re.sub(
            r"bufferization\.to_buffer (%\S+)( read_only)? : tensor<.*?> to (memref<)",
            r"bufferization.to_memref \1\2 : \3",
            ln,
        )
        ln = re.sub(r'(loc\("[^"]*":\d+:\d+) to (?:\d+)?:\d+', r"\1", ln)
        out.append(ln)
    return "\n".join(out)


class Kernel:
    """A compiled kernel: entry points, signature, host functions."""

    def __init__(self, tc, so, info, table, text, shown):
        self.lib = ctypes.CDLL(so)
        self.info, self.table, self.text, self.shown = info, table, text, shown
        self.aic = [n for n, (c, _) in info.device.items() if c == "AIC"]
        self.aiv = [n for n, (c, _) in info.device.items() if c != "AIC"]
        self.signature = next(iter(info.device.values()))[1]
        self.task_type = self.host("infer_task_type_function", ctypes.c_int8)
        self.workspace = self.host("infer_workspace_shape_function", ctypes.c_int64) or 0
        self.locks = self.host("infer_sync_block_lock_num_function", ctypes.c_int64) or 0
        self.lock_init = self.host("infer_sync_block_lock_init_function", ctypes.c_int64) or 0

    def host(self, kind, restype):
        f = getattr(self.lib, self.info.host.get(kind, ""), None)
        if f is None:
            return None
        f.restype = restype
        return f()

    def pointer(self, name):
        return ctypes.cast(getattr(self.lib, "npu_entry_" + name), ctypes.c_void_p)

    def where(self, loc):
        f, line = self.table[loc] if 0 <= loc < len(self.table) else ("", 0)
        return (self.shown.get(os.path.basename(f), f), line)


class Oracle:
    def __init__(self, target="Ascend910B3", ascendnpu_ir=None, cache=None, log=None, keep=None):
        if not re.match(r"Ascend910(B|_93)", target):
            raise ValueError(f"target {target} is not modelled: only 910B and 910_93 (c220) are")
        self.tc = Toolchain(ascendnpu_ir, cache, log)
        self.target, self.keep, self.kernels = target, keep, {}
        n = self.tc.npu
        n.npu_gm_alloc.restype = ctypes.c_void_p
        n.npu_gm_alloc.argtypes = [
            ctypes.c_uint64,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
        ]
        n.npu_add_core.argtypes = [
            ctypes.c_int,
            ctypes.c_int64,
            ctypes.c_int,
            ctypes.c_int64,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        n.npu_run.argtypes = [ctypes.c_double]
        n.npu_report.restype = ctypes.c_char_p

    # ---- compile
    def capture(self, text, flags=(), name="kernel.mlir"):
        """Run the real compiler. Returns (captured module or None, its messages, seconds, working folder)."""
        work = Path(tempfile.mkdtemp(prefix="oracle-")) if not self.keep else Path(self.keep)
        work.mkdir(parents=True, exist_ok=True)
        src, cap = work / name, work / "captured.mlir"
        src.write_text(to_mlir19(text))
        if cap.exists():
            cap.unlink()
        given = {f.split("=")[0] for f in flags}
        use = [
            f for f in DEFAULT_FLAGS + (f"--target={self.target}",) if f.split("=")[0] not in given
        ] + list(flags)
        env = dict(
            os.environ, PATH=f"{self.tc.fake}:{os.environ.get('PATH', '')}", ORACLE_CAPTURE=str(cap)
        )
        env.pop("BISHENG_INSTALL_PATH", None)

        def fixed_addresses():  # the compiler orders some buffers by address: without this its output varies from run to run
            ctypes.CDLL(None).personality(0x0040000)

        t = time.time()
        try:
            r = subprocess.run(
                [str(self.tc.bin / "bishengir-compile"), str(src)]
                + use
                + ["-o", str(work / "out.o")],
                capture_output=True,
                text=True,
                env=env,
                cwd=work,
                timeout=300,
                preexec_fn=fixed_addresses,
                errors="replace",
            )
            err, rc = r.stderr + r.stdout, r.returncode
        except subprocess.TimeoutExpired:
            err, rc = "the compiler did not finish within 300 s", -1
        seconds = time.time() - t
        if rc < 0:
            err += f"\n[compiler ended by signal {-rc}]"
        elif rc >= 128:
            err += f"\n[compiler ended with code {rc}]"
        return (cap.read_text() if rc == 0 and cap.exists() else None), err, seconds, work

    def compile(self, module, flags=(), link=(), result=None):
        """module: path or text, hand-over IR or a module captured earlier. Returns a Kernel or None; result carries messages and times."""
        r = result if result is not None else Result()
        text, shown = module, {}
        is_path = isinstance(module, Path) or ("\n" not in module and os.path.exists(module))
        name = os.path.basename(str(module)) if is_path else "kernel.mlir"
        if is_path:
            text = Path(module).read_text()
            shown[name] = str(module)
        captured = "#hivm.aiv_bitcode<" in text  # already the module that the final tool would get
        key = (text, tuple(flags), tuple(map(str, link)))
        if key in self.kernels:
            k, r.compiler_stderr, r.compile_seconds = self.kernels[key]
            r.accepted, r.padded = True, k.info.padded
            return k
        if captured:
            cap, work = text, Path(self.keep or tempfile.mkdtemp(prefix="oracle-"))
            work.mkdir(parents=True, exist_ok=True)
        else:
            cap, r.compiler_stderr, r.compile_seconds, work = self.capture(text, flags, name)
        try:
            r.compiler_stderr = r.compiler_stderr.replace(
                str(work / name), str(module) if is_path else name
            )
            if cap is None:
                return None
            r.accepted = True
            t = time.time()
            so, info, table = lowering.build(self.tc, cap, work, link=link)
            r.lower_seconds, r.padded = time.time() - t, info.padded
            k = Kernel(self.tc, so, info, table, text, shown)
            self.kernels[key] = (k, r.compiler_stderr, r.compile_seconds)
            return k
        finally:
            if not self.keep:
                shutil.rmtree(work, ignore_errors=True)

    # ---- arguments
    def _buffer(self, array, name, kind=0, group=-1, rank=0):
        a = np.ascontiguousarray(array)
        p = self.tc.npu.npu_gm_alloc(a.nbytes, name.encode(), kind, group, rank)
        if not p:
            raise MemoryError(name)
        ctypes.memmove(p, a.ctypes.data, a.nbytes)
        return p

    def _bind(self, k, args, grid, rank):
        """Device argument block of one rank, and the buffers to read back."""
        user = [
            i
            for i, (t, h) in enumerate(k.signature)
            if h not in ("ffts_base_address", "sync_block_lock", "workspace")
        ]
        values = list(args)
        if len(values) == len(user) - 3:
            values += list(grid)
        if len(values) != len(user):
            raise ValueError(
                f"the kernel takes {len(user) - 3} arguments and the grid: {[k.signature[i][0] for i in user]}; {len(args)} given"
            )
        it, block, keep, back, blocks = iter(values), [], [], [], grid[0] * grid[1] * grid[2]
        buffers = {}
        for i, (t, h) in enumerate(k.signature):
            if h == "ffts_base_address":
                v = ctypes.c_int64(0x1000)
            elif h == "workspace":
                v, size = None, max(k.workspace * blocks, 8)
                ptr = self._buffer(np.full(size, 0xEE, np.uint8), "workspace", 0, -1, rank)
            elif h == "sync_block_lock":
                size = max(k.locks, 1) * 8
                ptr, v = (
                    self._buffer(
                        np.full(max(k.locks, 1), k.lock_init, np.int64), "lock", 1, -1, rank
                    ),
                    None,
                )
            else:
                v = next(it)
            if t.startswith("memref"):
                dims, elem = re.match(r"memref<((?:[\d?]+x)*)(\w+)", t).groups()
                if v is not None:
                    if not isinstance(v, np.ndarray):
                        raise ValueError(f"argument {i} is {t}: pass an array")
                    if elem in BITS and v.dtype.itemsize * 8 != BITS[elem]:
                        raise ValueError(f"argument {i} is {t}: an array of {v.dtype} does not fit")
                    if id(v) not in buffers:  # one array given twice is one buffer
                        buffers[id(v)] = self._buffer(v, f"arg{len(back)}", 0, i, rank)
                    ptr, size = buffers[id(v)], v.size
                    back.append((v, ptr))
                shape = [size if d == "?" else int(d) for d in dims.split("x")[:-1]]
                strides, s = [], 1
                for d in reversed(shape):
                    strides.insert(0, s)
                    s *= d
                c = (ctypes.c_int64 * (3 + 2 * len(shape)))(ptr, ptr, 0, *shape, *strides)
            elif isinstance(v, Pointer):
                ptr = self._buffer(v.array, f"arg{len(back)}", 0, i, rank)
                back.append((v.array, ptr))
                c = ctypes.c_int64(ptr + v.offset)
            elif t in CTYPES:
                if t == "f16":
                    v = int(np.float16(v).view(np.uint16))
                elif t == "bf16":
                    v = int(np.float32(v).view(np.uint32)) >> 16
                c = (
                    v
                    if isinstance(v, ctypes._SimpleCData)
                    else CTYPES[t](float(v) if t in ("f32", "f64") else int(v))
                )
                if h is None:
                    back.append(None)
            else:
                raise Unmodelled("kernel argument of type " + t)
            keep.append(c)
            block.append(ctypes.addressof(c))
        return (ctypes.c_void_p * len(block))(*block), keep, back[: len(args)]

    # ---- run
    def run(
        self,
        module,
        args=(),
        grid=(1, 1, 1),
        flags=(),
        check=True,
        strict=True,
        link=(),
        timeout=120.0,
        together=None,
    ):
        """together: how many blocks are alive at the same time (default: as many as fit into 24 cores)."""
        return self.run_ranks(
            module, [args], 1, grid, flags, check, strict, link, timeout, together
        )

    def run_ranks(
        self,
        modules,
        args_per_rank,
        ranks=None,
        grid=(1, 1, 1),
        flags=(),
        check=True,
        strict=True,
        link=(),
        timeout=120.0,
        together=None,
    ):
        """One kernel (or one per rank) on several ranks; outputs becomes one list per rank when ranks > 1."""
        ranks = ranks or len(args_per_rank)
        mods = list(modules) if isinstance(modules, (list, tuple)) else [modules] * ranks
        r = Result()
        grid = tuple(grid) + (1,) * (3 - len(grid)) if not isinstance(grid, int) else (grid, 1, 1)
        try:
            ks = []
            for m in mods:
                k = self.compile(m, flags, link, r)
                if k is None:
                    r.accepted = False
                    return r
                ks.append(k)
        except Unmodelled as e:
            r.unmodelled = str(e)
            return r
        k0 = ks[0]
        r.entry, r.task_type = (
            [n[4:] for n in k0.aic + k0.aiv],
            k0.task_type,
        )  # without the prefix npu_
        n, npu = grid[0] * grid[1] * grid[2], self.tc.npu
        if n == 0:  # an empty grid launches nothing
            r.outputs = [list(a) for a in args_per_rank] if ranks > 1 else list(args_per_rank[0])
            return r
        npu.npu_reset(int(check), int(strict))
        bound = [self._bind(ks[i], args_per_rank[i], grid, i) for i in range(ranks)]
        per = max((1 if k.aic else 0) + ((2 if k.aic else 1) if k.aiv else 0) for k in ks)
        if together is None:
            together = n if ranks > 1 or any(k.info.inter_block for k in ks) else max(1, 24 // per)
        together = min(together, n)
        if together * per * ranks > 96:
            r.unmodelled = f"{together * per * ranks} cores at the same time (96 at most)"
            return r
        t = time.time()
        for start in range(0, n, together):
            npu.npu_wave(n, ranks)
            for rank, k in enumerate(ks):
                for b in range(start, min(n, start + together)):
                    a = ctypes.cast(bound[rank][0], ctypes.c_void_p)
                    if k.aic:
                        npu.npu_add_core(rank, b, 0, 0, k.pointer(k.aic[0]), a)
                    for s in range(2 if k.aic and k.aiv else 1 if k.aiv else 0):
                        npu.npu_add_core(rank, b, 1, s, k.pointer(k.aiv[0]), a)
            if npu.npu_run(timeout):
                break
        r.run_seconds = time.time() - t
        outs = []
        for _, _, back in bound:
            o = []
            for e in back:
                if e is None:
                    o.append(None)
                    continue
                src, ptr = e
                out = np.empty_like(np.ascontiguousarray(src))
                ctypes.memmove(out.ctypes.data, ptr, out.nbytes)
                o.append(out)
            outs.append(o)
        r.outputs = outs if ranks > 1 else outs[0]
        j = json.loads(npu.npu_report().decode(errors="replace"))
        r.instructions, r.histogram, r.prints = j["instructions"], j["histogram"], j["prints"]
        for f in j["findings"]:
            spot = lambda t: (
                (t[0], t[1], t[2]) + ks[min(t[4], ranks - 1)].where(t[3]) if t[0] else None
            )
            if f["kind"] == "not-modelled":
                r.unmodelled = f["text"]
            r.reports.append(
                Report(
                    f["kind"],
                    f["severity"],
                    f["text"],
                    spot(f["a"]),
                    spot(f["b"]),
                    f["memory"],
                    (f["lo"], f["hi"]),
                    f["count"],
                )
            )
        return r


# ---- command line
def parse_arg(s):
    if os.path.exists(s) and s.endswith(".npy"):
        return np.load(s)
    p = s.split(":")
    if p[0] in ("zeros", "rand", "arange"):
        dt, shape = DTYPES[p[1]], tuple(int(x) for x in p[2].split("x"))
        if p[0] == "zeros":
            return np.zeros(shape, dt)
        if p[0] == "arange":
            return np.arange(int(np.prod(shape))).reshape(shape).astype(dt)
        g = np.random.default_rng(int(p[3]) if len(p) > 3 else 0)
        return (
            g.standard_normal(shape).astype(dt)
            if p[1][0] in "f"
            else g.integers(-100, 100, shape).astype(dt)
            if p[1][0] == "i"
            else g.integers(0, 200, shape).astype(dt)
        )
    if p[0] == "address":
        return Pointer(parse_arg(":".join(p[1:])))
    if p[0] in ("i1", "i8", "i16", "i32", "i64"):
        return int(p[1], 0)
    if p[0] in ("f16", "f32", "f64"):
        return float(p[1])
    raise SystemExit(
        f"argument not understood: {s} (file.npy, zeros:f32:1024, rand:f16:64x64[:seed], arange:i32:8, address:<array>, i32:5, f32:1.5)"
    )


def main(argv=None):
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog="exit code: 0 ok, 1 rejected by the real compiler, 2 mismatch, 3 checker report, "
        "4 not modelled, 5 usage or tool problem",
    )
    ap.add_argument("module", nargs="?")
    ap.add_argument("--arg", action="append", default=[])
    ap.add_argument("--grid", default="1", help="x[,y[,z]]")
    ap.add_argument("--out", help="folder for the arrays after the run (arg<i>.npy)")
    ap.add_argument("--expect", action="append", default=[], help="i=ref.npy")
    ap.add_argument("--rtol", type=float, default=1e-5)
    ap.add_argument("--atol", type=float, default=1e-6)
    ap.add_argument(
        "--no-check", action="store_true", help="run without the happens-before checker"
    )
    ap.add_argument(
        "--flag",
        action="append",
        default=[],
        help="further option of bishengir-compile, e.g. --flag=--enable-hivm-unit-flag-sync=true",
    )
    ap.add_argument(
        "--link", action="append", default=[], help=".c, .ll or .bc with user functions"
    )
    ap.add_argument("--target", default="Ascend910B3")
    ap.add_argument(
        "--ascendnpu-ir",
        help="folder that holds the wheel; default: the one of this Python",
    )
    ap.add_argument("--cache")
    ap.add_argument("--keep", help="keep intermediate files in this folder")
    a = ap.parse_args(argv)
    try:
        o = Oracle(a.target, a.ascendnpu_ir, a.cache, keep=a.keep)
        if not a.module or not os.path.exists(a.module):
            ap.error("no module")
        grid = tuple(int(x) for x in a.grid.split(","))
        r = o.run(
            a.module, [parse_arg(x) for x in a.arg], grid, a.flag, not a.no_check, link=a.link
        )
    except (ToolError, ValueError) as e:
        print(f"oracle: {e}", file=sys.stderr)
        return 5
    if not r.accepted:
        print(
            "rejected by the real compiler:\n"
            + "\n".join(r.compiler_stderr.strip().split("\n")[:40])
        )
        return 1
    for p in r.prints:
        print("print", p)
    for x in r.reports:
        print(x.severity, x)
    if r.unmodelled:
        print("not modelled:", r.unmodelled)
        return 4
    print(
        f"entry {', '.join(r.entry)}; task type {r.task_type}; {r.instructions} instructions; compile {r.compile_seconds:.2f} s, lower {r.lower_seconds:.2f} s, run {r.run_seconds:.2f} s"
    )
    if a.out:
        os.makedirs(a.out, exist_ok=True)
        for i, v in enumerate(r.outputs):
            if v is not None:
                np.save(os.path.join(a.out, f"arg{i}.npy"), v)
    bad = False
    for e in a.expect:
        i, f = e.split("=", 1)
        ref, got = np.load(f), r.outputs[int(i)]
        wide = lambda v: v.astype(np.float64) if v.dtype.kind == "f" else v
        same = np.isclose(wide(got), wide(ref).reshape(got.shape), a.rtol, a.atol, equal_nan=True)
        print(
            f"argument {i}: "
            + (
                "equal within tolerance"
                if same.all()
                else f"{int((~same).sum())} of {same.size} elements differ, first at {tuple(int(v) for v in np.argwhere(~same)[0])}"
            )
        )
        bad |= not same.all()
    return 2 if bad else 3 if r.errors else 0
