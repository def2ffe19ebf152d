# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""triton_dist.language: what each primitive makes, and how wrong calls are refused."""

import os
import re
import runpy
import subprocess
import sys
import types

os.environ.setdefault("TRITON_DIST_PLATFORM", "ascend")

import pytest  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import triton_dist.language as dl  # noqa: E402
from tracing import trace  # noqa: E402
from triton_dist import utils  # noqa: E402
from triton_dist.language.extra import libshmem_device  # noqa: E402
from triton_dist.language.extra.ascend import algorithm, libaclshmem_device  # noqa: E402


def lines(fn, signature, needle):
    """Lines of the traced module that contain `needle`."""
    return [line.strip() for line in str(trace(fn, signature)).splitlines() if needle in line]


def refused(kind, fn, signature):
    """Text of the error that tracing raises; the error behind it is of the class `kind`."""
    with pytest.raises(triton.CompilationError) as caught:
        trace(fn, signature)
    cause = caught.value.__cause__ or caught.value.__context__ or caught.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert type(cause) is kind, cause
    return f"{caught.value} {cause}"


# -- the primitives ----------------------------------------------------------------


@triton.jit
def _wait(sig, data, out, n):
    token = dl.wait(sig, n, "gpu", "acquire")
    value = tl.load(dl.consume_token(data, token))
    tl.store(out, value)


@pytest.mark.parametrize("word,value", [("i32", "i32"), ("i64", "i64"), ("i8", "i8")])
def test_wait_takes_a_value_of_the_words_type(word, value):
    (line,) = lines(
        _wait, {"sig": "*" + word, "data": "*fp32", "out": "*fp32", "n": "i32"}, "distributed.wait"
    )
    assert f"scope = gpu semantic = acquire : !tt.ptr<{word}>, i32, {value} -> i32" in line


def test_unsigned_words_are_waited_for():
    (line,) = lines(
        _wait, {"sig": "*u64", "data": "*fp32", "out": "*fp32", "n": "i32"}, "distributed.wait"
    )
    assert "!tt.ptr<i64>, i32, i64 -> i32" in line


@pytest.mark.parametrize("scope", ["gpu", "cta", "sys"])
@pytest.mark.parametrize("semantic", ["relaxed", "acquire", "release", "acq_rel"])
def test_wait_scope_and_semantic(scope, semantic):
    @triton.jit
    def kernel(sig, S: tl.constexpr, M: tl.constexpr):
        dl.wait(sig, 4, S, M, waitValue=7)

    text = str(
        trace(kernel, {"sig": "*i32", "S": tl.constexpr(scope), "M": tl.constexpr(semantic)})
    )
    assert f"scope = {scope} semantic = {semantic}" in text
    assert "7" in text


@pytest.mark.parametrize("count", ["i1", "i8", "i32", "i64"])
def test_counts_of_any_integer_type(count):
    (line,) = lines(
        _wait, {"sig": "*i32", "data": "*fp32", "out": "*fp32", "n": count}, "distributed.wait"
    )
    assert ": !tt.ptr<i32>, i32, i32 -> i32" in line


