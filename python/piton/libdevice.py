# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `triton.language.extra.libdevice` means on the npu target.

Functions take tensors or scalars of fp32 and fp16 (some also bf16); any other type is the stock
error that lists the types. The symbols are those of the Ascend device library (`device/Math.cpp`);
names that it lacks are not defined here and give the stock AttributeError.
"""

from __future__ import annotations

from triton.language import core

F32, F16, BF16 = core.dtype("fp32"), core.dtype("fp16"), core.dtype("bf16")
I32, I1 = core.dtype("int32"), core.dtype("int1")


def _floats(symbol, arity, bf16=False):
    """Signatures of a function over one float type."""
    table = {(F32,) * arity: (f"__hmf_{symbol}f", F32), (F16,) * arity: (f"__hmf_{symbol}Dh", F16)}
    if bf16:
        table[(BF16,) * arity] = (f"__hmf_{symbol}Db", BF16)
    return table


def _define(name, arity, table):
    """Adds a function of this module under `name`."""

    def call(args, _semantic):
        return core.extern_elementwise("", "", args, table, is_pure=True, _semantic=_semantic)

    if arity == 1:

        def function(arg0, _semantic=None):
            return call([arg0], _semantic)
    else:

        def function(arg0, arg1, _semantic=None):
            return call([arg0, arg1], _semantic)

    function.__name__ = function.__qualname__ = name
    globals()[name] = core.extern(function)


for _name in (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh",
    "cyl_bessel_i0", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "ilogb", "lgamma",
    "log", "log10", "log1p", "log2", "nearbyint", "relu", "rint", "round", "rsqrt", "sin", "sinh",
    "sqrt", "tan", "tanh", "tgamma", "trunc",
):  # fmt: skip
    _define(_name, 1, _floats(_name, 1, bf16=True))
for _name in ("atan2", "copysign", "fmod", "hypot", "pow"):
    _define(_name, 2, _floats(_name, 2, bf16=True))

_define("abs", 1, _floats("fabs", 1, bf16=True))
_define("reciprocal", 1, _floats("recip", 1))
_define("isinf", 1, {(t,): ("__hmf_isinf", I1) for t in (F32, F16, BF16)})
_define("isnan", 1, {(t,): ("__hmf_isnan", I1) for t in (F32, F16, BF16)})
_define("div_rz", 2, {(F32, F32): ("__hmf_div_rz_fp32", F32)})
_define("float_as_int", 1, {(F32,): ("__hmf_float_as_int_fp32", I32)})
_define("signbit", 1, {(F32,): ("__hmf_signbit_fp32", I1), (F16,): ("__hmf_signbit_fp16", I1)})
_define(
    "nextafter", 2,
    {(F32, F32): ("__hmf_nextafter_fp32", F32), (F16, F16): ("__hmf_nextafter_fp16", F16)},
)  # fmt: skip
_define("ldexp", 2, {(F32, I32): ("__hmf_ldexpf", F32), (F16, I32): ("__hmf_ldexpDh", F16)})
