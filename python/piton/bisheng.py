# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives the real Ascend compiler: finds it, passes the options it takes, brings back what it says.

The compiler is looked up in the folder that ``TRITON_NPU_COMPILER_PATH`` names, then in the wheel
``ascendnpu-ir`` (``pip install piton-npu[bisheng]``), then on ``PATH``. It runs everywhere, up to
the closed last tool ``hivmc`` of CANN, which it finds on ``PATH`` or in ``BISHENG_INSTALL_PATH``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import env
from .errors import MLIRCompilationError

#: Seconds after which a compilation counts as hung; the slowest seen takes two.
TIMEOUT = 600

_VERSION_LINE = "hivmc 0.2.0 (0000000 2026-01-01)"


@dataclass(frozen=True)
class Toolchain:
    """One compiler: its path, the tool it ends in, and who provides it."""

    compiler: Path
    hivmc: str
    a5: bool
    origin: str

    @property
    def final_tool(self) -> str | None:
        """Path of the vendor's last tool, None where it is not installed."""
        places = [os.environ.get("BISHENG_INSTALL_PATH", ""), os.environ.get("PATH", "")]
        folder = os.environ.get("BISHENG_INSTALL_PATH", "")
        if folder:
            places.append(os.path.join(folder, "bin"))
        return shutil.which(self.hivmc, path=os.pathsep.join(p for p in places if p))


def _wheel_folder() -> Path | None:
    """`bin` of the installed wheel ascendnpu-ir; the package itself is not imported."""
    spec = importlib.util.find_spec("ascendnpuir")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "bin"
    return folder if folder.is_dir() else None


def find(target: str) -> Toolchain:
    """The compiler for a SoC name. Raises MLIRCompilationError when there is none."""
    from . import _piton

    a5 = _piton.bisheng_target(target)[1] == "a5"
    name = "bishengir-compile-a5" if a5 else "bishengir-compile"
    hivmc = "hivmc-a5" if a5 else "hivmc"

    named = os.environ.get("TRITON_NPU_COMPILER_PATH")
    if named:
        for folder in (Path(named), Path(named) / "bin"):
            if os.access(folder / name, os.X_OK):
                return Toolchain(folder / name, hivmc, a5, "TRITON_NPU_COMPILER_PATH")
        raise MLIRCompilationError(
            "npubin",
            f"error: TRITON_NPU_COMPILER_PATH = {named} holds no executable {name}; "
            "let it name the folder of the NPU compiler, or unset it to use the wheel ascendnpu-ir",
        )
    wheel = _wheel_folder()
    if wheel is not None and os.access(wheel / name, os.X_OK):
        return Toolchain(wheel / name, hivmc, a5, "the wheel ascendnpu-ir")
    on_path = shutil.which(name)
    if on_path:
        return Toolchain(Path(on_path), hivmc, a5, "PATH")
    raise MLIRCompilationError(
        "npubin",
        f"error: the bisheng back end needs {name}, which was found neither through "
        "TRITON_NPU_COMPILER_PATH nor in the wheel ascendnpu-ir nor on PATH; "
        "`pip install piton-npu[bisheng]` installs it",
    )


#: Names of the user's own device code in a hand-over module.
_BITCODE = re.compile(r'\bbitcode = "([^"]+)"')

# -- Options -------------------------------------------------------------------------------------