@pytest.mark.parametrize(
    "call, told",
    [
        ("dl.wait(3, 1, 'gpu', 'acquire')", "barrierPtrs must be a pointer, but is constexpr"),
        ("dl.wait(s, 1.5, 'gpu', 'acquire')", "numBarriers must be a scalar integer, but is fp32"),
        ("dl.wait(s, s, 'gpu', 'acquire')", "numBarriers must be a scalar integer, but is pointer"),
        ("dl.wait(s, 1, 'gpu', 'acquire', 1.5)", "waitValue must be a scalar integer"),
        ("dl.wait(s, 1, 'gpu', 'acquire', tl.arange(0, 4))", "waitValue must be a scalar integer"),
        ("dl.symm_at(s, 0.5)", "symm_at: rank must be a scalar integer, but is fp32"),
        ("dl.symm_at(s, tl.arange(0, 4))", "symm_at: rank must be a scalar integer, but is <['4']"),
        ("dl.notify(s, 0.5)", "notify: rank must be a scalar integer, but is fp32"),
        ("dl.notify(s, 0, 1.5)", "notify: signal must be a scalar integer, but is fp32"),
        ("dl.notify(s, 0, tl.arange(0, 4))", "notify: signal must be a scalar integer"),
        ("dl.rank(0.5)", "rank: axis must be a scalar integer"),
        ("lib.putmem(s, s, 4.5, 0)", "putmem: argument 3 must be a scalar integer, but is fp32"),
        ("lib.signal_op(s, tl.arange(0, 4), 0, 0)", "argument 2 must be a scalar integer"),
        ("lib.int_p(s, 1.0, 0)", "int32_p: argument 2 must be a scalar integer"),
        ("lib.barrier(0.0)", "aclshmem_barrier: argument 1 must be a scalar integer"),
    ],
)
def test_numbers_must_be_integers(tmp_path, call, told):
    source = tmp_path / "kernel.py"
    source.write_text(
        "import triton, triton.language as tl\nimport triton_dist.language as dl\n"
        "from triton_dist.language.extra import libshmem_device as lib\n\n"
        f"@triton.jit\ndef kernel(s):\n    {call}\n"
    )
    kernel = runpy.run_path(str(source))["kernel"]
    assert told in refused(ValueError, kernel, {"s": "*i32"})


def test_wait_refuses():
    @triton.jit
    def no_pointer(x):
        dl.wait(x, 1, "gpu", "acquire")

    @triton.jit
    def floats(sig):
        dl.wait(sig, 1, "gpu", "acquire")

    @triton.jit
    def scope(sig):
        dl.wait(sig, 1, "node", "acquire")

    @triton.jit
    def semantic(sig):
        dl.wait(sig, 1, "gpu", "consume")

    assert "wait: barrierPtrs must be a pointer, but is int32" in refused(
        ValueError, no_pointer, {"x": "i32"}
    )
    assert "pointer to an integer" in refused(ValueError, floats, {"sig": "*fp32"})
    assert "node not supported" in refused(ValueError, scope, {"sig": "*i32"})
    assert "consume not supported" in refused(ValueError, semantic, {"sig": "*i32"})


def test_consume_token_keeps_every_type():
    @triton.jit
    def kernel(sig, p, x, out, N: tl.constexpr):
        token = dl.wait(sig, 1, "gpu", "acquire")
        pointers = p + tl.arange(0, N)
        values = tl.load(dl.consume_token(pointers, token))
        desc = tl.make_tensor_descriptor(p, [N, N], [N, 1], [16, 16])
        tile = dl.consume_token(desc, token).load([0, 0])
        block = tl.make_block_ptr(p, (N,), (1,), (0,), (N,), (0,))
        more = tl.load(dl.consume_token(block, token))
        total = dl.consume_token(values, token) + more + dl.consume_token(x, token) + tl.sum(tile)
        tl.store(out + tl.arange(0, N), total)

    signature = {"sig": "*i32", "p": "*fp32", "x": "fp32", "out": "*fp32", "N": 32}
    found = lines(kernel, signature, "distributed.consume_token")
    types_seen = [line.rsplit("-> ", 1)[1].split(" loc")[0] for line in found]
    assert types_seen == [
        "tensor<32x!tt.ptr<f32>>",
        "!tt.tensordesc<tensor<16x16xf32>>",
        "!tt.ptr<tensor<32xf32>>",
        "tensor<32xf32>",
        "f32",
    ]


def test_consume_token_wants_an_integer_token():
    @triton.jit
    def kernel(p, x):
        tl.store(dl.consume_token(p, x), x)

    assert "token must be an integer" in refused(
        AssertionError, kernel, {"p": "*fp32", "x": "fp32"}
    )


def test_consume_token_takes_a_number_as_token():
    """As the first token of a loop that adds up those of its waits."""

    @triton.jit
    def kernel(p, sig, n):
        token = 0
        early = tl.load(dl.consume_token(p, token))
        for i in range(n):
            token += dl.wait(sig + 16 * i, 1, "gpu", "acquire")
        tl.store(dl.consume_token(p, token), early)

    found = lines(kernel, {"p": "*fp32", "sig": "*i32", "n": "i32"}, "distributed.consume_token")
    assert len(found) == 2 and all(", i32 -> !tt.ptr<f32>" in line for line in found)


