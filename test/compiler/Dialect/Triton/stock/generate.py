# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the Triton IR of kernels.py, as stock triton prints it, beside this file.

`<kernel>.ttir` is what the front end traced, `<kernel>.opt.ttir` what the stock CUDA pipeline made
of it. The first two lines of each are the lit command that proves the round trip.
"""

import pathlib
import re
import tempfile

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

import kernels

HERE = pathlib.Path(__file__).resolve().parent
RUN = (
    "// RUN: grep -v '^// RUN' %s > %t.stock\n"
    "// RUN: piton-opt %t.stock --mlir-print-debuginfo --mlir-use-nameloc-as-prefix"
    " | diff %t.stock -\n"
)
F32, F16, I32 = "*fp32", "*fp16", "*i32"
LN = {k: F16 for k in ("x", "y", "w", "b")} | {"mean": F32, "rstd": F32}
MM = {k: "i32" for k in ("m", "n", "k", "sam", "sak", "sbk", "sbn", "scm", "scn")}
# kernel -> (signature, constants)
CASES = {
    "vector_add": ({"x": F32, "y": F32, "out": F32, "n": "i32"}, {"BLOCK": 1024}),
    "softmax": (
        {"out": F32, "x": F32} | {k: "i32" for k in ("x_stride", "out_stride", "rows", "cols")},
        {"BLOCK": 256},
    ),
    "layer_norm_forward": (LN | {"stride": "i32", "n": "i32", "eps": "fp32"}, {"BLOCK": 256}),
    "layer_norm_backward": (
        {k: F16 for k in ("dx", "dy", "dw", "db", "x", "w")}
        | {"mean": F32, "rstd": F32, "lock": I32, "stride": "i32", "n": "i32"},
        {"GROUP": 64, "BLOCK": 256},
    ),
    "matmul": (
        {"a": F16, "b": F16, "c": F16} | MM,
        {"M": 32, "N": 64, "K": 32, "GROUP": 8},
    ),
    "attention": (
        {k: F16 for k in ("q", "k", "v", "out")} | {"scale": "fp32", "length": "i32"},
        {"M": 32, "N": 32, "D": 64},
    ),
    "sort_rows": ({"x": F32, "out": F32}, {"M": 4, "N": 16}),
    "scans": ({"x": F32, "out": F32, "index": I32}, {"M": 8, "N": 16}),
    "descriptors": ({"x": F32, "out": F32, "rows": "i32", "cols": "i32"}, {"M": 8, "N": 32}),
    "host_descriptor": ({"source": "tensordesc<fp16[16, 64]>", "out": F16}, {"M": 16, "N": 64}),
    "block_pointers": (
        {"x": F16, "out": F16, "rows": "i64", "cols": "i64", "stride": "i64"},
        {"M": 16, "N": 32},
    ),
    "atomics": ({"x": F32, "floats": F32, "ints": I32, "longs": "*i64"}, {"N": 16}),
    "shapes": ({"x": F32, "index": I32, "out": F32}, {"M": 8, "N": 16}),
    "histogram": ({"x": I32, "out": I32}, {"N": 128, "BINS": 16}),
    "dot_scaled": (
        {"a": "*fp8e5", "sa": "*u8", "b": "*fp8e4nv", "sb": "*u8", "out": F32},
        {"M": 16, "N": 16, "K": 64},
    ),
    "while_loop": ({"x": I32, "out": I32, "n": "i32"}, {}),
    "early_return": ({"x": I32, "out": I32, "n": "i32"}, {}),
    "noinline_call": ({"x": F32, "out": F32}, {}),
    "debug_ops": ({"x": F32, "n": "i32"}, {"N": 16}),
    "inline_assembly": ({"x": I32, "y": F32, "out": F32}, {"N": 16}),
    "map_elementwise": ({"x": F32, "y": F32, "out": I32}, {"N": 16}),
    "math_ops": ({"x": F32, "i": I32, "out": F32}, {"N": 16}),
    "hints": ({"x": F32, "out": F32, "n": "i32"}, {"N": 64}),
    "bools": ({"x": "*i1", "out": "*i1", "flag": "i1"}, {"N": 16}),
    "tuples": ({"values": (F32, "fp32"), "out": F32}, {}),
}


def save(name, module, context):
    """Stores the text with the folder of the kernels cut off its locations.

    Text does not carry the names of loop arguments, so what is stored is what stock prints
    after reading its own text. The last line is empty, as mlir-opt ends its output with one.
    """
    text = re.sub(r'loc\("[^"]*/', 'loc("', str(module))
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        text = str(ir.parse_mlir_module(file.name, context))
    (HERE / name).write_text(RUN + text.rstrip("\n") + "\n\n")


def main():
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    for name, (signature, constants) in CASES.items():
        kernel = getattr(kernels, name)
        signature = signature | {key: "constexpr" for key in constants}
        attrs = {}
        for i, (_key, kind) in enumerate(signature.items()):
            if isinstance(kind, str) and kind.startswith("*"):
                attrs[(i,)] = [["tt.divisibility", 16]]
        source = ASTSource(fn=kernel, constexprs=constants, signature=signature, attrs=attrs)
        options = backend.parse_options({"debug": name == "debug_ops", "sanitize_overflow": False})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        codegen = backend.get_codegen_implementation(options)
        module = source.make_ir(target, options, codegen, backend.get_module_map(), context)
        save(f"{name}.ttir", module, context)
        metadata = {}
        module = backend.make_ttir(module, metadata, options, target.arch)
        save(f"{name}.opt.ttir", module, context)
    print(f"triton {triton.__version__}: {len(CASES)} kernels")


if __name__ == "__main__":
    main()
