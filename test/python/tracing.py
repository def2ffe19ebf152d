# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing helpers: one kernel, either builder, the text of its Triton IR."""

from types import SimpleNamespace

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from piton import _piton
from piton.compiler import PitonBackend

TARGET = GPUTarget("npu", "Ascend910B3", 0)


def source(fn, signature, attrs=None):
    """ASTSource from {name: type or constant}; a type is a string, a constant anything else."""
    types, constants = {}, {}
    for name, value in signature.items():
        if isinstance(value, (str, tuple)):
            types[name] = value
        else:
            types[name] = "constexpr"
            constants[name] = value
    return ASTSource(fn=fn, signature=types, constexprs=constants, attrs=attrs or {})


def trace(fn, signature, *, ours=True, attrs=None, **options):
    """The traced module: Piton's builder, or stock's with ours=False."""
    from triton._C.libtriton import ir as stock

    backend = PitonBackend(TARGET)
    parsed = backend.parse_options(options)
    if not ours:
        # Stock's context stays stock's only for options that are not the npu's.
        parsed = SimpleNamespace(**parsed.__dict__)
    ir = _piton if ours else stock
    context = ir.context()
    ir.load_dialects(context)
    return source(fn, signature, attrs).make_ir(
        TARGET, parsed, backend.get_codegen_implementation(parsed), {}, context
    )
