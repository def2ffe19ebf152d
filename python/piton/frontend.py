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

from . import extension

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
    from triton.compiler import code_generator, compiler
    from triton.language import semantic

    proxy = IRProxy(stock, ours)
    for module in (code_generator, compiler, semantic):
        if module.ir is not stock:
            raise ImportError(f"{module.__name__}.ir is not the stock module")
        module.ir = proxy


def _patch_make_backend():
    """Making a back end of another target ends this thread's tracing for the npu."""
    import triton.compiler as package
    from triton.compiler import compiler

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


def _only_for_npu(owner, name, build):
    """Replaces owner.name by build(stock). `build` decides by the builder whom it serves."""
    stock = getattr(owner, name)
    replacement = functools.wraps(stock)(build(stock))
    setattr(owner, name, replacement)
    return stock, replacement


# -- memory ----------------------------------------------------------------------


def _typed_zero(semantic, pointer):
    """Zero of a pointer's element type, or None where the element has none (a pointer)."""
    element = pointer.type.scalar.element_ty
    if element.is_ptr():
        return None
    return semantic.tensor(
        semantic.builder.get_null_value(element.to_ir(semantic.builder)), element
    )


def _patch_load():
    """`tl.load(..., care_padding=True)`: masked-off lanes without `other` are zero.

    Stock leaves them undefined, and so does care_padding=False. A block pointer with a
    boundary check and no padding option pads with zeros.
    """
    import inspect

    import triton.language as tl
    from triton.language import core

    signature = inspect.signature(core.load)

    def build(stock):
        def load(*args, **kwargs):
            semantic = kwargs.get("_semantic")
            if semantic is None or not is_ours(semantic.builder):
                return stock(*args, **kwargs)
            care = core._unwrap_if_constexpr(kwargs.pop("care_padding", True))
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            pointer = given["pointer"]
            is_tensor = isinstance(pointer, core.tensor)
            if care and is_tensor and pointer.type.is_ptr() and pointer.type.element_ty.is_block():
                padding = core._unwrap_if_constexpr(given["padding_option"])
                if given["boundary_check"] and not padding:
                    given["padding_option"] = "zero"
            elif care and is_tensor and pointer.type.scalar.is_ptr():
                mask = core._unwrap_if_constexpr(given["mask"])
                if mask is not None and core._unwrap_if_constexpr(given["other"]) is None:
                    given["other"] = _typed_zero(semantic, pointer)
            return stock(**given)

        return load

    stock, replacement = _only_for_npu(core, "load", build)
    if tl.load is not stock:
        raise ImportError("tl.load is not core.load")
    tl.load = replacement


def _patch_atomics(semantic_class):
    """Atomics on 8 and 16 bit integers and on bf16, float max and min in 16 bits."""
    import triton.language as tl

    def check(stock):
        def atom_red_typechecking_impl(self, ptr, val, mask, op):
            element = getattr(ptr.type.scalar, "element_ty", None)
            lifted = element is not None and element.primitive_bitwidth <= 16
            if not is_ours(self.builder) or not lifted or element.is_bool() or element.is_fp8():
                return stock(self, ptr, val, mask, op)
            if ptr.type.is_const() or ptr.type.scalar.is_const():
                raise ValueError("Cannot store to a constant pointer")
            if element.is_floating() and op not in ("add", "max", "min", "xchg"):
                raise ValueError(f"atomic_{op} does not support {element}")
            if mask is None:
                mask = self.tensor(self.builder.get_int1(True), tl.int1)
            if ptr.type.is_block():
                shape = ptr.type.get_block_shapes()
                mask = self.broadcast_impl_shape(mask, shape)
                val = self.broadcast_impl_shape(val, shape)
            return ptr, self.cast(val, element), mask

        return atom_red_typechecking_impl

    def extremum(name):
        # Floats order like their bits as signed integers when positive, and in reverse
        # as unsigned ones when negative.
        other = {"max": "min", "min": "max"}[name]

        def build(stock):
            def atomic(self, ptr, val, mask, sem, scope):
                element = getattr(ptr.type.scalar, "element_ty", None)
                if not is_ours(self.builder) or element not in (tl.float16, tl.bfloat16):
                    return stock(self, ptr, val, mask, sem, scope)
                ptr, val, mask = self.atom_red_typechecking_impl(ptr, val, mask, name)
                signed_val = self.bitcast(val, tl.int16)
                signed_ptr = self.bitcast(ptr, tl.pointer_type(tl.int16, 1))
                unsigned_val = self.bitcast(val, tl.uint16)
                unsigned_ptr = self.bitcast(ptr, tl.pointer_type(tl.uint16, 1))
                zero = self.full(signed_val.shape, 0, tl.int16) if val.type.is_block() else 0
                zero = self.to_tensor(zero) if isinstance(zero, int) else zero
                positive = self.greater_equal(signed_val, self.cast(zero, tl.int16))
                negative = self.not_(positive) if val.type.is_block() else self.invert(positive)
                up = getattr(self, f"atomic_{name}")(
                    signed_ptr, signed_val, self.and_(mask, positive), sem, scope
                )
                down = getattr(self, f"atomic_{other}")(
                    unsigned_ptr, unsigned_val, self.and_(mask, negative), sem, scope
                )
                down = self.bitcast(down, tl.int16)
                return self.bitcast(self.where(positive, up, down), element)

            return atomic

        return build

    def cas(stock):
        def atomic_cas(self, ptr, cmp, val, sem, scope):
            element = ptr.type.scalar.element_ty
            if not is_ours(self.builder) or element not in (tl.int8, tl.uint8):
                return stock(self, ptr, cmp, val, sem, scope)
            handle = self.builder.create_atomic_cas(
                ptr.handle, cmp.handle, val.handle, self._str_to_sem(sem), self._str_to_scope(scope)
            )
            return self.tensor(handle, val.type)

        return atomic_cas

    _only_for_npu(semantic_class, "atom_red_typechecking_impl", check)
    _only_for_npu(semantic_class, "atomic_max", extremum("max"))
    _only_for_npu(semantic_class, "atomic_min", extremum("min"))
    _only_for_npu(semantic_class, "atomic_cas", cas)


