# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs hand-over kernels for the simulator tests."""

import os
import pathlib
import re
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
MLIR = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
    "float16": "f16", "float32": "f32", "float64": "f64",
}  # fmt: skip


def tool():
    """Path of piton-run-handover: PITON_BUILD_DIR, else the newest build below the root."""
    folders = (
        [pathlib.Path(os.environ["PITON_BUILD_DIR"])] if "PITON_BUILD_DIR" in os.environ else []
    )
    folders += sorted((ROOT / "build").glob("*"))
    found = [f / "test/compiler/Target/piton-run-handover" for f in folders]
    found = [f for f in found if f.exists()]
    if not found:
        raise FileNotFoundError("piton-run-handover is not built: ninja piton-run-handover")
    return found[0] if "PITON_BUILD_DIR" in os.environ else max(found, key=os.path.getmtime)


def to_mlir22(text):
    """Hand-over text of MLIR 19 in the spelling of MLIR 22."""
    text = re.sub(
        r"(bufferization\.to_tensor [^:\n]*) : memref<([^<>,\n]*)>[ \t]*\n",
        r"\1 : memref<\2> to tensor<\2>\n",
        text,
    )
    return re.sub(
        r"bufferization\.to_memref (%\S+) : (memref<(.*)>)\n",
        r"bufferization.to_buffer \1 : tensor<\3> to \2\n",
        text,
    )


class Kernel:
    """Text of one kernel: `args` are (name, type) pairs, pointers as `*f32`."""

    def __init__(self, args, declarations=""):
        self.args, self.lines, self.declarations, self.count = args, [], declarations, 0

    def emit(self, line):
        self.lines.append("    " + line)

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def value(self, operation):
        """Emits `%v = operation`; gives the name."""
        name = self.name()
        self.emit(f"{name} = {operation}")
        return name

    def view(self, arg, shape, element, offset=0):
        strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        dims = "x".join(map(str, shape))
        layout = f"strided<{strides}, offset: {offset}>" if offset else f"strided<{strides}>"
        memref = f"memref<{dims}x{element}, {layout}>"
        view = self.value(
            f"memref.reinterpret_cast %{arg} to offset: [{offset}], sizes: {list(shape)}, "
            f"strides: {strides} : memref<?x{element}> to {memref}"
        )
        return view, memref

    def load(self, arg, shape, element, offset=0):
        view, memref = self.view(arg, shape, element, offset)
        local = f"memref<{'x'.join(map(str, shape))}x{element}>"
        buffer = self.value(f"memref.alloc() : {local}")
        self.emit(f"memref.copy {view}, {buffer} : {memref} to {local}")
        return self.value(
            f"bufferization.to_tensor {buffer} restrict writable : {local} to "
            f"{local.replace('memref', 'tensor')}"
        )

    def store(self, value, arg, shape, element, offset=0):
        view, memref = self.view(arg, shape, element, offset)
        tensor = f"tensor<{'x'.join(map(str, shape))}x{element}>"
        self.emit(
            f"bufferization.materialize_in_destination {value} in writable {view} : "
            f"({tensor}, {memref}) -> ()"
        )

    def text(self):
        args = ["%lock: memref<?xi8>", "%ws: memref<?xi8>"]
        for name, kind in self.args:
            args.append(f"%{name}: " + (f"memref<?x{kind[1:]}>" if kind[0] == "*" else kind))
        args += [f"%{n}: i32" for n in ("npx", "npy", "npz", "px", "py", "pz")]
        body = "\n".join(self.lines)
        return (
            f"module {{\n{self.declarations}\n  func.func @kernel({', '.join(args)})\n"
            "    attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, "
            'global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {\n'
            f"{body}\n    return\n  }}\n}}\n"
        )


def run(text, args, grid=(1, 1, 1), folder=None, check=True):
    """Compiles and runs `text`. Arrays are written back in place; scalars are (type, value)."""
    folder = pathlib.Path(folder)
    source = folder / "kernel.mlir"
    source.write_text(text)
    command = [str(tool()), str(source), "--grid", ",".join(map(str, grid))]
    arrays = []
    for i, arg in enumerate(args):
        if isinstance(arg, np.ndarray):
            path = folder / f"arg{i}.bin"
            arg.tofile(path)
            arrays.append((arg, path))
            command.append(f"buf:{path}")
        elif isinstance(arg, tuple) and isinstance(arg[1], np.ndarray):
            path = folder / f"arg{i}.bin"
            arg[1].tofile(path)
            arrays.append((arg[1], path))
            command.append(f"ptr:{path}")
        else:
            command.append(f"{arg[0]}:{arg[1]}")
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if check and result.returncode:
        raise RuntimeError(result.stderr[-4000:])
    for array, path in arrays:
        array[...] = np.fromfile(path, array.dtype).reshape(array.shape)
    return result
