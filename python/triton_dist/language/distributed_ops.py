# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seven primitives, as builtins that make one op of the `distributed` dialect each.

They are the same on every platform but for the types of signals (notify).
"""

from __future__ import annotations

from triton.language import core

from ..utils import is_ascend

_unwrap = core._unwrap_if_constexpr

# Types of pointers are keys of extern_call's tables; stock defines their equality only.
if core.pointer_type.__hash__ is None:
    core.pointer_type.__hash__ = core.dtype.__hash__


def _builder(semantic, what):
    """The builder of the kernel being traced, which must be Piton's."""
    builder = semantic.builder
    if not hasattr(builder, "create_distributed_wait"):
        ours = hasattr(builder, "create_get_sub_vec_id")
        why = "this one was built with PITON_DISTRIBUTED=OFF" if ours else "compile for npu"
        raise NotImplementedError(f"{what} needs a compiler with the distributed dialect; {why}")
    return builder


def _integer(value, kind, semantic, what):
    """`value` as a scalar of the integer type `kind`. ValueError for other values."""
    value = semantic.to_tensor(_unwrap(value))
    if value.type.is_block() or not value.type.is_int():
        raise ValueError(f"{what} must be a scalar integer, but is {value.type}")
    return semantic.cast(value, kind)


def _check_pointer(ptr, what, name):
    """ptr: must be a pointer to one element."""
    kind = getattr(ptr, "type", None)
    is_scalar = isinstance(ptr, core.tensor) and kind.is_ptr() and not kind.element_ty.is_block()
    assert is_scalar, f"{what}: {name} must be a scalar pointer, but is {kind or type(ptr)}"


@core.builtin
def wait(barrierPtrs, numBarriers, scope: str, semantic: str, waitValue=1, _semantic=None):
    """Waits until signal words of this PE hold a value.

    barrierPtrs: pointer to the first word, of int8 to int64; the words lie 64 bytes apart on
    Ascend. numBarriers: how many. scope: gpu, cta or sys. semantic: relaxed, acquire, release or
    acq_rel. waitValue: what each word must equal once. Returns an int32 token for consume_token.
    The words are not changed.
    """
    builder = _builder(_semantic, "wait")
    kind = getattr(barrierPtrs, "type", None)
    if not isinstance(barrierPtrs, core.tensor) or not kind.scalar.is_ptr():
        raise ValueError(f"wait: barrierPtrs must be a pointer, but is {kind or type(barrierPtrs)}")
    element = kind.scalar.element_ty
    if kind.is_block() or not element.is_int():
        raise ValueError(f"wait: barrierPtrs must be a pointer to an integer, but is {kind}")
    value = _integer(waitValue, element, _semantic, "wait: waitValue")
    handle = builder.create_distributed_wait(
        barrierPtrs.handle,
        _integer(numBarriers, core.int32, _semantic, "wait: numBarriers").handle,
        value.handle,
        _semantic._str_to_scope(_unwrap(scope)),
        _semantic._str_to_sem(_unwrap(semantic)),
        core.int32.to_ir(builder),
    )
    return core.tensor(handle, core.int32)


@core.builtin
def consume_token(value, token, _semantic=None):
    """`value`, unchanged, but not before the wait that gave `token`.

    value: scalar, pointer, tensor or tensor descriptor. token: an integer; a tensor of them has
    the shape of `value`.
    """
    builder = _builder(_semantic, "consume_token")
    if isinstance(_unwrap(token), int):  # where a loop of waits starts
        token = _semantic.to_tensor(_unwrap(token))
    kind = getattr(token, "type", None)
    assert isinstance(token, core.tensor) and kind.scalar.is_int(), (
        f"consume_token: token must be an integer, but is {kind or type(token)}"
    )
    if isinstance(_unwrap(value), (bool, int, float)):
        value = _semantic.to_tensor(_unwrap(value))
    if not isinstance(value, (core.tensor, core.tensor_descriptor)):
        raise ValueError(
            "consume_token: value must be a scalar, pointer, tensor or tensor descriptor, but is "
            f"{getattr(value, 'type', type(value))}; pass the parts of a tuple one by one"
        )
    shape = getattr(value.type, "shape", None)
    if kind.is_block() and (shape is None or list(shape) != list(kind.shape)):
        raise ValueError(
            f"consume_token: a token of {kind} needs a value of its shape, not {value.type}"
        )
    handle = builder.create_distributed_consume_token(value.handle, token.handle)
    if isinstance(value, core.tensor_descriptor):
        return core.tensor_descriptor(handle, value.shape, value.strides, value.block_type)
    return core.tensor(handle, value.type)


