# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module that the real compiler made -> upstream MLIR -> LLVM IR -> an instrumented x86 object.

The few hivm ops become calls into the emulator; every library function stays the vendor's code. An
op or symbol that is not known here raises Unmodelled, or becomes a stub that stops the run by name.
"""

import ctypes
import ctypes.util
import os
import re
from pathlib import Path

from .toolchain import LAYOUT, ToolError, run_tool, tool

SPACES = dict(zero=0, gm=1, cbuf=2, ca=3, cb=4, cc=5, ub=6, ssbuf=11)
PIPES = dict(
    PIPE_S=0,
    PIPE_V=1,
    PIPE_M=2,
    PIPE_MTE1=3,
    PIPE_MTE2=4,
    PIPE_MTE3=5,
    PIPE_ALL=6,
    PIPE_MTE4=7,
    PIPE_MTE5=8,
    PIPE_V2=9,
    PIPE_FIX=10,
)
PASSES = [
    "--lower-affine",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--arith-expand",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-func-to-llvm",
    "--reconcile-unrealized-casts",
]
SIZES = dict(i1=1, i8=1, i16=2, half=2, bfloat=2, i32=4, float=4, i64=8, double=8, ptr=8)
HOST_SYMBOL = r"(?:init_debug|finish_debug|(?:print|assert)_(?:scalar|\dd)_\w+)"


class Unmodelled(Exception):
    """The oracle does not model this op, symbol or instruction."""


def split_args(s):
    out, depth, cur = [], 0, ""
    for ch in s:
        depth += (ch in "(<{[") - (ch in ")>}]")
        if ch == "," and depth == 0:
            out.append(cur.strip())
            cur = ""
        else:
            cur += ch
    return out + [cur.strip()] if cur.strip() else out


def signature(line):
    """[(type, hacc argument kind or None)] of a function line."""
    s = line[line.index("(") + 1 :]
    depth = 1
    for i, ch in enumerate(s):  # noqa: B007 (used behind the loop)
        depth += (ch in "(") - (ch in ")")
        if depth == 0:
            break
    out = []
    for a in split_args(s[:i]):
        t = re.sub(r"\s*loc\(.*\)\s*$", "", re.match(r"%\w+: (.*)$", a).group(1))
        h = re.search(r"hacc\.arg_type<(\w+)>", t)
        out.append((re.sub(r"\s*\{.*\}$", "", t).strip(), h.group(1) if h else None))
    return out


class ModuleInfo:
    def __init__(self):
        self.device, self.host, self.libraries, self.user_symbols = (
            {},
            {},
            {},
            [],
        )  # name -> (core, signature); kind -> name
        self.inter_block = False


def rewrite(text):
    """hivm ops -> calls, address spaces -> integers, vendor attributes dropped."""
    info = ModuleInfo()
    for m in re.finditer(r'#hivm\.((?:mix_)?ai[cv])_bitcode<"([^"]*)">', text):
        info.libraries[m.group(1)] = m.group(2)
    for k in (
        "aic",
        "aiv",
        "mix_aic",
        "mix_aiv",
    ):  # only captures made with an unknown tool version lack these
        info.libraries.setdefault(k, f"meta_op.{k.replace('_', '.')}.bc")
    text = re.sub(r"#hivm\.address_space<(\w+)>", lambda m: str(SPACES[m.group(1)]), text)
    text = re.sub(
        r"@(?:_mlir_ciface_)?([A-Za-z0-9_]+)\.(?:cube|vector)\b", r"@\1", text
    )  # both sides of a mix module declare these
    text = text.replace("@_mlir_ciface_", "@")
    for name in re.findall(
        r"func\.func @([\w.]+)", text
    ):  # kernel names may equal libc or libm symbols
        text = re.sub(rf"@{re.escape(name)}\b", "@npu_" + name, text)
    text = re.sub(r"(llvm\.mlir\.global [^\n]*?\)) \{[^}\n]*\}", r"\1", text)
    out, decl, bases, seen, n = [], set(), set(), set(), [0]

    def new():
        n[0] += 1
        return f"%orc_{n[0]}"

    for ln in text.split("\n"):
        f = re.match(r"\s*func\.func (private )?@([\w.]+)", ln)
        if f and f.group(1):
            if f.group(2) in seen:
                continue
            seen.add(f.group(2))
        if f:
            if not f.group(1):
                core = re.search(r"func_core_type<(\w+)>", ln)
                host = re.search(r"host_func_type<(\w+)>", ln)
                if "function_kind<HOST>" in ln:
                    info.host[host.group(1) if host else f.group(2)] = f.group(2)
                else:
                    info.device[f.group(2)] = (core.group(1) if core else "AIV", signature(ln))
            ln = re.sub(
                r" attributes \{.*?\}(?= \{\s*$| loc\(|\s*$)",
                " attributes {llvm.emit_c_interface}",
                ln,
                count=1,
            )
            ln = re.sub(r"(?<!attributes) \{(?:hacc|tt|hivm)\.[^{}]*\}(?=[,)]| loc)", "", ln)
        m = re.search(r"hivm\.hir\.([a-z0-9_]+)", ln)
        if not m:
            if re.search(
                r"^\s*(%\S+ = )?\"?(hfusion|linalg|tensor|bufferization|annotation|scope)\.", ln
            ):
                raise Unmodelled("op left in the final module: " + ln.strip()[:160])
            out.append(ln)
            continue
        op, loc = m.group(1), ""
        ml = re.search(r"( loc\(.*\))\s*$", ln)
        if ml:
            loc, ln = ml.group(1), ln[: ml.start(1)]
        indent = re.match(r"\s*", ln).group(0)
        emit = lambda s: out.append(indent + s + loc)

        def const(v):
            if str(v).startswith("%"):
                return v
            c = new()
            emit(f"{c} = arith.constant {v} : i64")
            return c

        def call(fn, *vals):
            vals = [const(v) for v in vals]
            sig = "(" + ", ".join(["i64"] * len(vals)) + ")"
            emit(f"func.call @{fn}({', '.join(vals)}) : {sig} -> ()")
            decl.add((fn, sig))

        if op == "pointer_cast":
            res, addr, dyn, ty = re.match(
                r"\s*(%[\w#]+) = hivm\.hir\.pointer_cast\(([^)]*)\)\s*(?:\[([^\]]*)\])? *(?:\{[^}]*\})?\s*: (memref<.*>)\s*$",
                ln,
            ).groups()
            if "," in addr:
                raise Unmodelled("pointer_cast with several addresses")
            sp = int(re.search(r", (\d+)>$", ty).group(1))
            bases.add(sp)
            b, i = new(), new()
            emit(f"{b} = func.call @npu_base_{sp}({addr.strip()}) : (i64) -> memref<?xi8, {sp}>")
            emit(f"{i} = arith.constant 0 : index")
            emit(f"{res} = memref.view {b}[{i}][{dyn or ''}] : memref<?xi8, {sp}> to {ty}")
        elif op in ("set_flag", "wait_flag"):
            s, d, e, v = re.search(r"\[<(\w+)>, <(\w+)>, (?:<EVENT_ID(\d+)>|(%\w+))\]", ln).groups()
            call(
                "hivm_SET_FLAG_IMM" if op == "set_flag" else "hivm_WAIT_FLAG_IMM",
                PIPES[s],
                PIPES[d],
                v or e,
            )
        elif op == "pipe_barrier":
            call("hivm_BARRIER", PIPES[re.search(r"\[<(\w+)>\]", ln).group(1)])
        elif op == "set_mask_norm":
            call("npu_set_mask_norm")
        elif op in ("get_block_idx", "get_sub_block_idx", "get_block_num", "get_sub_block_num"):
            emit(
                "{} = func.call @npu_{}() : () -> i64".format(
                    re.match(r"\s*(%[\w#]+) =", ln).group(1), op
                )
            )
            decl.add(("npu_" + op, "() -> i64"))
        elif op == "set_ctrl":
            v, bit = re.search(r"set_ctrl (true|false) at ctrl\[(\d+)\]", ln).groups()
            call("npu_set_ctrl_bit", bit, int(v == "true"))
        elif op == "set_ffts_base_addr":
            call("npu_set_ffts_base_addr", re.search(r"set_ffts_base_addr (%\w+)", ln).group(1))
        elif op in ("sync_block_set", "sync_block_wait"):
            _, tp, p, fl = re.search(r"\[<(\w+)>, <(\w+)>, <(\w+)>\] flag = (%?\w+)", ln).groups()
            mode = re.search(r"sync_instr_mode = [^<]*<(\w+)>", ln)
            mode = mode.group(1) if mode else "INTRA_BLOCK"
            mode = 2 if mode.startswith("INTRA") else 1 if "SUBBLOCK" in mode else 0
            info.inter_block |= mode == 0
            call("npu_" + op, PIPES[tp], PIPES[p], fl, mode)
        elif op == "bitcast":
            m2 = re.match(
                r"\s*(%\w+) = hivm\.hir\.bitcast (%\w+) : (memref<.*>) -> (memref<.*>)$", ln
            )
            emit("{} = builtin.unrealized_conversion_cast {} : {} to {}".format(*m2.groups()))
        else:
            raise Unmodelled(f"hivm.hir.{op}: {ln.strip()[:160]}")
    text = "\n".join(out)
    have = set(re.findall(r"func\.func private @([\w.]+)", text))
    d = [f"  func.func private @{f}{s}" for f, s in sorted(decl) if f not in have]
    d += [f"  func.func private @npu_base_{s}(i64) -> memref<?xi8, {s}>" for s in sorted(bases)]
    m = re.search(r"^module.*\{\s*$", text, re.M)
    if not m:
        raise Unmodelled("no module line in the captured text")
    return text[: m.start()] + "module {\n" + "\n".join(d) + text[m.end() :], info


def match_library(ll, sigs):
    """The wheel's compiler and library disagree on a few signatures: pad or cut trailing arguments to the library's."""
    fixed = set()

    def fix(m):
        name = m.group(2)
        if name not in sigs:
            return m.group(0)
        args = [a for a in re.split(r",\s*(?![^()]*\))", m.group(3)) if a.strip()]
        want = sigs[name]
        if len(args) == len(want):
            return m.group(0)
        fixed.add(name)
        args = args[: len(want)]
        for w in want[len(args) :]:
            args.append(
                w + (" @npu_zero_desc" if w == "ptr" else " 0") if "call" in m.group(1) else w
            )
        return f"{m.group(1)}@_mlir_ciface_{name}({', '.join(args)})"

    ll = re.sub(
        r"((?:call|declare)[^@\n]*)@_mlir_ciface_(\w+)\(([^\n]*?)\)(?=,? ?!dbg|\s*$)",
        fix,
        ll,
        flags=re.M,
    )
    if fixed:  # a readable descriptor: the library loads it even where it does not use it
        ll += "\n@npu_zero_desc = global [32 x i64] zeroinitializer\n"
    return ll, sorted(fixed)


class Lines:
    """Source positions of the final IR: id -> (file, line) of the outermost call site."""

    def __init__(self, ll):
        meta = dict(re.findall(r"^!(\d+) = (?:distinct )?!(DI\w+\(.*\))$", ll, re.M))
        field = lambda s, k: (re.search(rf"\b{k}: !?(\d+)", s) or [None, None])[1]
        self.table, self.ids, self.of = [("", 0)], {}, {}

        def file_of(scope, depth=0):
            s = meta.get(scope or "", "")
            f = field(s, "file")
            if f:
                m = re.search(r'filename: "([^"]*)"(?:, directory: "([^"]*)")?', meta.get(f, ""))
                return os.path.join(m.group(2) or "", m.group(1)) if m else ""
            return file_of(field(s, "scope"), depth + 1) if s and depth < 20 else ""

        for k, s in meta.items():
            if not s.startswith("DILocation("):
                continue
            while field(s, "inlinedAt"):
                s = meta[field(s, "inlinedAt")]
            pos = (file_of(field(s, "scope")), int(field(s, "line") or 0))
            if pos[1]:
                if pos not in self.ids:
                    self.ids[pos] = len(self.table)
                    self.table.append(pos)
                self.of[k] = self.ids[pos]


def instrument(ll):
    """Scalar accesses of NPU address spaces and changes of source line become calls into the emulator."""
    lines, out, need, last = Lines(ll), [], set(), None
    for ln in ll.split("\n"):
        if ln.startswith("define") or re.match(r'^"?[\w.$-]+"?:', ln):
            last = None
        m = re.match(
            r"\s+(?:%\S+ = )?(?:tail |notail |musttail )?load (?:atomic )?(?:volatile )?(.+?), ptr addrspace\((\d+)\) (.+?)(?: syncscope\S+)?(?: \w+)?, align",
            ln,
        )
        s = re.match(
            r"\s+store (?:atomic )?(?:volatile )?(<[^>]*>|\[[^\]]*\]|\{[^}]*\}|ptr(?: addrspace\(\d+\))?|\w+) .+, ptr addrspace\((\d+)\) (.+?)(?: syncscope\S+)?(?: \w+)?, align",
            ln,
        )
        is_call = " call " in ln and "@llvm." not in ln
        if is_call or m or s:
            d = re.search(r"!dbg !(\d+)", ln)
            pos = lines.of.get(d.group(1)) if d else None
            if pos and pos != last:
                out.append(f"  call void @npu_loc(i32 {pos})")
                last = pos
                need.add("declare void @npu_loc(i32)")
        a = m or s
        if a and int(a.group(2)) in range(1, 8):
            ty, sp, ptr = a.groups()
            v = re.match(r"<(\d+) x (\w+)>", ty)
            size = int(v.group(1)) * SIZES[v.group(2)] if v else SIZES.get(ty.split(" ")[0])
            if size is None:
                raise Unmodelled("scalar access of type " + ty)
            fn = f"npu_{'sload' if m else 'sstore'}_as{sp}"
            out.append(f"  call void @{fn}(ptr addrspace({sp}) {ptr}, i64 {size})")
            need.add(f"declare void @{fn}(ptr addrspace({sp}), i64)")
        b = re.search(r"call .*@llvm\.mem(cpy|set|move)\.([\w.]*)\((.*)\)", ln)
        if b:  # merged scalar accesses
            args = split_args(b.group(3))
            for arg, fn in zip(
                args, ("sstore", "sload") if b.group(1) != "set" else ("sstore",), strict=False
            ):
                q = re.match(
                    r"ptr addrspace\(([1-7])\) (?:noundef |nonnull |align \d+ |dereferenceable\(\d+\) )*(.+)$",
                    arg,
                )
                if q:
                    fn = f"npu_{fn}_as{q.group(1)}"
                    out.append(
                        f"  call void @{fn}(ptr addrspace({q.group(1)}) {q.group(2)}, i64 {args[2].split()[-1]})"
                    )
                    need.add(f"declare void @{fn}(ptr addrspace({q.group(1)}), i64)")
        out.append(ln)
    return "\n".join(out) + "\n" + "\n".join(sorted(need)) + "\n", lines.table


LIBS = [ctypes.CDLL(None), ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")]


def guard_division(ll):
    """x86 traps on x / 0 and MIN / -1, an NPU scalar core does not: divide by 1 there (the NPU's own value is not known)."""
    count = [0]

    def fix(m):
        count[0] += 1
        ind, res, op, ty, a, b, rest = m.groups()
        t, bits = f"%npudiv{count[0]}", int(ty[1:])
        if re.fullmatch(r"-?\d+", b) and int(b) not in (0, -1):
            return m.group(0)
        low = (
            ""
            if op[0] == "u"
            else f"{ind}{t}.m = icmp eq {ty} {a}, {-(1 << bits - 1)}\n{ind}{t}.n = icmp eq {ty} {b}, -1\n{ind}{t}.o = and i1 {t}.m, {t}.n\n"
        )
        bad = f"{t}.z" if op[0] == "u" else f"{t}.b"
        both = "" if op[0] == "u" else f"{ind}{t}.b = or i1 {t}.z, {t}.o\n"
        return f"{ind}{t}.z = icmp eq {ty} {b}, 0\n{low}{both}{ind}{t}.d = select i1 {bad}, {ty} 1, {ty} {b}\n{ind}{res} = {op} {ty} {a}, {t}.d{rest}"

    return re.sub(
        r"^( +)(%\S+) = (sdiv|srem|udiv|urem)(?: exact)? (i\d+) (\S+), ([^,\s]+)(.*)$",
        fix,
        ll,
        flags=re.M,
    )


def resolve(ll, exports):
    """Give every undefined symbol a body: host functions for print/assert, else a stub that stops the run by name."""
    out, missing = [], []
    for ln in ll.split("\n"):
        m = re.match(r"declare (?:!dbg !\d+ )?(.*?)@([\w.]+)\((.*?)\)", ln)
        if (
            not m
            or m.group(2).startswith("llvm.")
            or m.group(2) in exports
            or re.fullmatch(r"npu_s(load|store)_as\d|npu_loc", m.group(2))
            or not re.search(rf"@{re.escape(m.group(2))}\b(?!\.)", ll.replace(ln, "", 1))
        ):
            out.append(ln)
            continue
        ret, name, args = (
            re.sub(r"\b(noundef|signext|zeroext|dso_local|private)\b", "", m.group(1)).strip(),
            m.group(2),
            m.group(3),
        )
        types = [
            re.sub(r" (noundef|signext|zeroext|nocapture|%\S+)", "", a).strip()
            for a in re.split(r",\s*(?![^()]*\))", args)
            if a.strip()
        ]
        params = ", ".join(f"{t} %a{i}" for i, t in enumerate(types))
        sym = f"@str.{len(out)}"
        short = re.sub(r"^(_mlir_ciface_|npu_host_)", "", name)
        text = f'{sym} = private constant [{len(short) + 1} x i8] c"{short}\\00"'
        host = name.startswith("npu_host_")
        token = re.fullmatch(r"aclshmem_consume_token_\w+_ptr_(\d)d", short)
        if host and short in ("init_debug", "finish_debug"):
            out.append(f"define void @{name}({params}) {{ ret void }}")
        elif host:
            ty = types[2]
            if ty == "ptr":
                pre, arg = "", "%a2"
            elif ty == "i1":
                pre, arg = "%s = alloca i8\n %z = zext i1 %a2 to i8\n store i8 %z, ptr %s\n", "%s"
            else:
                pre, arg = f"%s = alloca {ty}\n store {ty} %a2, ptr %s\n", "%s"
            hexa = (
                f"%h = zext {types[3]} %a3 to i64"
                if len(types) > 3 and types[3] != "i64"
                else "%h = add i64 0, 0"
            )
            out += [
                text,
                f"define void @{name}({params}) {{\n {pre} {hexa}\n call void @npu_debug(ptr {sym}, ptr %a0, i64 %a1, ptr {arg}, i64 %h)\n ret void\n}}",
            ]
        elif token:
            out.append(
                f"define void @{name}({params}) {{\n call void @npu_consume_ptr(ptr %a0, ptr %a1, i32 {token.group(1)})\n ret void\n}}"
            )
        elif any(hasattr(lib, name) for lib in LIBS) and not name.startswith(
            ("hivm_", "npu_", "_mlir")
        ):
            out.append(ln)
        else:
            missing.append(short.replace("hivm_", "", 1) if short.startswith("hivm_") else short)
            ret = ret.split()[-1] if not ret.endswith("}") else ret
            out += [
                text,
                f"define {m.group(1).replace('dso_local', '').strip()} @{name}({params}) {{\n call void @npu_unmodelled(ptr {sym})\n unreachable\n}}",
            ]
    ll = "\n".join(out)
    for d in (
        "declare void @npu_unmodelled(ptr)",
        "declare void @npu_debug(ptr, ptr, i64, ptr, i64)",
        "declare void @npu_consume_ptr(ptr, ptr, i32)",
    ):
        if re.search(r"call void @{}\b".format(re.search(r"@(\w+)", d).group(1)), ll):
            ll += "\n" + d
    return ll + "\n", sorted(set(missing))


def entry_shims(info):
    """void npu_entry_<name>(void **args): unpack addresses of the arguments and call the kernel."""
    out = []
    ll = {
        "i64": "i64",
        "i32": "i32",
        "i16": "i16",
        "i8": "i8",
        "i1": "i1",
        "f32": "float",
        "f64": "double",
        "f16": "half",
        "bf16": "bfloat",
        "index": "i64",
    }
    for name, (_, sig) in info.device.items():
        body, args = [], []
        for i, (t, _) in enumerate(sig):
            body += [f"%p{i} = getelementptr ptr, ptr %a, i64 {i}", f"%q{i} = load ptr, ptr %p{i}"]
            if t.startswith("memref"):
                args.append(f"ptr %q{i}")
            elif t in ll:
                body.append(f"%v{i} = load {ll[t]}, ptr %q{i}")
                args.append(f"{ll[t]} %v{i}")
            else:
                raise Unmodelled("kernel argument of type " + t)
        out.append(
            "define void @npu_entry_{}(ptr %a) {{\n  {}\n  call void @_mlir_ciface_{}({})\n  ret void\n}}".format(
                name, "\n  ".join(body), name, ", ".join(args)
            )
        )
    return "\n".join(out)


def build(tc, captured, work, opt="-O2", link=()):
    """Returns (path of the shared object, ModuleInfo, position table)."""
    work = Path(work)
    p = lambda ext: str(work / ("k" + ext))
    text, info = rewrite(captured)
    if not info.device:
        raise Unmodelled("no device function in the captured module")
    Path(p(".1.mlir")).write_text(text)
    dbg = " loc(" in text
    cmd = (
        [str(tc.bin / "bishengir-opt"), p(".1.mlir"), "--allow-unregistered-dialect"]
        + PASSES
        + (["--ensure-debug-info-scope-on-llvm-func", "--mlir-print-debuginfo"] if dbg else [])
    )
    try:
        run_tool(cmd + ["-o", p(".2.mlir")])
        ll = run_tool([tool("mlir-translate"), "--mlir-to-llvmir", p(".2.mlir")])
    except ToolError as e:  # an op that the upstream conversions leave behind
        raise Unmodelled("construct that cannot be lowered: " + str(e)[:400]) from e
    cores = {c for c, _ in info.device.values()}
    kinds = (["aic"] if cores & {"AIC", "MIX"} else []) + (
        ["aiv"] if cores & {"AIV", "MIX"} else []
    )
    if len(kinds) == 2:
        kinds += ["mix_aic", "mix_aiv"]
    libs, sigs = [], {}
    for k in kinds:
        if k in info.libraries:
            bc, s = tc.library(info.libraries[k])
            libs.append(str(bc))
            for n, v in s.items():
                sigs.setdefault(n, v)
    ll = re.sub(rf"@_mlir_ciface_({HOST_SYMBOL})\b", r"@npu_host_\1", ll)
    ll, info.padded = match_library(ll, sigs)
    ll = re.sub(r"^(define private [^\n]*?)(?= !dbg| \{)", r"\1 alwaysinline", ll, flags=re.M)
    ll = (
        f'target datalayout = "{LAYOUT[0]}"\ntarget triple = "{LAYOUT[1]}"\n'
        + re.sub(r"^target .*$", "", ll, flags=re.M)
        + "\n"
        + entry_shims(info)
    )
    Path(p(".3.ll")).write_text(guard_division(ll))
    extra = []
    for f in link:
        if str(f).endswith(".c"):
            run_tool(
                [
                    tool("clang"),
                    "-O1",
                    "-w",
                    "-emit-llvm",
                    "-c",
                    str(f),
                    "-o",
                    p(f".user{len(extra)}.bc"),
                ]
            )
            f = p(f".user{len(extra)}.bc")
        extra.append(str(f))
    cmd = (
        [tool("llvm-link"), "--only-needed", "--internalize", p(".3.ll")]
        + extra
        + libs
        + ["-o", p(".4.bc")]
    )
    try:
        run_tool(cmd)
    except ToolError:  # a symbol defined in two library parts: take the first
        cmd = (
            [tool("llvm-link"), "--only-needed", "--internalize", p(".3.ll")]
            + extra
            + libs[:2]
            + ["-o", p(".4.bc")]
        )
        run_tool(cmd)
    final = run_tool(
        [
            tool("opt"),
            opt,
            "-vectorize-slp=false",
            "-vectorize-loops=false",
            "-disable-loop-idiom-all",
            p(".4.bc"),
            "-S",
        ]
    )
    final, table = instrument(final)
    final, info.user_symbols = resolve(final, tc.exports)
    Path(p(".6.ll")).write_text(final)
    run_tool(
        [tool("llc"), "-O1", "-relocation-model=pic", "-filetype=obj", p(".6.ll"), "-o", p(".o")]
    )
    run_tool([tool("ld.lld"), "-shared", p(".o"), "-o", p(".so")])
    return p(".so"), info, table