def test_consume_token_refuses_other_values():
    @triton.jit
    def pair(p, token):
        dl.consume_token((p, p), token)

    @triton.jit
    def nothing(p, token):
        dl.consume_token(None, token)

    @triton.jit
    def many_tokens(p, token):
        dl.consume_token(p, token + tl.arange(0, 8))

    @triton.jit
    def other_shape(p, token):
        dl.consume_token(p + tl.arange(0, 4), token + tl.arange(0, 8))

    @triton.jit
    def fraction(p, token):
        dl.consume_token(p, 0.5)

    signature = {"p": "*fp32", "token": "i32"}
    for kernel in (pair, nothing):
        assert "value must be a scalar, pointer, tensor" in refused(ValueError, kernel, signature)
    for kernel in (many_tokens, other_shape):
        assert "needs a value of its shape" in refused(ValueError, kernel, signature)
    assert "token must be an integer" in refused(AssertionError, fraction, signature)


def test_ranks_and_addresses():
    @triton.jit
    def kernel(p, out):
        me, n = dl.rank(), dl.num_ranks(0)
        remote = dl.symm_at(p, (me + 1) % n)
        tl.store(out, tl.load(remote + 3))

    text = str(trace(kernel, {"p": "*bf16", "out": "*bf16"}))
    assert re.search(r"distributed.get_rank %\S+ : i32", text)
    assert re.search(r"distributed.get_num_ranks %\S+ : i32", text)
    assert re.search(r"distributed.symm_at %p, %\S+, : !tt.ptr<bf16>", text)


def test_symm_at_wants_a_scalar_pointer():
    @triton.jit
    def kernel(p, N: tl.constexpr):
        tl.load(dl.symm_at(p + tl.arange(0, N), 1))

    assert "symm_at: ptr must be a scalar pointer" in refused(
        AssertionError, kernel, {"p": "*fp32", "N": 16}
    )


@triton.jit
def _notify(sig, OP: tl.constexpr, SCOPE: tl.constexpr):
    dl.notify(sig, 1, signal=5, sig_op=OP, comm_scope=SCOPE)


@pytest.mark.parametrize(
    "word,op", [("i32", "set"), ("i32", "add"), ("i64", "set"), ("u64", "set")]
)
@pytest.mark.parametrize("scope", ["gpu", "intra_node", "inter_node"])
def test_notify(word, op, scope):
    signature = {"sig": "*" + word, "OP": tl.constexpr(op), "SCOPE": tl.constexpr(scope)}
    (line,) = lines(_notify, signature, "distributed.notify")
    assert f"sigOp = {dict(set=1, add=2)[op]}" in line
    assert f"commScope = {dict(gpu=1, intra_node=2, inter_node=3)[scope]}" in line
    assert "i64, i32) -> ()" in line


@pytest.mark.parametrize(
    "kind,word,op,scope,text",
    [
        (AssertionError, "i64", "add", "gpu", "a word of int64 can only be set"),
        (AssertionError, "u64", "add", "gpu", "a word of uint64 can only be set"),
        (AssertionError, "i16", "set", "gpu", "signal words are int32 .* not int16"),
        (AssertionError, "fp32", "set", "gpu", "signal words are int32 .* not fp32"),
        (ValueError, "i32", "max", "gpu", "Signal Op max not supported"),
        (ValueError, "i32", "set", "galaxy", "Comm Scope galaxy not supported"),
    ],
)
def test_notify_refuses(kind, word, op, scope, text):
    signature = {"sig": "*" + word, "OP": tl.constexpr(op), "SCOPE": tl.constexpr(scope)}
    assert re.search(text, refused(kind, _notify, signature))


