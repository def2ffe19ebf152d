# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symmetric memory between the processing elements of a distributed job.

Conventionally `import shmem as ash`. A thin shell over libpiton_runtime's C API, whose header
`piton/shmem.h` describes every call. Addresses are ints, sizes are bytes. A call that fails raises
RuntimeError with the reason; `aclshmem_init`, `aclshmem_finalize`, `aclshmem_init_using_unique_id`
and the set_* functions return 0 or an error code instead, and the reason is logged and in
`last_error()`.

Besides the names listed here the module has all calls of `shmem._pyshmem`: those by type
(`aclshmem_int32_p`, `aclshmem_float_wait_until_any_vector`, ...), by width (`aclshmem_put32`, ...)
and in stream order. Their forms: docs/reference/shmem.md.
"""

from . import _guard
from ._enums import CmpOp, SignalOp

_pyshmem = _guard.load()  # before anything else does

from ._pyshmem import (  # noqa: E402
    InitAttr,
    InitStatus,
    MemType,
    OpEngineType,
    OptionalAttr,
    TeamConfig,
    UniqueId,
    aclshmem_align,
    aclshmem_calloc,
    aclshmem_finalize,
    aclshmem_free,
    aclshmem_get_unique_id,
    aclshmem_getmem,
    aclshmem_getmem_nbi,
    aclshmem_global_exit,
    aclshmem_init,
    aclshmem_init_using_unique_id,
    aclshmem_malloc,
    aclshmem_ptr,
    aclshmem_putmem,
    aclshmem_putmem_nbi,
    aclshmem_signal_wait_until,
    aclshmem_team_get_config,
    aclshmemx_get_heap_base,
    aclshmemx_init_status,
    aclshmemx_putmem_signal,
    aclshmemx_putmem_signal_nbi,
    aclshmemx_signal_op,
    barrier,
    barrier_all,
    fence,
    get_ffts_config,
    info_get_name,
    info_get_version,
    last_error,
    my_pe,
    pe_count,
    quiet,
    set_conf_store_tls,
    set_conf_store_tls_key,
    set_extern_logger,
    set_log_level,
    sync,
    sync_all,
    team_destroy,
    team_my_pe,
    team_n_pes,
    team_split_2d,
    team_split_strided,
    team_translate_pe,
)
from .tensor import (  # noqa: E402
    aclshmem_create_tensor,
    aclshmem_free_tensor,
    calc_nbytes,
    construct_tensor_from_ptr,
)

#: The spelling that published scripts use.
aclshmem_finialize = aclshmem_finalize
aclshmem_barrier_all = barrier_all
aclshmem_barrier = barrier

#: The calls by type, by width and in stream order, of which there are several hundred.
globals().update({name: call for name, call in vars(_pyshmem).items() if name[:8] == "aclshmem"})

__all__ = [
    "CmpOp",
    "InitAttr",
    "InitStatus",
    "MemType",
    "OpEngineType",
    "OptionalAttr",
    "SignalOp",
    "TeamConfig",
    "UniqueId",
    "aclshmem_align",
    "aclshmem_barrier",
    "aclshmem_barrier_all",
    "aclshmem_calloc",
    "aclshmem_create_tensor",
    "aclshmem_finalize",
    "aclshmem_finialize",
    "aclshmem_free",
    "aclshmem_free_tensor",
    "aclshmem_get_unique_id",
    "aclshmem_getmem",
    "aclshmem_getmem_nbi",
    "aclshmem_global_exit",
    "aclshmem_init",
    "aclshmem_init_using_unique_id",
    "aclshmem_malloc",
    "aclshmem_ptr",
    "aclshmem_putmem",
    "aclshmem_putmem_nbi",
    "aclshmem_signal_wait_until",
    "aclshmem_team_get_config",
    "aclshmemx_get_heap_base",
    "aclshmemx_init_status",
    "aclshmemx_putmem_signal",
    "aclshmemx_putmem_signal_nbi",
    "aclshmemx_signal_op",
    "barrier",
    "barrier_all",
    "calc_nbytes",
    "construct_tensor_from_ptr",
    "fence",
    "get_ffts_config",
    "info_get_name",
    "info_get_version",
    "last_error",
    "my_pe",
    "pe_count",
    "quiet",
    "set_conf_store_tls",
    "set_conf_store_tls_key",
    "set_extern_logger",
    "set_log_level",
    "sync",
    "sync_all",
    "team_destroy",
    "team_my_pe",
    "team_n_pes",
    "team_split_2d",
    "team_split_strided",
    "team_translate_pe",
]