#: Option -> flag with a value, for both compilers. None is not passed on.
_BOTH = {
    "enable_hivm_auto_cv_balance": "enable-hivm-auto-cv-balance",
    "sync_solver": "enable-hivm-graph-sync-solver",
    "unit_flag": "enable-hivm-unit-flag-sync",
    "inject_barrier_all": "enable-hivm-inject-barrier-all-sync",
    "inject_block_all": "enable-hivm-inject-block-all-sync",
    "limit_auto_multi_buffer_only_for_local_buffer": (
        "limit-auto-multi-buffer-only-for-local-buffer"
    ),
    "limit_auto_multi_buffer_of_local_buffer": "limit-auto-multi-buffer-of-local-buffer",
    "limit_auto_multi_buffer_buffer": "limit-auto-multi-buffer-buffer",
    "set_workspace_multibuffer": "set-workspace-multibuffer",
    "tile_mix_vector_loop": "tile-mix-vector-loop",
    "tile_mix_cube_loop": "tile-mix-cube-loop",
    "disable_auto_inject_block_sync": "disable-auto-inject-block-sync",
    "enable_ubuf_saving": "enable-ubuf-saving",
    "disable_size_align_for_cast": "disable-size-align-for-cast",
    "code_motion": "enable-code-motion",
    "enable_preload": "enable-preload",
}
#: The same for the 950 compiler alone; the A2/A3 one ends at a flag it does not know.
_A5 = {
    "enable_mixed_cv": "enable-mixed-cv",
    "vf_merge_level": "enable-vf-merge-level",
    "vf_fusion_mode": "vf-fusion-mode",
    "enable_drop_unit_dims": "enable-drop-unit-dims",
    "enable_flatten": "enable-flatten",
    "enable_auto_vectorize_v2": "enable-auto-vectorize-v2",
    "auto_vectorize_v2_max_fused_ops_num": "hfusion-max-fused-ops-in-auto-vectorize-v2",
    "prevec_max_fused_ops_num": "hfusion-max-fused-elementwise-ops",
    "simt_stack_limit": "simt-stack-limit",
}
#: Switches of the 950 compiler that are passed only when they are on.
_A5_SWITCHES = {
    "disable_tightly_coupled_buffer_reuse": "--disable-tightly-coupled-buffer-reuse",
    "enable_vf_fusion": "--enable-vf-fusion",
    "hfusion_enable_multiple_consumer_fusion": "--hfusion-enable-multiple-consumer-fusion=True",
    "disable_fma": "--disable-fma",
    "enable_simt_reorder_instruction": "--enable-simt-reorder-instruction=true",
}


def _binds_sub_block(text: str, options) -> bool:
    """The user's choice; else off where the module asks for its own division of vector work."""
    chosen = getattr(options, "enable_auto_bind_sub_block", None)
    if chosen is not None:
        return chosen
    if "hivm.disable_auto_tile_and_bind_subblock" in text:
        return False
    return bool(getattr(options, "auto_tile_and_bind_subblock", True))


def _multi_buffers(text: str, options, a5: bool) -> bool:
    """The option, except where the 950 compiler fails: it buffers across the parts of scf.while."""
    return bool(getattr(options, "multibuffer", True)) and not (a5 and "scf.while" in text)


def _a5_flags(options) -> list[str]:
    """What only the 950 compiler takes. Its launch block has no FFTS address."""
    flags = ["--disable-ffts"]
    for name, flag in _A5.items():
        value = getattr(options, name, None)
        if value is not None:
            flags.append(f"--{flag}={value}")
    flags += [flag for name, flag in _A5_SWITCHES.items() if getattr(options, name, False)]
    if getattr(options, "mix_mode", "") == "aic":
        flags.append("--disable-hfusion-vectorize=true")
    if getattr(options, "enable_bishengir_simt_optimization", 0):
        flags.append(
            f"--enable-bishengir-simt-optimization={options.enable_bishengir_simt_optimization}"
        )
    if getattr(options, "shared_mem_dynamic_size", None) is not None:
        flags.append(f"--shared-mem-dynamic-size={options.shared_mem_dynamic_size}")
    if env.flag("ENABLE_PRINT_UB_BITS"):
        flags.append("--enable-print-memory-allocated-size")
    extra = [options.bisheng_options] if getattr(options, "bisheng_options", None) else []
    for name, flag in (
        ("enable_cce_vf_auto_sync", "cce-vf-auto-sync"),
        ("enable_cce_vf_remove_membar", "cce-vf-remove-membar"),
    ):
        value = getattr(options, name, None)
        if value is not None:
            extra.append(f"-mllvm --{flag}={value}")
    return flags + [f"--append-bisheng-options={text}" for text in extra]


