# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The symmetric heap in the manner of NVSHMEM's Python package: buffers instead of addresses.

`stream` arguments are handles of streams (ints); where None is not allowed the call raises
AclshmemInvalid.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import _pyshmem as _native
from . import direct
from .direct import ComparisonType, SignalOp


class AclshmemError(RuntimeError):
    """The library refused a call; the text has the reason."""


class AclshmemInvalid(ValueError):
    """An argument is missing or makes no sense."""


@dataclass
class Buffer:
    """`length` bytes at address `addr`: symmetric memory of this PE, or a peer's."""

    addr: int
    length: int


def _call(function, *arguments):
    try:
        return function(*arguments)
    except RuntimeError as error:
        raise AclshmemError(str(error)) from None


def _need_stream(stream, call: str) -> int:
    if stream is None:
        raise AclshmemInvalid(f"{call} needs a stream")
    return int(stream)


def get_version() -> str:
    """Version of the library, `libaclshmem_version=1.1`."""
    return "libaclshmem_version={}.{}".format(*_native.info_get_version())


def get_unique_id(empty: bool = False) -> bytes:
    """A unique id (136 bytes) for the PE that becomes PE 0; zeros if `empty`."""
    return bytes(136) if empty else _call(_native.aclshmem_get_unique_id)


def init(
    device=None,
    uid=None,
    rank=None,
    nranks=None,
    mpi_comm=None,
    initializer_method: str = "",
    mem_size=None,
) -> None:
    """Collective: joins the job of `nranks` PEs named by `uid` as `rank`, with a heap of `mem_size`
    bytes. `initializer_method` must be "uid".
    """
    if initializer_method != "uid":
        raise AclshmemInvalid(f'initializer_method is "{initializer_method}", only "uid" exists')
    missing = [
        name
        for name, value in (
            ("uid", uid),
            ("rank", rank),
            ("nranks", nranks),
            ("mem_size", mem_size),
        )
        if value is None
    ]
    if missing:
        raise AclshmemInvalid(f"missing arguments: {', '.join(missing)}")
    if _native.aclshmem_init_using_unique_id(rank, nranks, mem_size, bytes(uid)) != 0:
        raise AclshmemError(_native.last_error())


def finalize() -> None:
    """Collective: leaves the job."""
    if _native.aclshmem_finalize() != 0:
        raise AclshmemError(_native.last_error())


def buffer(size: int, release: bool = False, except_on_del: bool = True) -> Buffer:
    """Collective: `size` bytes of symmetric memory. The other arguments change nothing: memory is
    freed by `free` alone, as freeing is collective.
    """
    return Buffer(_call(_native.aclshmem_malloc, size), size)


def free(buf: Buffer) -> None:
    """Collective: frees a buffer of `buffer`."""
    _call(_native.aclshmem_free, buf.addr)


def get_peer_buffer(buf: Buffer, pe: int) -> Buffer:
    """The same buffer in the heap of `pe`, at the address this process reaches it at."""
    return Buffer(_call(_native.aclshmem_ptr, buf.addr, pe), buf.length)


def _length(dst: Buffer, src: Buffer, call: str) -> int:
    if src.length > dst.length:
        raise AclshmemInvalid(f"{call}: {src.length} bytes do not fit into {dst.length}")
    return src.length


def put(dst: Buffer, src: Buffer, remote_pe: int = -1, stream=None) -> None:
    """Copies `src` to the symmetric `dst` on `remote_pe`; in stream order if a stream is given."""
    arguments = (dst.addr, src.addr, _length(dst, src, "put"), remote_pe)
    if stream is None:
        return _call(_native.aclshmem_putmem, *arguments)
    return _call(_native.aclshmemx_putmem_on_stream, *arguments, int(stream))


def get(dst: Buffer, src: Buffer, remote_pe: int = -1, stream=None) -> None:
    """Copies the symmetric `src` of `remote_pe` to `dst`; in stream order if a stream is given."""
    arguments = (dst.addr, src.addr, _length(dst, src, "get"), remote_pe)
    if stream is None:
        return _call(_native.aclshmem_getmem, *arguments)
    return _call(_native.aclshmemx_getmem_on_stream, *arguments, int(stream))


def put_signal(dst, src, sig: Buffer, val: int, op: int, remote_pe: int = -1, stream=None) -> None:
    """As put, then signals the word `sig` on `remote_pe`; `stream` is ignored."""
    _call(
        _native.aclshmemx_putmem_signal,
        dst.addr,
        src.addr,
        _length(dst, src, "put_signal"),
        sig.addr,
        val,
        int(op),
        remote_pe,
    )


def signal_op(sig: Buffer, val: int, op: int, remote_pe: int = -1, stream=None) -> None:
    """Signals the int32 word `sig` on `remote_pe` in stream order."""
    handle = _need_stream(stream, "signal_op")
    _call(_native.aclshmemx_signal_op_on_stream, sig.addr, val, int(op), remote_pe, handle)


def signal_wait(sig: Buffer, val: int, cmp: int, stream=None) -> None:
    """Makes the stream wait until `sig CMP val`."""
    handle = _need_stream(stream, "signal_wait")
    _call(_native.aclshmemx_signal_wait_until_on_stream, sig.addr, int(cmp), val, handle)


def quiet(stream=None) -> None:
    """In stream order: everything sent before is done."""
    _call(_native.aclshmemx_quiet_on_stream, _need_stream(stream, "quiet"))


my_pe = _native.my_pe
n_pes = _native.pe_count
team_my_pe = _native.team_my_pe
team_n_pes = _native.team_n_pes

__all__ = [
    "AclshmemError",
    "AclshmemInvalid",
    "Buffer",
    "ComparisonType",
    "SignalOp",
    "buffer",
    "direct",
    "finalize",
    "free",
    "get",
    "get_peer_buffer",
    "get_unique_id",
    "get_version",
    "init",
    "my_pe",
    "n_pes",
    "put",
    "put_signal",
    "quiet",
    "signal_op",
    "signal_wait",
    "team_my_pe",
    "team_n_pes",
]