# -- arithmetic ------------------------------------------------------------------

#: Functions of tl.math that stock limits to fp32 and fp64.
_HALF_MATH = (
    "exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf", "floor", "ceil",
)  # fmt: skip


def _patch_math():
    """`tl.exp` and its like on fp16 and bf16, computed in fp32; floor and ceil on ints."""
    import triton.language as tl
    from triton.language import core, math

    def build(name):
        def wrap(stock):
            def function(x, _semantic=None):
                if _semantic is None or not is_ours(_semantic.builder):
                    return stock(x, _semantic=_semantic)
                x = _semantic.to_tensor(x)
                scalar = x.type.scalar
                if name in ("floor", "ceil") and scalar.is_int():
                    return x
                if not (scalar.is_fp16() or scalar.is_bf16()):
                    return stock(x, _semantic=_semantic)
                wide = stock(_semantic.cast(x, tl.float32), _semantic=_semantic)
                return _semantic.cast(wide, scalar)

            return function

        return wrap

    for name in _HALF_MATH:
        stock, replacement = _only_for_npu(math, name, build(name))
        if getattr(tl, name) is not stock:
            raise ImportError(f"tl.{name} is not tl.math.{name}")
        setattr(tl, name, replacement)
        method = core.tensor.__dict__.get(name)
        if method is not None:
            setattr(core.tensor, name, _member(replacement))


def _member(function):
    """A tensor method that calls a builtin: x.exp() is tl.exp(x)."""

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    return method


def _patch_dot(semantic_class):
    """`tl.dot` precisions: hf32 exists, tf32 means it, and it needs two fp32 operands.

    Stock's enumeration has no hf32, so the IR carries tf32. allow_tf32=True is refused,
    max_num_imprecise_acc is ignored with a note, bool operands are taken as int8.
    """
    import triton.language as tl
    from triton._C.libtriton import ir as stock_ir
    from triton.language import core

    def precision(stock):
        def _str_to_dot_input_precision(self, input_precision):
            if is_ours(self.builder) and input_precision.lower() in ("tf32", "hf32"):
                return stock_ir.INPUT_PRECISION.TF32
            return stock(self, input_precision)

        return _str_to_dot_input_precision

    def dot(stock):
        def semantic_dot(self, lhs, rhs, acc, input_precision, max_num_imprecise_acc, out_dtype):
            if not is_ours(self.builder):
                return stock(self, lhs, rhs, acc, input_precision, max_num_imprecise_acc, out_dtype)
            if max_num_imprecise_acc is not None:
                print("max_num_imprecise_acc is ignored by the npu target")
            if lhs.dtype.is_bool() and rhs.dtype.is_bool():
                lhs, rhs = self.cast(lhs, tl.int8), self.cast(rhs, tl.int8)
            half = input_precision is not None and input_precision.lower() in ("tf32", "hf32")
            if half and not (lhs.dtype.is_fp32() and rhs.dtype.is_fp32()):
                input_precision = None
            return stock(self, lhs, rhs, acc, input_precision, None, out_dtype)

        return semantic_dot

    def core_dot(stock):
        def function(*args, **kwargs):
            semantic = kwargs.get("_semantic")
            if semantic is not None and is_ours(semantic.builder):
                assert not core._unwrap_if_constexpr(kwargs.get("allow_tf32")), (
                    "allow_tf32 is not supported as 'True' by the npu target; "
                    "use input_precision='hf32'"
                )
            return stock(*args, **kwargs)

        return function

    _only_for_npu(semantic_class, "_str_to_dot_input_precision", precision)
    _only_for_npu(semantic_class, "dot", dot)
    stock, replacement = _only_for_npu(core, "dot", core_dot)
    if tl.dot is not stock:
        raise ImportError("tl.dot is not core.dot")
    tl.dot = replacement