def _stage_flags(options, a5: bool) -> list[str]:
    """Which parts of the compiler run: all of it, or its SIMT half on Triton IR."""
    simt = getattr(options, "force_simt_only", False) or (
        getattr(options, "compile_mode", "") == "simt_only"
    )
    if not (simt and a5):
        flags = ["--enable-hfusion-compile=true", "--enable-triton-kernel-compile=true"]
        return flags if a5 else [*flags, "--enable-hivm-compile=true"]
    return [
        "--enable-hivm-compile=false",
        "--enable-triton-ir-compile",
        "--pure-simt",
        f"--num-warps={options.num_warps}",
        f"--threads-per-warp={options.warp_size}",
    ]


#: How LLVM bitcode begins: as it is, or in a wrapper.
_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_SHMEM_CALL = re.compile(
    r'"dist\.(aclshmem\w*)"[^\n]*?(?:loc\((#loc\d*|"[^\n]*?)\))?$', re.MULTILINE
)


def _place(text: str, location: str) -> str:
    """``file:line:column: `` of a location in a module's text, "" where it has none."""
    for _ in range(20):  # names and call sites stand around the place
        match = re.search(r'"([^"]+)":(\d+):(\d+)', location)
        if match:
            return ":".join(match.groups()) + ": "
        alias = re.search(r"#loc\d*", location)
        found = alias and re.search(rf"^{alias.group()} = loc\((.*)\)$", text, re.MULTILINE)
        if not found:
            break
        location = found.group(1)
    return ""


def _shmem_libraries(text: str) -> list[str]:
    """Bitcode of the vendor's device functions, which the compiler's own bitcode does not hold.

    PITON_SHMEM_BITCODE names one file, or several with colons in between. Raises
    MLIRCompilationError at the first call in the module that it is needed for.
    """
    call = _SHMEM_CALL.search(text)
    if call is None:
        return []
    start = f"{_place(text, call.group(2) or '')}error: the kernel calls {call.group(1)} of the "
    start += "vendor's device library, "
    named = os.environ.get("PITON_SHMEM_BITCODE", "")
    files = [name for name in named.split(os.pathsep) if name]
    if not files:
        raise MLIRCompilationError(
            "npubin",
            f"{start}and PITON_SHMEM_BITCODE is not set; let it name that library's bitcode (.bc), "
            "or run the kernel here with PITON_BACKEND=simulator",
        )
    for name in files:
        try:
            with open(name, "rb") as file:
                is_bitcode = file.read(4) in _BITCODE_MAGIC
        except OSError as error:
            raise MLIRCompilationError(
                "npubin",
                f"{start}and PITON_SHMEM_BITCODE names {name}, which cannot be read: "
                f"{error.strerror}",
            ) from None
        if not is_bitcode:
            raise MLIRCompilationError(
                "npubin",
                f"{start}and PITON_SHMEM_BITCODE names {name}, which is not LLVM bitcode",
            )
    return files


def flags(text: str, options, target: str, a5: bool) -> list[str]:
    """Arguments for one compilation, without input and output.

    text: the hand-over module. target: the SoC as the compiler spells it. Raises
    MLIRCompilationError where the device library that the module needs is not there.
    """
    result = [f"--target={target}", *_stage_flags(options, a5)]
    result.append(f"--enable-auto-multi-buffer={_multi_buffers(text, options, a5)}")
    result.append(f"--enable-auto-bind-sub-block={_binds_sub_block(text, options)}")
    for name, flag in _BOTH.items():
        value = getattr(options, name, None)
        if value is not None:
            result.append(f"--{flag}={value}")
    if not a5 and getattr(options, "sync_solver", None) is not None:
        result.append(f"--enable-hivm-cross-core-gss={options.sync_solver}")
    if getattr(options, "enable_nd2nz_on_vector", False):
        result.append("--enable-hivm-nd2nz-on-vector=True")
    if env.flag("TRITON_ALL_BLOCKS_PARALLEL"):
        result.append("--enable-auto-blockify-loop=True")
    if env.flag("TRITON_ENABLE_SANITIZER"):
        result.append("--enable-sanitizer=true")
    if not env.flag("TRITON_DISABLE_LINE_INFO"):
        result.append("--enable-debug-info=true")
    if env.flag("TRITON_MEMORY_DISPLAY"):
        result.append("--enable-memory-display=true")
    for bitcode in sorted(set(_BITCODE.findall(text))):
        result.append(f"--link-aicore-bitcode={bitcode}")
    for library in _shmem_libraries(text):
        result.append(f"--link-aicore-bitcode={library}")
    return result + (_a5_flags(options) if a5 else [])