def test_notify_elsewhere_takes_64_bit_words_only(monkeypatch):
    monkeypatch.setenv("TRITON_DIST_PLATFORM", "cuda")
    assert "int64 or uint64 here, not int32" in refused(
        AssertionError,
        _notify,
        {"sig": "*i32", "OP": tl.constexpr("set"), "SCOPE": tl.constexpr("gpu")},
    )
    assert lines(
        _notify, {"sig": "*i64", "OP": tl.constexpr("add"), "SCOPE": tl.constexpr("gpu")}, "notify"
    )


# -- extern_call and the device library ------------------------------------------------


def _extern_kernel(table, *, block=False, args=("p", "x")):
    @tl.core.builtin
    def call(p, x, _semantic=None):
        values = {"p": p, "x": x}
        given = [values[name] for name in args]
        if block:
            given[1] = _semantic.splat(x, [16])
        return dl.extern_call("lib", "", given, table, False, _semantic=_semantic)

    @triton.jit
    def kernel(p, x, out):
        tl.store(out, call(p, x))

    return kernel


F32P = tl.pointer_type(tl.float32)


@pytest.mark.parametrize(
    "table,options,text",
    [
        ({(F32P, tl.int32): ("f", tl.float32)}, {"block": True}, "must be scalars"),
        ({}, {}, "table of signatures is empty"),
        ({(F32P,): ("f", tl.float32)}, {}, "2 arguments, but the function takes 1"),
        ({(F32P, tl.int64): ("f", tl.float32)}, {}, r"accepted: \(pointer<fp32>, int64\)"),
        ({(F32P, tl.int32): ("", tl.float32)}, {}, "the symbol is empty"),
        (3, {}, r"the table must be a dict .*, but is int"),
        ({(F32P, tl.int32): 5}, {}, r"must give \(symbol, result type\), but gives 5"),
        ({(F32P, tl.int32): ("f", tl.float32, 1)}, {}, r"must give \(symbol, result type\)"),
        ({(F32P, 3): ("f", tl.float32)}, {}, "the keys of the table must be types, but one is 3"),
        ({(F32P, tl.int32): ("f", None)}, {}, "results in the table must be types"),
        ({(F32P, tl.int32): (7, tl.float32)}, {}, "a symbol must be a string, but is int"),
    ],
)
def test_extern_call_refuses(table, options, text):
    signature = {"p": "*fp32", "x": "i32", "out": "*fp32"}
    assert re.search(text, refused(ValueError, _extern_kernel(table, **options), signature))


def test_extern_call_result():
    table = {(F32P, tl.int32): ("my_symbol", tl.float32)}
    found = lines(
        _extern_kernel(table), {"p": "*fp32", "x": "i32", "out": "*fp32"}, "distributed.extern_call"
    )
    assert 'symbol = "my_symbol"' in found[0] and "(!tt.ptr<f32>, i32) -> f32" in found[0]


