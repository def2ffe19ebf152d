# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device functions of the symmetric heap on Ascend, by their library symbols.

Types T of data: half, float, bfloat16, int8 to int64, uint8 to uint64. Sizes are in bytes. Signal
words are int32. Comparisons and signal operations are the ACLSHMEM_* constants.
"""

from __future__ import annotations

from triton.language import core

from ...distributed_ops import _integer, extern_call

ACLSHMEM_TEAM_INVALID = core.constexpr(-1)
ACLSHMEM_TEAM_WORLD = core.constexpr(0)
ACLSHMEM_CMP_EQ = core.constexpr(0)
ACLSHMEM_CMP_NE = core.constexpr(1)
ACLSHMEM_CMP_GT = core.constexpr(2)
ACLSHMEM_CMP_GE = core.constexpr(3)
ACLSHMEM_CMP_LT = core.constexpr(4)
ACLSHMEM_CMP_LE = core.constexpr(5)
ACLSHMEM_SIGNAL_SET = core.constexpr(0)
ACLSHMEM_SIGNAL_ADD = core.constexpr(1)

_unwrap = core._unwrap_if_constexpr
_LIBRARY = "libshmem_device"
_I32 = core.int32
_U32 = core.uint32
_NAMES = {
    "fp16": "half",
    "fp32": "float",
    "bf16": "bfloat16",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def _call(symbol, args, result, pure, semantic):
    """args: pairs (value, type it is cast to, or None for a pointer)."""
    values = []
    for position, (value, kind) in enumerate(args, 1):
        if kind is not None:
            value = _integer(value, kind, semantic, f"{symbol}: argument {position}")
        values.append(value)
    types = tuple(value.type for value in values)
    return extern_call(_LIBRARY, "", values, {types: (symbol, result)}, pure, _semantic=semantic)


def _element(pointer, what):
    """Name of the type that a pointer argument points to."""
    kind = getattr(pointer, "type", None)
    if kind is None or not kind.is_ptr() or kind.element_ty.is_block():
        raise ValueError(f"{what} must be a scalar pointer, but is {kind or type(pointer)}")
    name = _NAMES.get(kind.element_ty.name)
    if name is None:
        raise ValueError(
            f"{what} points to {kind.element_ty}; the device library has {', '.join(_NAMES)}"
        )
    return name


def _signal_word(pointer, what):
    if _element(pointer, what) != "int32":
        raise ValueError(f"{what} must point to int32, but is {pointer.type}")
    return pointer


@core.builtin
def my_pe(_semantic=None):
    """Number of this PE."""
    return _call("aclshmem_my_pe", [], _I32, True, _semantic)


@core.builtin
def n_pes(_semantic=None):
    """Number of PEs."""
    return _call("aclshmem_n_pes", [], _I32, True, _semantic)


@core.builtin
def team_my_pe(team, _semantic=None):
    """Number of this PE in a team, -1 if it is not in it."""
    return _call("aclshmem_team_my_pe", [(team, _I32)], _I32, True, _semantic)


@core.builtin
def team_n_pes(team, _semantic=None):
    """Number of PEs of a team, -1 if this PE is not in it."""
    return _call("aclshmem_team_n_pes", [(team, _I32)], _I32, True, _semantic)


@core.builtin
def team_translate_pe(src_team, pe, dst_team, _semantic=None):
    """Number in dst_team of PE `pe` of src_team; -1 if there is none."""
    args = [(src_team, _I32), (pe, _I32), (dst_team, _I32)]
    return _call("aclshmem_team_translate_pe", args, _I32, True, _semantic)


@core.builtin
def int_p(dest, value, pe, qp_id=0, _semantic=None):
    """Stores one int32 on PE `pe`."""
    _signal_word(dest, "int_p: dest")
    args = [(dest, None), (value, _I32), (pe, _I32)]
    return _call("aclshmem_int32_p", args, (), False, _semantic)


@core.builtin
def remote_ptr(local_ptr, pe, _semantic=None):
    """The address of a symmetric object on PE `pe`."""
    _element(local_ptr, "remote_ptr: local_ptr")
    args = [(local_ptr, None), (pe, _I32)]
    return _call("aclshmem_ptr", args, local_ptr.type, False, _semantic)


@core.builtin
def barrier_all(_semantic=None):
    """Meets all cores of all PEs; what was stored before is visible after."""
    return _call("aclshmem_barrier_all", [], (), False, _semantic)


@core.builtin
def barrier_all_vec(_semantic=None):
    """As barrier_all, of the vector cores."""
    return _call("aclshmemx_barrier_all_vec", [], (), False, _semantic)


@core.builtin
def barrier(team, _semantic=None):
    """Meets all cores of the PEs of a team; nothing for ACLSHMEM_TEAM_INVALID."""
    return _call("aclshmem_barrier", [(team, _I32)], (), False, _semantic)


@core.builtin
def barrier_vec(team, _semantic=None):
    """As barrier, of the vector cores."""
    return _call("aclshmemx_barrier_vec", [(team, _I32)], (), False, _semantic)


@core.builtin
def quiet(_semantic=None):
    """Returns once all that this core has put is at its place."""
    return _call("aclshmem_quiet", [], (), False, _semantic)


@core.builtin
def fence(_semantic=None):
    """Orders what this core has put before what it puts next."""
    return _call("aclshmem_fence", [], (), False, _semantic)


@core.builtin
def prof_start(frame, _semantic=None):
    """Starts counting the cycles of a frame, 0 to 1023, of this block; see shmem's get_prof."""
    return _call("aclshmemx_prof_start", [(frame, _I32)], (), False, _semantic)