# -- Diagnostics ---------------------------------------------------------------------------------

_DIAGNOSTIC = re.compile(
    r'^(?:loc\((?:callsite\()?(?:"[^"]*"\()?"(?P<file>[^"]*)":(?P<line>\d+):(?P<col>\d+).*?\)'
    r"|(?P<file2>[^\s:][^:]*):(?P<line2>\d+):(?P<col2>\d+)): error: (?P<text>.*)$"
)
_OVERFLOW = re.compile(r"\b(ub|cbuf|cc) overflow, requires (\d+) bits while (\d+) bits available")
_MEMORY = {"ub": "unified buffer (UB)", "cbuf": "L1 buffer", "cc": "L0C buffer"}
_PIPELINE = "Failed to run BiShengHIR pipeline"


def _explained(text: str) -> str:
    """A message of the compiler, with what to do about it where that is known."""
    match = _OVERFLOW.search(text)
    if not match:
        return text
    memory, required, available = match.groups()
    return (
        f"{text}\n  note: the tiles of this kernel need {int(required) // 8} bytes of the "
        f"{_MEMORY[memory]}, which has {int(available) // 8}; use smaller blocks, "
        "or multibuffer=False, which halves what loads need"
    )


def diagnostics(output: str, code: int | None, tool: str = "bishengir-compile") -> str:
    """What went wrong, as lines ``file:line:column: error: text``.

    output: everything the compiler printed. code: its exit status, None after a timeout.
    """
    found, general = [], []
    for line in output.splitlines():
        match = _DIAGNOSTIC.match(line.strip())
        if match:
            file = match["file"] or match["file2"]
            place = f"{file}:{match['line'] or match['line2']}:{match['col'] or match['col2']}"
            entry = f"{place}: error: {_explained(match['text'])}"
            # It repeats itself at each attempt, and closes with a line that only says "failed".
            if entry not in found:
                (general if _PIPELINE in match["text"] else found).append(entry)
        elif line.startswith("LLVM ERROR:") or "Assertion `" in line:
            found.append(f"error: {tool} ended with: {line.strip()}")
    if found:
        return "\n".join(found)
    if code is None:
        return f"error: {tool} did not finish within {TIMEOUT} s"
    tail = "\n".join(output.split("Stack dump:")[0].strip().splitlines()[-10:])
    crashed = f"crashed (signal {-code})" if code < 0 else f"failed (exit status {code})"
    lines = [*dict.fromkeys(general), f"error: {tool} {crashed} and named no operation"]
    return "\n".join(lines + ([tail] if tail else []))


# -- Compilation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Header:
    """What the launcher needs of a hand-over module, read from its text."""

    name: str
    mix_mode: str
    parallel_mode: str
    tensor_kinds: list[int]


def read_header(text: str) -> Header:
    """Name, core mix and pointer kinds of the kernel in a hand-over module."""
    kernel = re.search(r"func\.func (?:public )?@([\w$.]+)\(.*?global_kernel", text, re.DOTALL)
    if kernel is None:
        raise MLIRCompilationError("npubin", "error: the hand-over module holds no kernel")
    head = kernel.group(0)
    start = head.rindex("func.func")
    name = re.match(r"func\.func (?:public )?@([\w$.]+)", head[start:]).group(1)
    mode = re.search(r'mix_mode = "(\w+)"', text)
    parallel = re.search(r'parallel_mode = "(\w+)"', text)
    kinds = [int(k) for k in re.findall(r"tt\.tensor_kind = (\d+) : i32", head[start:])]
    return Header(
        name, mode.group(1) if mode else "aiv", parallel.group(1) if parallel else "simd", kinds
    )


def _stand_in(folder: Path, name: str) -> None:
    """A last tool that takes anything: the compiler then runs to its end without the vendor's."""
    script = folder / name
    script.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && {{ echo "{_VERSION_LINE}"; exit 0; }}\n'
        'while [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done\nexit 0\n'
    )
    script.chmod(0o755)