# -- compilation and launch ------------------------------------------------------


def _patch_contexts():
    """A kernel traced with npu options into a stock context gets one of Piton's instead.

    Tests of Ascend kernels make a context from `triton._C.libtriton.ir` by hand and call
    `ast_to_ttir`.
    """
    from triton.compiler import code_generator

    from . import _piton
    from .options import NPUOptions

    def build(stock):
        def ast_to_ttir(fn, src, context, options, *args, **kwargs):
            if isinstance(options, NPUOptions) and not isinstance(context, _piton.context):
                context = _piton.context()
                _piton.load_dialects(context)
            return stock(fn, src, context, options, *args, **kwargs)

        return ast_to_ttir

    _only_for_npu(code_generator, "ast_to_ttir", build)


def _patch_overrides():
    """TRITON_KERNEL_OVERRIDE and ir_override for the stages that stock does not know."""
    from pathlib import Path

    from triton.compiler import compiler

    def build(stock):
        def parse(full_name, ext, context):
            if ext == "ttadapter":
                return Path(full_name).read_text()
            if ext == "npubin":
                return Path(full_name).read_bytes()
            return stock(full_name, ext, context)

        return parse

    _only_for_npu(compiler, "parse", build)


_launch = threading.local()


def launch_stream():
    """The stream that this thread's current launch names, or None."""
    return getattr(_launch, "stream", None)


def _patch_stream_option():
    """`kernel[grid](..., stream=s)`: stock refuses the keyword before it launches.

    s: an integer handle, or an object with `npu_stream`. Serves launches of the npu
    driver whose kernel has no parameter of that name.
    """
    from triton.runtime.jit import JITFunction

    if getattr(JITFunction.run, "_piton", False):
        return

    def build(stock):
        def run(self, *args, grid, warmup, **kwargs):
            if "stream" not in kwargs or "stream" in self.arg_names or not npu_is_active():
                return stock(self, *args, grid=grid, warmup=warmup, **kwargs)
            stream = kwargs.pop("stream")
            outer = launch_stream()
            _launch.stream = getattr(stream, "npu_stream", stream)
            try:
                return stock(self, *args, grid=grid, warmup=warmup, **kwargs)
            finally:
                _launch.stream = outer

        return run

    _, replacement = _only_for_npu(JITFunction, "run", build)
    replacement._piton = True


def _patch_compilation():
    """A kernel that several processes need is compiled by one of them; see compile_lock.py."""
    from triton.runtime.jit import JITFunction

    from .compile_lock import one_at_a_time

    if getattr(JITFunction._do_compile, "_piton", False):
        return

    def build(stock):
        def _do_compile(self, key, *args, **kwargs):
            if not npu_is_active():
                return stock(self, key, *args, **kwargs)
            with one_at_a_time(f"{self.cache_key} {key}"):
                return stock(self, key, *args, **kwargs)

        return _do_compile

    _, replacement = _only_for_npu(JITFunction, "_do_compile", build)
    replacement._piton = True


class _AfterRuntime:
    """Import finder that patches `triton.runtime.jit` once it has loaded.

    Piton is discovered while that module is still loading, and the first launch may
    already name a stream. `import triton` loads triton.compiler next; that is the moment.
    """

    def find_spec(self, name, path=None, target=None):
        jit = sys.modules.get("triton.runtime.jit")
        if name.startswith("triton.") and hasattr(jit, "JITFunction"):
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _patch_stream_option()
            _patch_compilation()


def install_early() -> None:
    """What must be in place before any kernel is compiled; called at discovery."""
    patch_block_shapes()
    extension.install()
    jit = sys.modules.get("triton.runtime.jit")
    if hasattr(jit, "JITFunction"):
        _patch_stream_option()
        _patch_compilation()
    elif not any(isinstance(finder, _AfterRuntime) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterRuntime())


def _publish_distributed(ours):
    """`triton._C.libtriton.distributed`, where public code looks for the distributed dialect."""
    from triton._C import libtriton

    if hasattr(ours, "distributed") and not hasattr(libtriton, "distributed"):
        libtriton.distributed = ours.distributed


def _publish_errors():
    """`triton.compiler.errors.MLIRCompilationError`, where Ascend scripts look for it."""
    from triton.compiler import errors

    from .errors import MLIRCompilationError

    errors.MLIRCompilationError = MLIRCompilationError


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
        _patch_load()
        _patch_atomics(TritonSemantic)
        _patch_math()
        _patch_dot(TritonSemantic)
        _patch_contexts()
        _patch_overrides()
        _publish_errors()
        _publish_distributed(ours)
        _installed = True
