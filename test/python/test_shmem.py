# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package `shmem`: documented steps, symmetric tensors, every call by its values,
errors."""

import subprocess
import sys
import textwrap

import pytest

from shmem_jobs import PREAMBLE, free_port, run_job


@pytest.mark.parametrize("count", [1, 2, 4])
def test_tensors_in_the_documented_five_steps(count):
    run_job(
        count,
        """
        import torch

        assert init() == 0
        assert (ash.my_pe(), ash.pe_count()) == (rank, world)
        t = ash.aclshmem_create_tensor((4, 8), dtype=torch.float16, device_id=rank)
        assert t.shape == (4, 8) and t.dtype == torch.float16 and t.is_contiguous()
        t.fill_(rank + 1)
        ash.barrier_all()
        peer = (rank + 1) % world
        theirs = ash.construct_tensor_from_ptr(
            ash.aclshmem_ptr(t.data_ptr(), peer), (4, 8), torch.float16
        )
        assert torch.equal(theirs, torch.full((4, 8), peer + 1, dtype=torch.float16))
        for dtype in (torch.float32, torch.bfloat16, torch.int8, torch.int64, torch.bool):
            other = ash.aclshmem_create_tensor([3], dtype=dtype)
            other.zero_()
            assert other.dtype == dtype
            ash.aclshmem_free_tensor(other)
        ash.barrier_all()
        ash.aclshmem_free_tensor(t)
        try:
            ash.aclshmem_free(t.data_ptr())
        except RuntimeError as error:
            assert "was it freed before" in str(error)
        else:
            raise AssertionError("freed twice")
        assert ash.aclshmem_finialize() == 0
        """,
    )


def test_tensors_lie_on_npu_once_that_is_used():
    outputs = run_job(
        2,
        """
        import torch

        if not hasattr(torch, "npu"):
            print("no npu")
            sys.exit(0)
        assert init() == 0
        before = ash.aclshmem_create_tensor((4,), dtype=torch.float16, device_id=rank)
        assert before.device.type == "cpu"
        torch.npu.set_device(rank)
        torch.ones(1, device="npu")
        t = ash.aclshmem_create_tensor((4,), dtype=torch.float16, device_id=rank)
        assert t.device == torch.device("npu", rank), t.device
        t.copy_(torch.full((4,), 3.0 + rank))
        torch.npu.synchronize()
        ash.barrier_all()
        theirs = ash.construct_tensor_from_ptr(
            ash.aclshmem_ptr(t.data_ptr(), 1 - rank), (4,), torch.float16, rank
        )
        assert (theirs + t).cpu().tolist() == [7.0] * 4
        ash.barrier_all()
        ash.aclshmem_free_tensor(t)
        ash.aclshmem_free_tensor(before)
        ash.aclshmem_finalize()
        """,
    )
    if "no npu" in outputs[0]:
        pytest.skip("the torch device is not built")


def test_calls_on_addresses():
    run_job(
        2,
        """
        assert init() == 0
        word = ash.aclshmem_calloc(16, 4)
        data = ash.aclshmem_align(512, 4096)
        assert (data - ash.aclshmemx_get_heap_base()) % 512 == 0
        peer = 1 - rank
        ash._pyshmem.aclshmem_int32_p(data, 41 + rank, peer)
        assert ash._pyshmem.aclshmem_int32_g(data, peer) in (41, 42)
        ash.aclshmemx_putmem_signal(data + 64, data, 4, word, 1, ash.SignalOp.SIGNAL_ADD, peer)
        ash.aclshmem_signal_wait_until(word, ash.CmpOp.CMP_EQ, 1)
        assert ash._pyshmem.aclshmem_int32_test(word, ash.CmpOp.CMP_GE, 1)
        assert ash._pyshmem.aclshmem_int32_wait_until_any(word, 1, None, 0, 1) == 0
        team = ash.team_split_strided(0, 1, 1, 1)
        assert (team >= 0) == (rank == 1)
        x, y = ash.team_split_2d(0, 2)
        assert ash.team_n_pes(x) == 2 and ash.team_translate_pe(y, 0, 0) == rank
        ash.barrier(x)
        ash.team_destroy(x)
        ash.sync_all()
        assert ash.aclshmem_finalize() == 0
        """,
    )


def test_unique_ids_and_core():
    outputs = run_job(
        1,
        """
        import os

        os.environ["SHMEM_UID_SESSION_ID"] = "127.0.0.1"
        ash.set_conf_store_tls(False, "")
        from shmem import core

        assert core.get_version() == "libaclshmem_version=1.1"
        uid = core.get_unique_id()
        assert len(uid) == 136
        for wrong in (dict(initializer_method="mpi"), dict(initializer_method="uid", uid=uid)):
            try:
                core.init(**wrong)
            except core.AclshmemInvalid:
                pass
            else:
                raise AssertionError(wrong)
        longer = uid + bytes(376)
        core.init(uid=longer, rank=0, nranks=1, initializer_method="uid", mem_size=1 << 20)
        assert core.direct.init_status() == core.direct.InitStatus.INITIALIZED
        a, b = core.buffer(64), core.buffer(64)
        core.put(a, b, 0)
        core.put_signal(a, b, core.buffer(64), 1, core.SignalOp.SIGNAL_SET, 0)
        try:
            core.quiet()
        except core.AclshmemInvalid as error:
            print(error)
        try:
            core.put(a, b, 7)
        except core.AclshmemError as error:
            print(error)
        core.free(a)
        core.finalize()
        """,
    )
    assert "quiet needs a stream" in outputs[0]
    assert "PE 7 is not one of 0 to 0" in outputs[0]


def test_errors_reach_python():
    outputs = run_job(
        2,
        """
        import torch

        try:
            ash.aclshmem_create_tensor((4,))
        except RuntimeError as error:
            assert "not initialised" in str(error)
        attributes = ash.InitAttr()
        attributes.n_ranks, attributes.local_mem_size = 1, 1024
        attributes.ip_port = "x" * 63
        assert ash.aclshmem_init(attributes) != 0
        assert "set_conf_store_tls" in ash.last_error() or "ip_port" in ash.last_error()
        assert init() == 0
        for shape, kind in (((-1,), ValueError), ((0,), ValueError), (None, ValueError)):
            try:
                ash.aclshmem_create_tensor(shape)
            except kind:
                pass
            else:
                raise AssertionError(shape)
        try:
            ash.construct_tensor_from_ptr("x", (1,), torch.int8)
        except TypeError:
            pass
        try:
            ash.aclshmem_create_tensor((8 + rank,), dtype=torch.int32)
        except RuntimeError as error:
            print(error)
        ash.aclshmem_finalize()
        """,
    )
    for output in outputs:
        assert (
            "PE 0 called aclshmem_malloc(32 bytes), PE 1 called aclshmem_malloc(36 bytes)" in output
        )


def test_a_bad_local_address_is_an_error():
    run_job(
        1,
        """
        from shmem import _pyshmem

        assert init() == 0
        word = ash.aclshmem_malloc(64)
        for bad, text in ((0, " is null"), (4096, " bytes at 0x1000, cannot be ")):
            for call, which in (
                (lambda: ash.aclshmem_putmem(word, bad, 4, 0), "putmem: the source"),
                (lambda: ash.aclshmem_getmem(bad, word, 4, 0), "getmem: the destination"),
                (lambda: _pyshmem.aclshmem_iput32(word, bad, 1, 1, 2, 0), "iput32: the source"),
                (lambda: _pyshmem.aclshmem_iget32(bad, word, 1, 1, 2, 0), "the destination"),
                (lambda: _pyshmem.aclshmem_int32_test(bad, 0, 1), "int32_test: the word"),
                (lambda: ash.aclshmem_signal_wait_until(bad, 0, 1), "wait_until: the word"),
            ):
                try:
                    call()
                except RuntimeError as error:
                    assert which in str(error) and text in str(error), error
                else:
                    raise AssertionError("no error")
        ash.aclshmem_putmem(word, 0, 0, 0)  # nothing to read
        assert ash.aclshmem_finalize() == 0
        """,
    )


def test_an_address_of_pe_0_that_is_too_long():
    run_job(
        1,
        """
        attributes = ash.InitAttr()
        attributes.ip_port = "x" * 63
        for text in ("tcp://" + "h" * 60 + ":8666", "tcp://127.0.0.1:8666" + chr(0)):
            try:
                attributes.ip_port = text
            except ValueError as error:
                assert f"at most 63 characters without nulls, this one has {len(text)}" in str(
                    error), error
            else:
                raise AssertionError("no error")
        assert attributes.ip_port == "x" * 63
        """,
    )


def test_numbers_that_do_not_fit_are_said():
    run_job(
        1,
        """
        attributes = ash.InitAttr()
        assert init() == 0
        word = ash.aclshmem_calloc(1, 64)
        low, high = -(2**31), 2**31 - 1
        for call, value, least, most in (
            (lambda: ash.aclshmem_malloc(-1), -1, 0, 2**64 - 1),
            (lambda: ash.aclshmem_malloc(2**65), 2**65, 0, 2**64 - 1),
            (lambda: ash.aclshmem_putmem(word, word, -4, 0), -4, 0, 2**64 - 1),
            (lambda: ash.aclshmem_putmem(-8, word, 4, 0), -8, 0, 2**64 - 1),
            (lambda: ash.aclshmem_put32(word, word, 2**32 + 1, 0), 2**32 + 1, 0, 2**32 - 1),
            (lambda: ash.aclshmem_getmem(word, word, 4, 2**40), 2**40, low, high),
            (lambda: ash.aclshmemx_signal_op(word, 2**31, 0, 0), 2**31, low, high),
            (lambda: ash.team_split_strided(0, 0, 2**31, 1), 2**31, low, high),
            (lambda: ash.aclshmem_int32_test_any(word, -1, None, 0, 0), -1, 0, 2**64 - 1),
            (lambda: setattr(attributes, "my_rank", 2**31), 2**31, low, high),
            (lambda: setattr(attributes, "local_mem_size", -1), -1, 0, 2**64 - 1),
            (lambda: setattr(attributes.option_attr, "sockFd", 2**40), 2**40, low, high),
        ):
            try:
                call()
            except ValueError as error:
                text = f"{value} is outside of the range of this argument, {least} to {most}"
                assert text in str(error), error
            else:
                raise AssertionError(f"{value} was taken")
        assert ash.aclshmem_finalize() == 0
        """,
    )


def test_callbacks_are_functions():
    run_job(
        1,
        """
        for call, name in (
            (lambda: ash.set_extern_logger(3), "logger is a int"),
            (lambda: ash.set_conf_store_tls_key("a", "b", 3), "decrypt is a int"),
        ):
            try:
                call()
            except TypeError as error:
                assert name + ", expected a function or None" in str(error), error
            else:
                raise AssertionError("no error")
        assert init() == 0
        word = ash.aclshmem_calloc(1, 64)
        for count in (10**10, 2**62):  # of words that are not there
            try:
                ash.aclshmem_int32_test_some(word, count, None, 0, 0)
            except (RuntimeError, MemoryError, ValueError) as error:
                print(type(error), error)
            else:
                raise AssertionError("no error")
        assert ash.aclshmem_finalize() == 0
        """,
    )


def test_a_killed_pe_is_an_exception():
    script = """
        import os, signal, time

        assert init() == 0
        ash.barrier_all()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            ash.barrier_all()
        except RuntimeError as error:
            print("seen:", error)
        """
    port = free_port()
    code = PREAMBLE + textwrap.dedent(script)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(pe), "2", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for pe in range(2)
    ]
    try:
        output = children[0].communicate(timeout=120)[0]
        children[1].communicate(timeout=120)
    finally:
        for child in children:
            child.kill()
    assert "seen: aclshmem_barrier_all: PE 1 (pid" in output


def test_words_compared_with_lists():
    run_job(
        2,
        """
        assert init() == 0
        words = ash.aclshmem_calloc(16, 4)
        peer = 1 - rank
        for index, value in ((0, 5), (2, 7)):
            ash.aclshmem_int32_p(words + 4 * index, value, peer)
        cmp = ash.CmpOp
        ash.aclshmem_int32_wait_until_all_vector(words, 3, [0, 1, 0], cmp.CMP_EQ, [5, 9, 7])
        ash.aclshmem_int32_wait_until_all(words, 3, [0, 1, 0], cmp.CMP_GE, 5)
        assert ash.aclshmem_int32_wait_until_any_vector(words, 3, None, cmp.CMP_EQ, [6, 9, 7]) == 2
        assert ash.aclshmem_int32_wait_until_some_vector(
            words, 3, None, cmp.CMP_GE, [5, 1, 7]) == [0, 2]
        assert ash.aclshmem_int32_test_all_vector(words, 3, None, cmp.CMP_EQ, [5, 0, 7])
        assert not ash.aclshmem_int32_test_all_vector(words, 3, None, cmp.CMP_EQ, [5, 1, 7])
        assert ash.aclshmem_int32_test_any_vector(words, 3, [1, 1, 1], cmp.CMP_GE, [0, 0, 0]) == (
            2**64 - 1)
        assert ash.aclshmem_int32_test_some_vector(words, 3, None, cmp.CMP_LT, [9, 9, 7]) == [0, 1]
        for call in (
            lambda: ash.aclshmem_int32_test_all_vector(words, 3, None, 0, [5, 0]),
            lambda: ash.aclshmem_int32_wait_until_any(words, 3, [0], 0, 5),
        ):
            try:
                call()
            except ValueError as error:
                assert "entries for 3 words" in str(error)
            else:
                raise AssertionError("a list that is too short was taken")
        try:
            ash.aclshmem_int32_test_all_vector(words, 3, None, 6, [5, 0, 7])
        except RuntimeError as error:
            assert "comparison 6 is none of 0 (EQ) to 5 (LE)" in str(error)
        ash.barrier_all()
        ash.aclshmem_finalize()
        """,
    )


def test_memory_on_the_host_side():
    run_job(
        2,
        """
        assert init() == 0
        try:
            ash.aclshmemx_get_heap_base(ash.MemType.HOST_SIDE)
        except RuntimeError as error:
            assert "there is no host-side heap" in str(error)
        host = ash.aclshmemx_calloc(4, 8, ash.MemType.HOST_SIDE)
        assert host == ash.aclshmemx_get_heap_base(ash.MemType.HOST_SIDE)
        ash.aclshmem_int64_p(host, 40 + rank, 1 - rank)
        ash.barrier_all()
        assert ash.aclshmem_int64_g(host, rank) == 41 - rank
        more = ash.aclshmemx_align(512, 64, ash.MemType.HOST_SIDE)
        assert (more - host) % 512 == 0
        for address in (more, host):
            ash.aclshmemx_free(address, ash.MemType.HOST_SIDE)
        assert ash.aclshmemx_set_udma_config(0, 64, 0) != 0
        assert ash.aclshmemx_set_udma_config(189 * 1024, 256, 1) == 0
        assert ash.aclshmemx_finalize(7) != 0 and "no instance 7" in ash.last_error()
        assert ash.aclshmemx_init_status() == ash.InitStatus.INITIALIZED
        assert ash.aclshmemx_finalize(0) == 0
        assert ash.aclshmemx_init_status() == ash.InitStatus.NOT_INITIALIZED
        """,
    )


def test_tls_is_off_by_the_test_scripts_variable():
    run_job(
        1,
        """
        import os

        os.environ["SMEM_CONF_STORE_TLS_ENABLE"] = "0"
        attributes = ash.InitAttr()
        attributes.n_ranks, attributes.local_mem_size = 1, 1 << 20
        attributes.ip_port = f"tcp://127.0.0.1:{port}"
        assert ash.aclshmem_init(attributes) == 0, ash.last_error()
        assert ash.aclshmem_finalize() == 0
        ash.set_conf_store_tls(True, "")
        assert ash.aclshmem_init(attributes) != 0
        assert "no certificates" in ash.last_error()
        """,
    )


def test_numbers_of_the_network_are_checked():
    run_job(
        1,
        """
        import os

        os.environ["PITON_SHMEM_FORCE_ROCE"] = "1"
        for name, value, text in (
            ("HCCL_RDMA_TC", "133", "HCCL_RDMA_TC=133: expected 0 to 255, a multiple of 4"),
            ("HCCL_RDMA_SL", "8", "HCCL_RDMA_SL=8: expected 0 to 7"),
        ):
            os.environ[name] = value
            assert init(engine=ash.OpEngineType.ROCE) != 0
            assert text in ash.last_error(), ash.last_error()
            del os.environ[name]
        """,
    )


# -- every call, by its values -----------------------------------------------------------


def test_transfers_of_every_width_and_type():
    run_job(
        2,
        """
        import ctypes

        assert init() == 0
        peer = 1 - rank
        heap = ash.aclshmem_calloc(1, 4096)
        word = ash.aclshmem_calloc(16, 4)
        local = ctypes.create_string_buffer(bytes(range(256)), 256)
        back = ctypes.create_string_buffer(256)
        source, target = ctypes.addressof(local), ctypes.addressof(back)

        def at(offset, size):
            return ctypes.string_at(heap + offset, size)

        def there():
            ash.quiet()
            ash.barrier_all()

        signals = 0
        for bits in (8, 16, 32, 64, 128):
            size = bits // 8
            call = lambda name: getattr(ash, f"aclshmem_{name}")  # noqa: B023
            call(f"put{bits}")(heap, source, 4, peer)
            call(f"put{bits}_nbi")(heap + 256, source + size, 3, peer)
            call(f"iput{bits}")(heap + 512, source, 2, 1, 3, peer)
            there()
            data = bytes(range(256))
            assert at(0, 5 * size) == data[: 4 * size] + bytes(size), bits
            assert at(256, 3 * size) == data[size : 4 * size]
            spread = b"".join(at(512 + index * size, size) for index in (0, 2, 4))
            assert spread == data[: 3 * size] and at(512 + size, size) == bytes(size)
            call(f"get{bits}")(target, heap, 2, peer)
            call(f"get{bits}_nbi")(target + 64, heap + size, 2, peer)
            call(f"iget{bits}")(target + 128, heap + 512, 1, 2, 3, peer)
            ash.quiet()
            assert back.raw[: 2 * size] == data[: 2 * size]
            assert back.raw[64 : 64 + 2 * size] == data[size : 3 * size]
            assert back.raw[128 : 128 + 3 * size] == data[: 3 * size]
            for name in (f"put{bits}_signal", f"put{bits}_signal_nbi"):
                signals += 1
                call(name)(heap + 1024, source + signals, 1, word, 1, ash.SignalOp.SIGNAL_ADD, peer)
                ash.aclshmem_signal_wait_until(word, ash.CmpOp.CMP_GE, signals)
                there()
                assert at(1024, size) == data[signals : signals + size], name
                ash.barrier_all()
            ctypes.memset(heap, 0, 2048)
            ash.barrier_all()
        numbers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
        for kind in ("float", "double", "char", *numbers):
            call = lambda name: getattr(ash, f"aclshmem_{kind}_{name}")  # noqa: B023
            number = lambda n: chr(n) if kind == "char" else n  # noqa: B023
            size = {"float": 4, "double": 8, "char": 1}.get(kind) or int(kind.strip("uint")) // 8
            for index in range(3):
                call("p")(heap + index * size, number(65 + index + rank), peer)
            there()
            assert [call("g")(heap + index * size, peer) for index in range(3)] == [
                number(65 + index + rank) for index in range(3)], kind
            call("iput")(heap + 256, heap, 2, 1, 3, peer)
            call("iget")(target, heap, 1, 2, 2, peer)
            there()
            mine = ctypes.string_at(target, 2 * size)
            call("p")(heap + 512, number(67 + rank), rank)
            assert mine[size:] == at(512, size), kind
            # iput took this PE's words, which the peer had written.
            assert call("g")(heap + 256 + 4 * size, peer) == number(67 + peer), kind
            ash.barrier_all()
        ash.aclshmem_finalize()
        """,
    )


def test_waits_of_every_type():
    run_job(
        2,
        """
        assert init() == 0
        peer, cmp = 1 - rank, ash.CmpOp
        numbers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
        for kind in ("float", "char", *numbers):
            call = lambda name: getattr(ash, f"aclshmem_{kind}_{name}")  # noqa: B023
            n = lambda value: chr(value) if kind == "char" else value  # noqa: B023
            size = {"float": 4, "char": 1}.get(kind) or int(kind.strip("uint")) // 8
            words = ash.aclshmem_calloc(64, 1)
            assert call("test_any")(words, 3, None, cmp.CMP_EQ, n(5)) == 2**64 - 1
            assert call("test_some")(words, 3, None, cmp.CMP_EQ, n(5)) == []
            assert not call("test")(words, cmp.CMP_NE, n(0))
            ash.barrier_all()
            call("p")(words + 2 * size, n(7), peer)
            call("wait")(words + 2 * size, n(0))
            assert call("wait_until_any")(words, 3, None, cmp.CMP_GE, n(6)) == 2
            call("p")(words, n(5), peer)
            call("wait_until")(words, cmp.CMP_EQ, n(5))
            status, values = [0, 1, 0], [n(5), n(9), n(7)]
            call("wait_until_all")(words, 3, status, cmp.CMP_GT, n(4))
            call("wait_until_all_vector")(words, 3, status, cmp.CMP_EQ, values)
            for form in ("wait_until_some", "test_some"):
                assert call(form)(words, 3, None, cmp.CMP_NE, n(0)) == [0, 2], (kind, form)
                vector = call(form + "_vector")(words, 3, None, cmp.CMP_LE, values)
                assert vector == [0, 1, 2], (kind, form)
            for form in ("wait_until_any", "test_any"):
                assert call(form + "_vector")(words, 3, [1, 0, 0], cmp.CMP_EQ, values) == 2
                assert call(form)(words, 0, None, cmp.CMP_EQ, n(1)) == 2**64 - 1
            assert call("test_all_vector")(words, 3, status, cmp.CMP_EQ, values)
            assert not call("test_all_vector")(words, 3, None, cmp.CMP_EQ, values)
            assert call("test")(words, cmp.CMP_LT, n(6))
            ash.barrier_all()
            ash.aclshmem_free(words)
        ash.aclshmem_finalize()
        """,
    )


def test_calls_in_stream_order_and_core():
    run_job(
        2,
        """
        import ctypes
        from piton import _runtime
        from shmem import core

        assert init() == 0
        peer, stream = 1 - rank, 0
        data, other, sig = core.buffer(64), core.buffer(64), core.buffer(64)
        for buf in (data, other, sig):
            ctypes.memset(buf.addr, 0, 64)
        ctypes.memset(data.addr, 65 + rank, 64)
        ash.barrier_all()
        core.put(other, data, peer, stream)
        core.quiet(stream)
        core.signal_op(sig, 3, core.SignalOp.SIGNAL_SET, peer, stream)
        core.signal_wait(sig, 3, core.ComparisonType.CMP_EQ, stream)
        got = core.Buffer(ctypes.addressof(ctypes.create_string_buffer(64)), 64)
        keep = ctypes.create_string_buffer(64)
        got = core.Buffer(ctypes.addressof(keep), 64)
        core.get(got, other, peer, stream)
        ash.aclshmemx_barrier_on_stream(0, stream)
        ash.aclshmemx_barrier_all_on_stream(stream)
        ash.aclshmemx_handle_wait(0, stream)
        _runtime.device_synchronize(0)
        assert ctypes.string_at(other.addr, 64) == bytes([65 + peer]) * 64
        assert keep.raw == bytes([65 + rank]) * 64
        core.put_signal(other, data, sig, 1, core.SignalOp.SIGNAL_ADD, peer, stream)
        ash.aclshmem_signal_wait_until(sig.addr, ash.CmpOp.CMP_EQ, 4)
        mapped = core.get_peer_buffer(data, peer)
        assert ctypes.string_at(mapped.addr, 1)[0] == 65 + peer and mapped.length == 64
        core.get(got, data, peer)
        assert keep.raw == bytes([65 + peer]) * 64
        assert (core.my_pe(), core.n_pes(), core.team_my_pe(0), core.team_n_pes(0)) == (
            rank, world, rank, world)
        for wrong in (
            lambda: core.signal_op(sig, 1, 0, peer),
            lambda: core.signal_wait(sig, 1, 0),
            lambda: core.put(core.Buffer(other.addr, 8), data, peer),
        ):
            try:
                wrong()
            except core.AclshmemInvalid:
                pass
            else:
                raise AssertionError("taken")
        ash.barrier_all()
        for buf in (sig, other, data):
            core.free(buf)
        core.finalize()
        """,
    )