def _run(command: list[str], cwd: Path, extra_path: list[str]):
    """(exit status or None after a timeout, everything printed)."""
    environment = dict(os.environ)
    places = [*extra_path, str(Path(command[0]).parent), environment.get("PATH", "")]
    environment["PATH"] = os.pathsep.join(p for p in places if p)
    if extra_path:
        environment.pop("BISHENG_INSTALL_PATH", None)
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as hung:
        output = hung.stdout or ""
        return None, output if isinstance(output, str) else output.decode(errors="replace")
    except OSError as error:
        raise MLIRCompilationError(
            "npubin", f"error: {command[0]} cannot be started: {error.strerror}"
        ) from None
    return done.returncode, done.stdout


def _object_file(folder: Path) -> bytes | None:
    """The device object that the compiler left, under either of its names."""
    for name in ("kernel.o", "kernel_reloc.o", "kernel"):
        path = folder / name
        if path.is_file():
            return path.read_bytes()
    return None


def accept(text: str, options, target: str) -> tuple[Toolchain, bytes | None, str]:
    """Runs the compiler on a hand-over module of MLIR 19 spelling.

    Gives the tool chain, the device object (None where the vendor's last tool is missing) and what
    the compiler printed. Raises MLIRCompilationError with the user's line when it refuses.
    """
    from . import _piton

    tools = find(target)
    spelled, _ = _piton.bisheng_target(target)
    vendor = tools.final_tool
    with tempfile.TemporaryDirectory(prefix="piton-bisheng-") as name:
        folder = Path(name)
        source = folder / "kernel.ttadapter.mlir"
        source.write_text(text)
        path = []
        if vendor is None:
            (folder / "stand-in").mkdir()
            _stand_in(folder / "stand-in", tools.hivmc)
            path = [str(folder / "stand-in")]
        else:
            path = [str(Path(vendor).parent)]
        command = [str(tools.compiler), str(source), *flags(text, options, spelled, tools.a5)]
        command += ["-o", str(folder / "kernel.o")]
        if getattr(options, "debug", False):
            print(f"[DEBUG] cmd_list: {' '.join(command)}")
        code, output = _run(command, folder, path)
        # An unknown --h... flag makes the A2/A3 compiler print its help and succeed.
        made = _object_file(folder)
        if code != 0 or made is None:
            raise MLIRCompilationError("npubin", diagnostics(output, code, tools.compiler.name))
        return tools, made if vendor else None, output


def compile_bisheng(text: str, options, metadata: dict) -> bytes:
    """Compiles a hand-over module (spelled for MLIR 19) to a kernel image of kind Bisheng.

    options: NPUOptions. metadata: filled with what the launcher and tools read; required_ub_bits is
    0 unless ENABLE_PRINT_UB_BITS asked the 950 compiler for it. Raises MLIRCompilationError.
    """
    from . import _piton

    header = read_header(text)
    target = options.arch
    tools, made, output = accept(text, options, target)
    if made is None:
        raise MLIRCompilationError(
            "npubin",
            f"error: {tools.compiler.name} (from {tools.origin}) accepted the kernel, but the last "
            f"step, to machine code, needs the vendor's {tools.hivmc}, which comes with CANN and "
            "was found neither on PATH nor in BISHENG_INSTALL_PATH; "
            "PITON_BACKEND=simulator runs the kernel here",
        )
    metadata["name"] = metadata["kernel_name"] = header.name
    metadata["mix_mode"] = header.mix_mode
    metadata["parallel_mode"] = header.parallel_mode
    metadata["tensor_kinds"] = header.tensor_kinds
    metadata["shared"] = 1
    metadata["workspace_size"] = metadata["lock_num"] = 0
    bits = re.search(r"Allocated UB size = (\d+) bits", output)
    metadata["required_ub_bits"] = int(bits.group(1)) if bits else 0
    metadata["bitcodes"] = sorted(set(_BITCODE.findall(text)))
    return _piton.make_bisheng_image(
        made, header.name, target, header.mix_mode, header.parallel_mode
    )