def test_library_functions_by_symbol():
    @triton.jit
    def kernel(h, h2, sig, out):
        me, n = libshmem_device.my_pe(), libshmem_device.n_pes()
        libshmem_device.barrier_all()
        libshmem_device.barrier_all_vec()
        libshmem_device.barrier(0)
        libshmem_device.barrier_vec(0)
        libshmem_device.fence()
        libshmem_device.quiet()
        libshmem_device.putmem(h, h2, 64, 1)
        libshmem_device.putmem_nbi(h, h2, n, 1)
        libshmem_device.getmem(h, h2, 64, me)
        libshmem_device.getmem_nbi(h, h2, 64, 1)
        libshmem_device.putmem_signal(h, h2, 64, sig, 1, libshmem_device.ACLSHMEM_SIGNAL_ADD, 1)
        libshmem_device.putmem_signal_nbi(h, h2, 64, sig, 1, 0, 1)
        libshmem_device.signal_op(sig, 1, 0, 1)
        seen = libshmem_device.signal_wait_until(sig, libshmem_device.ACLSHMEM_CMP_GE, 1)
        libshmem_device.int_p(sig, 4, 1)
        team = libshmem_device.team_my_pe(0) + libshmem_device.team_n_pes(0)
        team += libshmem_device.team_translate_pe(0, 1, 0)
        value = tl.load(libshmem_device.remote_ptr(h, 1))
        tl.store(out, value + seen + team)

    signature = {"h": "*fp16", "h2": "*fp16", "sig": "*i32", "out": "*fp32"}
    found = lines(kernel, signature, "distributed.extern_call")
    symbols = [re.search(r'symbol = "(\w+)"', line)[1] for line in found]
    assert symbols == [
        "aclshmem_my_pe", "aclshmem_n_pes", "aclshmem_barrier_all", "aclshmemx_barrier_all_vec",
        "aclshmem_barrier", "aclshmemx_barrier_vec", "aclshmem_fence", "aclshmem_quiet",
        "aclshmem_half_putmem", "aclshmem_half_putmem_nbi", "aclshmem_half_getmem",
        "aclshmem_half_getmem_nbi", "aclshmem_half_putmem_signal",
        "aclshmem_half_putmem_signal_nbi",
        "aclshmemx_signal_op", "aclshmem_signal_wait_until", "aclshmem_int32_p",
        "aclshmem_team_my_pe", "aclshmem_team_n_pes", "aclshmem_team_translate_pe", "aclshmem_ptr",
    ]  # fmt: skip
    pure = {s for s, line in zip(symbols, found, strict=True) if "pure = true" in line}
    assert pure == {
        "aclshmem_my_pe", "aclshmem_n_pes", "aclshmem_team_my_pe", "aclshmem_team_n_pes",
        "aclshmem_team_translate_pe",
    }  # fmt: skip
    assert all('libname = "libshmem_device", libpath = ""' in line for line in found)


def test_library_refuses():
    @triton.jit
    def word(h, sig):
        libshmem_device.signal_op(sig, 1, 0, 1)

    @triton.jit
    def types_differ(h, sig):
        libshmem_device.putmem(h, sig, 1, 0)

    @triton.jit
    def lacking(h, sig):
        libshmem_device.broadcast(h, sig)

    assert "sig_addr must point to int32" in refused(
        ValueError, word, {"h": "*fp16", "sig": "*i64"}
    )
    assert "make them equal" in refused(ValueError, types_differ, {"h": "*fp16", "sig": "*i64"})
    assert "has no broadcast" in refused(AttributeError, lacking, {"h": "*fp16", "sig": "*i64"})


@pytest.mark.parametrize(
    "name",
    [
        "tid", "atomic_cas", "atomic_add", "__syncthreads", "ld", "st", "ld_vector", "st_vector",
        "pack", "unpack", "num_threads", "num_warps",
    ],
)  # fmt: skip
def test_language_extra_has_nothing_on_ascend(name):
    from triton_dist.language.extra import language_extra

    function = getattr(language_extra, name)

    @triton.jit
    def kernel(p):
        function(p)

    assert f"has no {name}" in refused(AttributeError, kernel, {"p": "*i32"})


def test_there_are_no_warps_on_ascend():
    from triton_dist.language.extra import language_extra

    @triton.jit
    def kernel(p):
        tl.store(p, language_extra.threads_per_warp())

    assert "threads_per_warp" in refused(NotImplementedError, kernel, {"p": "*i32"})