@core.builtin
def rank(axis=-1, _semantic=None):
    """Number of this PE, int32. axis: reserved, ignored."""
    builder = _builder(_semantic, "rank")
    axis = _integer(axis, core.int32, _semantic, "rank: axis")
    handle = builder.create_distributed_get_rank(axis.handle)
    return core.tensor(handle, core.int32)


@core.builtin
def num_ranks(axis=-1, _semantic=None):
    """Number of PEs, int32. axis: reserved, ignored."""
    builder = _builder(_semantic, "num_ranks")
    axis = _integer(axis, core.int32, _semantic, "num_ranks: axis")
    handle = builder.create_distributed_get_num_ranks(axis.handle)
    return core.tensor(handle, core.int32)


@core.builtin
def symm_at(ptr, rank, _semantic=None):
    """The address, on PE `rank`, of the symmetric object that `ptr` points to on this PE.

    A rank out of range, or a pointer outside the symmetric heap, ends the kernel with an error.
    """
    builder = _builder(_semantic, "symm_at")
    _check_pointer(ptr, "symm_at", "ptr")
    rank = _integer(rank, core.int32, _semantic, "symm_at: rank")
    handle = builder.create_distributed_symm_at(ptr.handle, rank.handle)
    return core.tensor(handle, ptr.type)


_SIGNAL_OPS = {"set": 1, "add": 2}
_COMM_SCOPES = {"gpu": 1, "intra_node": 2, "inter_node": 3}


def _check_signal_type(element, sig_op):
    """Raises AssertionError for a word that the platform cannot signal."""
    wide = element in (core.int64, core.uint64)
    if not is_ascend():
        assert wide, f"notify: signal words are int64 or uint64 here, not {element}"
        return
    assert wide or element == core.int32, (
        "notify: signal words are int32 (set and add) or int64 and uint64 (set only), "
        f"not {element}"
    )
    assert not wide or sig_op == "set", (
        f"notify: a word of {element} can only be set; use an int32 word for sig_op='{sig_op}'"
    )


@core.builtin
def notify(ptr, rank, signal=1, sig_op="set", comm_scope="inter_node", _semantic=None):
    """Sets a signal word of PE `rank`, or adds to it, after everything stored before.

    ptr: the word's address on this PE. signal: value, or what is added. sig_op: set or add (int32
    words only). comm_scope: gpu, intra_node or inter_node.
    """
    builder = _builder(_semantic, "notify")
    sig_op, comm_scope = _unwrap(sig_op), _unwrap(comm_scope)
    _check_pointer(ptr, "notify", "ptr")
    if sig_op not in _SIGNAL_OPS:
        raise ValueError(f"Signal Op {sig_op} not supported (set, add)")
    if comm_scope not in _COMM_SCOPES:
        raise ValueError(f"Comm Scope {comm_scope} not supported (gpu, intra_node, inter_node)")
    _check_signal_type(ptr.type.element_ty, sig_op)
    builder.create_distributed_notify(
        ptr.handle,
        _integer(signal, core.int64, _semantic, "notify: signal").handle,
        _integer(rank, core.int32, _semantic, "notify: rank").handle,
        _SIGNAL_OPS[sig_op],
        _COMM_SCOPES[comm_scope],
    )
    return core.tensor(None, core.void)


