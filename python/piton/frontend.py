# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that changes the stock `triton` wheel, in one file.

The stock front end calls a builder from `triton._C.libtriton.ir`; for the npu target it
gets Piton's. The few rules that differ on Ascend are patched for that target only: other
targets of the process keep stock's code path. Each patch has a test in
test/python/test_patches.py that fails when the wheel changes under it.
"""

from __future__ import annotations

import functools
import sys
import threading

_local = threading.local()
_lock = threading.Lock()
_installed = False


def select(backend) -> None:
    """Called whenever a back end is made: what this thread traces next is for its target.

    `triton.compiler.compile` makes the back end, then a context, then traces; nothing
    between them makes another back end, so the last one made in a thread names the target.
    """
    _local.npu = backend.target.backend == "npu"


def tracing_npu() -> bool:
    """True when this thread's current or next compilation is for the npu target."""
    selected = getattr(_local, "npu", None)
    if selected is not None:
        return selected
    return npu_is_active()


def npu_is_active() -> bool:
    """True when the active driver is Piton's. Never creates a driver."""
    runtime = sys.modules.get("triton.runtime.driver")
    config = getattr(runtime, "driver", None)
    driver = config and (config._active or config._default)
    if driver is None:
        from .driver import NPUDriver

        return NPUDriver.is_active()
    return type(driver).__name__ == "NPUDriver"


# -- the ir proxy ----------------------------------------------------------------


class _Either(type):
    """Metaclass of a class that stands for the same class of two modules."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.classes)


def _either(name, *classes):
    return _Either(name, (), {"classes": classes})


class IRProxy:
    """Stands for `triton._C.libtriton.ir` in the front end's modules.

    Contexts made for the npu target are Piton's and lead to Piton's builder; every other
    context, and every name that is not listed here, is stock's.
    """

    def __init__(self, stock, ours):
        self._stock = stock
        self._ours = ours
        self.value = _either("value", stock.value, ours.value)
        self.block_argument = _either("block_argument", stock.block_argument, ours.block_argument)

    def __getattr__(self, name):
        return getattr(self._stock, name)

    def _of(self, context):
        return self._ours if isinstance(context, self._ours.context) else self._stock

    def context(self):
        return self._ours.context() if tracing_npu() else self._stock.context()

    def load_dialects(self, context):
        return self._of(context).load_dialects(context)

    def builder(self, context):
        return self._of(context).builder(context)

    def make_attr(self, values, context):
        return self._of(context).make_attr(values, context)

    def parse_mlir_module(self, path, context):
        return self._of(context).parse_mlir_module(str(path), context)


def _patch_ir(stock, ours):
    """`ir` of the tracing modules becomes the proxy."""
    import triton.compiler.code_generator as code_generator
    import triton.compiler.compiler as compiler
    import triton.language.semantic as semantic

    proxy = IRProxy(stock, ours)
    for module in (code_generator, compiler, semantic):
        if module.ir is not stock:
            raise ImportError(f"{module.__name__}.ir is not the stock module")
        module.ir = proxy


def _patch_make_backend():
    """Making a back end of another target ends this thread's tracing for the npu."""
    import triton.compiler as package
    import triton.compiler.compiler as compiler

    stock = compiler.make_backend

    @functools.wraps(stock)
    def make_backend(target):
        backend = stock(target)
        select(backend)
        return backend

    compiler.make_backend = make_backend
    package.make_backend = make_backend


# -- shapes ----------------------------------------------------------------------


def patch_block_shapes():
    """Block shapes need no power of two; the limit of 1,048,576 elements stays.

    Runs while `import triton` does: the language module copies the name when it loads,
    and host-side TensorDescriptor checks shapes before any kernel is compiled.
    """
    import triton._utils as utils

    stock = utils.validate_block_shape
    if getattr(stock, "_piton", False):
        return

    @functools.wraps(stock)
    def validate_block_shape(shape):
        if not tracing_npu():
            return stock(shape)
        numel = 1
        for i, extent in enumerate(shape):
            if not isinstance(extent, int):
                raise TypeError(
                    f"Shape element {i} must have type `constexpr[int]`, got "
                    f"`constexpr[{type(extent)}]"
                )
            if extent < 1:
                raise ValueError(f"Shape element {i} must be positive, got {extent}")
            numel *= extent
        if numel > utils.TRITON_MAX_TENSOR_NUMEL:
            raise ValueError(
                f"numel ({numel}) exceeds triton maximum tensor numel "
                f"({utils.TRITON_MAX_TENSOR_NUMEL})"
            )
        return numel

    validate_block_shape._piton = True
    utils.validate_block_shape = validate_block_shape
    for name in ("triton.language.core", "triton.tools.tensor_descriptor"):
        module = sys.modules.get(name)
        if getattr(module, "validate_block_shape", None) is stock:
            module.validate_block_shape = validate_block_shape


def _patch_arange(semantic_class):
    """`tl.arange` of any length."""
    import triton.language as tl

    stock = semantic_class.arange

    @functools.wraps(stock)
    def arange(self, start, end, *, ret_ty=None):
        if not is_ours(self.builder) or not isinstance(start, int) or not isinstance(end, int):
            return stock(self, start, end, ret_ty=ret_ty)
        length = end - start
        if length <= 0 or length & (length - 1) == 0 or bool(start >> 32) or bool(end >> 32):
            return stock(self, start, end, ret_ty=ret_ty)
        if ret_ty is None:
            ret_ty = tl.block_type(tl.int32, [length])
        handle = self.builder.create_make_range(ret_ty.to_ir(self.builder), start, end)
        return self.tensor(handle, ret_ty)

    semantic_class.arange = arange


def is_ours(builder) -> bool:
    """True for Piton's IR builder."""
    from . import _piton

    return isinstance(builder, _piton.builder)


def install() -> None:
    """Applies all patches, once a process. Called when the first npu back end is made."""
    global _installed
    with _lock:
        if _installed:
            return
        from triton._C.libtriton import ir as stock
        from triton.language.semantic import TritonSemantic

        from . import _piton as ours

        patch_block_shapes()
        _patch_ir(stock, ours)
        _patch_make_backend()
        _patch_arange(TritonSemantic)
        _installed = True