def test_what_only_gpus_have_is_named():
    for name in ("simt_exec_region", "extract", "make_vector", "ld_vector", "tma"):
        with pytest.raises(AttributeError, match=f"dl.{name} is for GPUs"):
            getattr(dl, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        dl.nothing  # noqa: B018


# -- platforms -----------------------------------------------------------------------


def test_platform_by_tool_or_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("TRITON_DIST_PLATFORM")
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = {"npu-smi": utils.is_ascend, "nvidia-smi": utils.is_cuda, "rocm-smi": utils.is_hip,
              "mx-smi": utils.is_maca}  # fmt: skip
    assert not any(check() for check in checks.values())
    for tool, check in checks.items():
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
        assert check()
    assert utils.is_cuda() and utils.is_ascend()
    monkeypatch.setenv("TRITON_DIST_PLATFORM", "ascend")
    assert utils.is_ascend() and not (utils.is_cuda() or utils.is_hip() or utils.is_maca())
    monkeypatch.setenv("TRITON_DIST_PLATFORM", "tpu")
    with pytest.raises(ValueError, match="TRITON_DIST_PLATFORM=tpu is none of"):
        utils.is_ascend()


def test_proxy_has_one_active_module():
    one, two = types.ModuleType("one"), types.ModuleType("two")
    yes, no = (lambda: True), (lambda: False)
    for candidates in ([], [(no, one)], [(yes, one), (yes, two)]):
        with pytest.raises(AssertionError, match="exactly one active module is required"):
            utils.ModuleProxy(candidates)
    proxy = utils.ModuleProxy([(no, one), (yes, two)])
    two.x = 3
    assert proxy.x == 3
    proxy.y = 4
    assert two.y == 4 and not hasattr(one, "y")
    del proxy.x
    assert not hasattr(two, "x")
    with pytest.raises(AttributeError):
        proxy.x  # noqa: B018


def test_dispatch_looks_up_at_the_call():
    module = types.ModuleType("late")
    proxy = utils.ModuleProxy([(lambda: True, module)])

    def size(x): ...

    late = proxy.dispatch(size)
    with pytest.raises(AttributeError, match="late has no size"):
        late(1, _semantic=object())
    module.size = lambda x: x + 1
    assert late(1, _semantic=object()) == 2
    module.size = lambda x, _semantic=None: (x, _semantic)
    assert late(1, _semantic="s") == (1, "s")


def test_importing_utils_pulls_in_no_vendor_package():
    code = (
        "import sys, triton_dist.utils; "
        "print([m for m in sys.modules if m.split('.')[0] in "
        "('torch', 'torch_npu', 'shmem', 'nvshmem', 'piton_torch')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_extern_libraries_are_none():
    from triton_dist.jit import get_shmem_extern_lib

    assert get_shmem_extern_lib() == {}


# -- sub-vectors ---------------------------------------------------------------------


def test_sub_vectors():
    import triton.language.extra.cann.extension as al

    @triton.jit
    def kernel(out):
        tl.store(out + al.sub_vec_id(), al.sub_vec_num())

    text = str(trace(kernel, {"out": "*i32"}))
    assert "hivm.hir.get_sub_block_idx -> i64" in text
    assert "hivm.disable_auto_tile_and_bind_subblock" in text
    with pytest.raises(NotImplementedError, match="extension.parallel is not built yet"):
        al.parallel  # noqa: B018


# -- tile orders ---------------------------------------------------------------------


def run_order(name, *args):
    """The helper as plain Python: its source, with tl's functions."""
    import inspect

    class tl_plain:
        cdiv = staticmethod(lambda a, b: -(-a // b))
        minimum = staticmethod(min)
        where = staticmethod(lambda c, a, b: a if c else b)

    source = inspect.getsource(getattr(algorithm, name).fn)
    source = source[source.index("def ") :].replace(": tl.constexpr", "")
    scope = {"tl": tl_plain}
    exec(source, scope)
    return scope[name](*args)


@pytest.mark.parametrize("ranks,split", [(1, 1), (2, 1), (2, 2), (4, 2), (8, 4), (3, 1), (3, 2)])
def test_dist_swizzle_covers_the_product_once(ranks, split):
    rows, cols, tr, tc = 50, 30, 20, 16
    tiles = 3 * 2
    seen = set()
    for i in range(tiles * ranks):
        row, col, rank, height, width = run_order(
            "dist_swizzle2d_Nz", i, ranks, rows, cols, tr, tc, split
        )
        seen.add((row, col, rank))
        assert height == min(20, 50 - 20 * row) and width == min(16, 30 - 16 * col)
    assert seen == {(r, c, k) for r in range(3) for c in range(2) for k in range(ranks)}


def test_gemm_swizzle_covers_the_product_once():
    rows, cols = 100, 260
    row_tiles, col_tiles = 4, 17
    order = [
        run_order("gemm_swizzle2d_Nz", i, rows, cols, 32, 16) for i in range(row_tiles * col_tiles)
    ]
    assert sorted(order) == [(r, c) for r in range(row_tiles) for c in range(col_tiles)]
    assert order[0] == (0, 0) and order[7 * row_tiles] == (row_tiles - 1, 7)


def test_library_module_constants():
    assert libaclshmem_device.ACLSHMEM_TEAM_WORLD.value == 0
    assert libshmem_device.ACLSHMEM_CMP_LE.value == 5
    assert libshmem_device.NVSHMEM_SIGNAL_ADD.value == 10


# -- a compiler without the distributed part ---------------------------------------------


def test_stages_skip_the_pass_where_it_is_not_built(tmp_path):
    code = """
import sys
import piton._piton as native
del native.distributed
sys.modules["piton._piton.distributed"] = None
from piton import stages
assert stages.distributed is None
import torch, triton, triton.language as tl
from triton.backends.compiler import GPUTarget

@triton.jit
def kernel(x):
    tl.store(x, tl.load(x) + 1)

source = triton.compiler.ASTSource(kernel, {"x": "*fp32"}, {})
compiled = triton.compile(source, target=GPUTarget("npu", "Ascend910B3", 0))
assert "func.func @kernel" in compiled.asm["ttadapter"]
print("compiled")
"""
    path = tmp_path / "without.py"
    path.write_text(code)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert "compiled" in done.stdout, done.stderr


def test_native_module_under_the_public_name():
    trace(_notify, {"sig": "*i32", "OP": tl.constexpr("set"), "SCOPE": tl.constexpr("gpu")})
    from triton._C.libtriton import distributed

    assert distributed.ir.SIGNAL_OP.ADD == 2 and distributed.ir.COMM_SCOPE.INTER_NODE == 3
    names = dir(distributed.ir.DistributedOpBuilder)
    ops = ("wait", "consume_token", "get_rank", "get_num_ranks", "symm_at", "notify", "extern_call")
    for op in ops:
        assert f"create_{op}" in names and f"create_distributed_{op}" in names
    assert callable(distributed.ascend_passes.add_convert_triton_distributed_to_hivm)


def test_builder_has_both_spellings():
    """The same ops, whichever name public code calls."""
    trace(_notify, {"sig": "*i32", "OP": tl.constexpr("set"), "SCOPE": tl.constexpr("gpu")})
    from triton._C.libtriton import distributed
    from triton._C.libtriton import ir as stock

    from piton import _piton as ir

    texts = []
    for prefix in ("create_", "create_distributed_"):
        context = ir.context()
        distributed.ir.load_dialects(context)
        b = distributed.ir.DistributedOpBuilder(context)
        module = b.create_module()
        pointer, i32, i64 = b.get_ptr_ty(b.get_int32_ty(), 1), b.get_int32_ty(), b.get_int64_ty()
        kind = b.get_function_ty([pointer, i32, i64], [])
        function = b.get_or_insert_function(module, "k", kind, "public", False)
        module.push_back(function)
        b.set_insertion_point_to_start(function.add_entry_block())
        word, n, value = function.args(0), function.args(1), function.args(2)
        create = lambda name: getattr(b, prefix + name)  # noqa: B023, E731
        me = create("get_rank")(n)
        count = create("get_num_ranks")(me)
        remote = create("symm_at")(word, me)
        token = create("wait")(
            remote, count, n, stock.MEM_SYNC_SCOPE.SYSTEM, stock.MEM_SEMANTIC.ACQUIRE, i32
        )
        after = create("consume_token")(word, token)
        signal, scope = distributed.ir.SIGNAL_OP.ADD, distributed.ir.COMM_SCOPE.INTRA_NODE
        create("notify")(after, value, me, signal, scope)
        (got,) = create("extern_call")("lib", "path", "symbol", [after, me], [i32], False)
        create("extern_call")("lib", "", "none", [got], [], True)
        b.ret([])
        assert module.verify() is not False
        texts.append(str(module))
    assert texts[0] == texts[1]
    for op in ("get_rank", "get_num_ranks", "symm_at", "wait", "consume_token", "notify"):
        assert texts[0].count(f"distributed.{op}") == 1
    assert texts[0].count("distributed.extern_call") == 2
    assert "scope = sys semantic = acquire" in texts[0] and "sigOp = 2 : i32" in texts[0]