def _described(value):
    return getattr(value, "type", None) or type(value).__name__


def _text(value, what):
    value = _unwrap(value)
    if not isinstance(value, str):
        raise ValueError(f"extern_call: {what} must be a string, but is {_described(value)}")
    return value


def _plain(kind):
    """A type as a key: pointers to constant data are pointers."""
    if kind.is_ptr() and kind.const:
        return core.pointer_type(kind.element_ty, kind.address_space)
    return kind


def _types(kinds, what):
    """A type or a sequence of types as a list. ValueError for anything else."""
    kinds = list(kinds) if isinstance(kinds, (tuple, list, core.tuple)) else [kinds]
    kinds = [_unwrap(kind) for kind in kinds]
    for kind in kinds:
        if not isinstance(kind, core.dtype):
            raise ValueError(f"extern_call: {what} must be types, but one is {kind!r}")
    return kinds


def _table(given):
    """{tuple of argument types: (symbol, list of result types)} from what the caller wrote."""
    if not isinstance(given, dict):
        raise ValueError(
            "extern_call: the table must be a dict {(argument types): (symbol, result type)}, but "
            f"is {_described(given)}"
        )
    table = {}
    for key, value in given.items():
        kinds = tuple(_plain(kind) for kind in _types(key, "the keys of the table"))
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise ValueError(
                f"extern_call: the table must give (symbol, result type), but gives {value!r}"
            )
        table[kinds] = _text(value[0], "a symbol"), _types(value[1], "results in the table")
    return table


@core.builtin
def extern_call(
    lib_name: str,
    lib_path: str,
    args: list,
    arg_type_symbol_dict: dict,
    is_pure: bool,
    _semantic=None,
):
    """Calls a function of a device library by the types of its arguments.

    args: scalars and pointers. arg_type_symbol_dict: {tuple of argument types: (symbol, result)},
    where result is a type, a tuple of types, or () for none. is_pure: it neither reads nor writes
    memory. Returns a tensor, a tuple of tensors, or a void tensor.
    """
    builder = _builder(_semantic, "extern_call")
    lib_name, lib_path = _text(lib_name, "lib_name"), _text(lib_path, "lib_path")
    args = _unwrap(args)
    if not isinstance(args, (tuple, list, core.tuple)):
        raise ValueError(f"extern_call: args must be a list, but is {_described(args)}")
    values = [_semantic.to_tensor(_unwrap(arg)) for arg in args]
    table = _table(_unwrap(arg_type_symbol_dict))
    for value in values:
        if value.type.is_block():
            raise ValueError(f"extern_call: arguments must be scalars, but one is {value.type}")
    if not table:
        raise ValueError("extern_call: the table of signatures is empty")
    lengths = {len(key) for key in table}
    if len(values) not in lengths:
        raise ValueError(
            f"extern_call: {len(values)} arguments, but the function takes "
            f"{' or '.join(str(n) for n in sorted(lengths))}"
        )
    types = tuple(_plain(value.type) for value in values)
    if types not in table:
        accepted = ", ".join("(" + ", ".join(map(str, key)) + ")" for key in table)
        raise ValueError(
            f"extern_call: no function takes ({', '.join(map(str, types))}); accepted: {accepted}"
        )
    symbol, results = table[types]
    if not symbol:
        raise ValueError("extern_call: the symbol is empty")
    handles = builder.create_distributed_extern_call(
        lib_name,
        lib_path,
        symbol,
        [value.handle for value in values],
        [kind.to_ir(builder) for kind in results],
        _unwrap(is_pure),
    )
    if not results:
        return core.tensor(None, core.void)
    tensors = tuple(core.tensor(h, k) for h, k in zip(handles, results, strict=True))
    return tensors[0] if len(tensors) == 1 else tensors