@core.builtin
def prof_end(frame, _semantic=None):
    """Ends what prof_start started."""
    return _call("aclshmemx_prof_end", [(frame, _I32)], (), False, _semantic)


def _copy(name, dest, source, nbytes, pe, semantic):
    element = _element(dest, f"{name}: dest")
    if _element(source, f"{name}: source") != element:
        raise ValueError(f"{name}: dest is {dest.type} and source {source.type}; make them equal")
    args = [(dest, None), (source, None), (nbytes, _U32), (pe, _I32)]
    return _call(f"aclshmem_{element}_{name}", args, (), False, semantic)


@core.builtin
def putmem(dest, source, nbytes, pe, qp_id=0, _semantic=None):
    """Copies `nbytes` bytes of this PE to `dest` on PE `pe`; they have left on return."""
    return _copy("putmem", dest, source, nbytes, pe, _semantic)


@core.builtin
def putmem_nbi(dest, source, nbytes, pe, qp_id=0, _semantic=None):
    """As putmem, complete after quiet."""
    return _copy("putmem_nbi", dest, source, nbytes, pe, _semantic)


@core.builtin
def getmem(dest, source, nbytes, pe, qp_id=0, _semantic=None):
    """Copies `nbytes` bytes from `source` on PE `pe` to this PE; they are there on return."""
    return _copy("getmem", dest, source, nbytes, pe, _semantic)


@core.builtin
def getmem_nbi(dest, source, nbytes, pe, qp_id=0, _semantic=None):
    """As getmem, complete after quiet."""
    return _copy("getmem_nbi", dest, source, nbytes, pe, _semantic)


def _copy_signal(name, dest, source, nbytes, sig_addr, signal, sig_op, pe, semantic):
    element = _element(dest, f"{name}: dest")
    if _element(source, f"{name}: source") != element:
        raise ValueError(f"{name}: dest is {dest.type} and source {source.type}; make them equal")
    _signal_word(sig_addr, f"{name}: sig_addr")
    args = [(dest, None), (source, None), (nbytes, _U32), (sig_addr, None)]
    args += [(signal, _I32), (sig_op, _I32), (pe, _I32)]
    return _call(f"aclshmem_{element}_{name}", args, (), False, semantic)


@core.builtin
def putmem_signal(dest, source, nbytes, sig_addr, signal, sig_op, pe, _semantic=None):
    """putmem, then signal_op, which the target sees after the data."""
    return _copy_signal(
        "putmem_signal", dest, source, nbytes, sig_addr, signal, sig_op, pe, _semantic
    )


@core.builtin
def putmem_signal_nbi(dest, source, nbytes, sig_addr, signal, sig_op, pe, _semantic=None):
    """As putmem_signal, complete after quiet."""
    return _copy_signal(
        "putmem_signal_nbi", dest, source, nbytes, sig_addr, signal, sig_op, pe, _semantic
    )


@core.builtin
def signal_op(sig_addr, signal, sig_op, pe, _semantic=None):
    """Sets a signal word of PE `pe` (sig_op 0) or adds to it (1)."""
    _signal_word(sig_addr, "signal_op: sig_addr")
    args = [(sig_addr, None), (signal, _I32), (sig_op, _I32), (pe, _I32)]
    return _call("aclshmemx_signal_op", args, (), False, _semantic)


@core.builtin
def signal_wait_until(sig_addr, cmp, value, _semantic=None):
    """Waits until a signal word of this PE compares with `value`; gives what it saw."""
    _signal_word(sig_addr, "signal_wait_until: sig_addr")
    args = [(sig_addr, None), (cmp, _I32), (value, _I32)]
    return _call("aclshmem_signal_wait_until", args, _I32, False, _semantic)
