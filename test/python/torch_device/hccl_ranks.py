# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ranks of test_hccl.py do. `python hccl_ranks.py FOLDER N ...`: one job of N ranks for
each N, forked from one process that has loaded torch, so that the import is paid once. Each rank
writes FOLDER/<job>-<rank>.json: check -> "ok" or the traceback.
"""

import json
import os
import sys
import tempfile
import time
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

CHECKS = {}
SUM = dist.ReduceOp.SUM


def check(function):
    """Registers a check; it gets rank r, size n and this rank's device d."""
    CHECKS[function.__name__] = function
    return function


def filled(value, count, d, dtype=torch.float32):
    return torch.full((count,), value, dtype=dtype, device=d)


@check
def backend(r, n, d):
    assert dist.get_backend() == "hccl"
    assert dist.get_default_backend_for_device("npu") == "hccl"
    assert dist.get_default_backend_for_device(d) == "hccl"


@check
def all_reduce(r, n, d):
    t = filled(float(r + 1), 1000, d)
    dist.all_reduce(t)
    assert (t == n * (n + 1) / 2).all() and t.device == torch.device(d)
    for op, want in (
        (dist.ReduceOp.MAX, n - 1), (dist.ReduceOp.MIN, 0), (dist.ReduceOp.AVG, (n - 1) / 2),
        (dist.ReduceOp.PRODUCT, 0),
    ):  # fmt: skip
        t = filled(float(r), 3, d)
        dist.all_reduce(t, op=op)
        assert (t == want).all(), (op, t)


@check
def all_reduce_types(r, n, d):
    for dtype in (torch.int8, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
                  torch.float64):  # fmt: skip
        t = filled(1, 7, d, dtype)
        dist.all_reduce(t)
        assert t.dtype == dtype and (t == n).all(), (dtype, t)


@check
def all_reduce_of_a_view(r, n, d):
    whole = filled(1.0, 20, d)
    dist.all_reduce(whole[5:15])
    assert whole.tolist() == [1.0] * 5 + [float(n)] * 10 + [1.0] * 5


@check
def all_reduce_async(r, n, d):
    works = []
    tensors = [filled(float(r + i), 100, d) for i in range(8)]
    for t in tensors:
        works.append(dist.all_reduce(t, async_op=True))
    for work in works:
        work.wait()
    for i, t in enumerate(tensors):
        assert (t == n * (n - 1) / 2 + i * n).all()


@check
def async_work_holds_the_memory(r, n, d):
    t = filled(1.0, 1 << 16, d)
    work = dist.all_reduce(t, async_op=True)
    del t
    # New tensors must not land in memory that gloo still writes.
    others = [filled(2.0, 1 << 16, d) for _ in range(8)]
    work.wait()
    assert all((other == 2).all() for other in others)


def mapped():
    """How many memories of groups this process has in its address space."""
    with open("/proc/self/maps") as text:
        return sum("memfd:piton-hccl" in line for line in text)


@check
def all_reduce_of_any_size(r, n, d):
    # Slots hold 2 MiB; from 8 KiB three ranks and more divide the work.
    assert mapped() == 1
    for count in (1, 63, 2047, 2048, 5001, (1 << 19) - 1, (1 << 19) + 3, (1 << 20) + 1):
        parts = [torch.arange(count) % 1009 * (k + 1) % 251 for k in range(n)]
        t = parts[r].to(torch.float32).to(d)
        dist.all_reduce(t)
        assert t.cpu().equal(sum(parts).float()), count


@check
def all_reduce_of_every_operation(r, n, d):
    ops = {
        dist.ReduceOp.SUM: lambda s: s.sum(0), dist.ReduceOp.PRODUCT: lambda s: s.prod(0),
        dist.ReduceOp.MIN: lambda s: s.amin(0), dist.ReduceOp.MAX: lambda s: s.amax(0),
    }  # fmt: skip
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8,
                  torch.uint8, torch.int32, torch.int64):  # fmt: skip
        low = 0 if dtype == torch.uint8 else -3
        for count in (5, 4099):
            generator = torch.Generator().manual_seed(count)
            parts = torch.randint(low, 4, (n, count), generator=generator)
            for op, reference in ops.items():
                t = parts[r].to(dtype).to(d)
                dist.all_reduce(t, op=op)
                assert t.cpu().equal(reference(parts).to(dtype)), (dtype, op, count)
    half = torch.full((3,), 1e-3 * (r + 1), dtype=torch.float16, device=d)
    dist.all_reduce(half, op=dist.ReduceOp.AVG)
    assert torch.allclose(half.cpu().float(), torch.tensor(1e-3 * (n + 1) / 2), rtol=1e-3)
    wrapped = filled(100, 3, d, torch.int8)
    dist.all_reduce(wrapped)
    assert wrapped[0].item() == (100 * n + 128) % 256 - 128


@check
def same_bits_on_all_ranks(r, n, d):
    t = torch.randn(5000, generator=torch.Generator().manual_seed(r)).to(d)
    dist.all_reduce(t)
    seen = [torch.empty_like(t) for _ in range(n)]
    dist.all_gather(seen, t)
    assert all(other.cpu().equal(t.cpu()) for other in seen)


@check
def all_reduces_in_order_whoever_waits(r, n, d):
    # Ranks may differ in which calls they wait for at once.
    tensors = [filled(float(r * i), 3000, d) for i in range(12)]
    works = [dist.all_reduce(t, async_op=(i + r) % 3 > 0) for i, t in enumerate(tensors)]
    for work in works:
        if work is not None:
            work.wait()
    for i, t in enumerate(tensors):
        assert (t == i * n * (n - 1) / 2).all(), i


@check
def an_async_all_reduce_holds_nobody_up(r, n, d):
    t, other = filled(1.0, 4, d), filled(float(r), 4, d)
    if r == 0:
        work = dist.all_reduce(t, async_op=True)
        for to in range(1, n):
            dist.send(other, to)
    else:
        dist.recv(other, 0)
        work = dist.all_reduce(t, async_op=True)
    assert work.get_future().wait() is not None
    work.wait()
    assert (t == n).all() and (other == 0).all()


def error_of_all_reduce(t, group):
    try:
        dist.all_reduce(t, group=group)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("no error")


@check
def different_calls_are_refused(r, n, d):
    group = dist.new_group()
    text = error_of_all_reduce(filled(1.0, 4 if r else 5, d), group)
    assert "5 elements of float32 by SUM, rank" in text or "reduces 5 elements" in text, text
    assert "an earlier all_reduce" in error_of_all_reduce(filled(1.0, 4, d), group)


@check
def a_rank_that_left_is_an_error(r, n, d):
    group = dist.new_group()
    t = filled(1.0, 4, d)
    dist.all_reduce(t, group=group)
    if r == 1:
        dist.destroy_process_group(group)
        del group  # the back end ends with its last reference
    else:
        text = error_of_all_reduce(t, group)
        assert "rank 1 has left the group" in text or "given up" in text, text
    dist.barrier()


@check
def a_rank_that_is_late_is_an_error(r, n, d):
    group = dist.new_group()
    if r == 0:
        group._get_backend(torch.device("npu"))._set_default_timeout(timedelta(seconds=0.3))
        text = error_of_all_reduce(filled(1.0, 4, d), group)
        assert "did not come within 300 ms" in text, text
    dist.barrier()


@check
def without_shared_memory(r, n, d):
    before = mapped()
    if r == n - 1:
        os.environ["PITON_HCCL_SHARED"] = "0"
    group = dist.new_group()
    os.environ.pop("PITON_HCCL_SHARED", None)
    assert mapped() == before
    t = filled(float(r), 3000, d)
    dist.all_reduce(t, group=group)
    assert (t == n * (n - 1) / 2).all()


@check
def broadcast(r, n, d):
    for root in range(n):
        t = filled(float(r), 5, d)
        dist.broadcast(t, root)
        assert (t == root).all()


@check
def reduce(r, n, d):
    t = filled(1.0, 2, d)
    dist.reduce(t, n - 1)
    assert r != n - 1 or (t == n).all()


@check
def all_gather(r, n, d):
    out = torch.empty(n * 3, device=d)
    dist.all_gather_into_tensor(out, filled(float(r), 3, d))
    assert out.view(n, 3)[:, 0].tolist() == list(range(n))
    parts = [torch.empty(3, device=d) for _ in range(n)]
    dist.all_gather(parts, filled(float(r), 3, d))
    assert [part[2].item() for part in parts] == list(range(n))


@check
def reduce_scatter(r, n, d):
    out = torch.empty(2, device=d)
    dist.reduce_scatter_tensor(out, torch.arange(n * 2.0, device=d))
    assert (out == n * torch.arange(2 * r, 2 * r + 2, device=d)).all()
    dist.reduce_scatter(out, [filled(float(i), 2, d) for i in range(n)])
    assert (out == n * r).all()


@check
def all_to_all(r, n, d):
    source = torch.arange(n * 2.0, device=d) + 100 * r
    out = torch.empty_like(source)
    dist.all_to_all_single(out, source)
    assert out.tolist() == [100.0 * s + 2 * r + k for s in range(n) for k in range(2)]
    sources = [filled(float(10 * r + k), 2, d) for k in range(n)]
    outs = [torch.empty(2, device=d) for _ in range(n)]
    dist.all_to_all(outs, sources)
    assert [t[0].item() for t in outs] == [10.0 * s + r for s in range(n)]


@check
def all_to_all_uneven(r, n, d):
    # Rank s sends s + 1 elements to each rank.
    source = filled(float(r), n * (r + 1), d)
    out = torch.empty(n * (n + 1) // 2, device=d)
    dist.all_to_all_single(out, source, [s + 1 for s in range(n)], [r + 1] * n)
    assert out.tolist() == [float(s) for s in range(n) for _ in range(s + 1)]


@check
def gather_and_scatter(r, n, d):
    parts = [torch.empty(2, device=d) for _ in range(n)] if r == 0 else None
    dist.gather(filled(float(r), 2, d), parts, 0)
    assert r or [part[0].item() for part in parts] == list(range(n))
    out = torch.empty(2, device=d)
    dist.scatter(out, [filled(float(i), 2, d) for i in range(n)] if r == 0 else None, 0)
    assert (out == r).all()


@check
def send_and_receive(r, n, d):
    if r == 0:
        for to in range(1, n):
            dist.send(filled(float(to), 4, d), to)
    else:
        t = torch.empty(4, device=d)
        assert dist.recv(t, 0) == 0
        assert (t == r).all()


@check
def receive_from_any(r, n, d):
    if r == 0:
        seen = set()
        for _ in range(n - 1):
            t = torch.empty(1, device=d)
            seen.add(dist.recv(t))
        assert seen == set(range(1, n))
    else:
        dist.send(filled(float(r), 1, d), 0)
    dist.barrier()  # or a message of the next check would be taken for one of these


@check
def ring_of_p2p(r, n, d):
    mine, theirs = filled(float(r), 4, d), torch.empty(4, device=d)
    for request in dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, mine, (r + 1) % n), dist.P2POp(dist.irecv, theirs, (r - 1) % n)]
    ):
        request.wait()
    assert (theirs == (r - 1) % n).all()


@check
def objects(r, n, d):
    seen = [None] * n
    dist.all_gather_object(seen, {"rank": r, "text": "x" * r})
    assert [s["rank"] for s in seen] == list(range(n))
    one = [{"from": r}]
    dist.broadcast_object_list(one, n - 1)
    assert one == [{"from": n - 1}]


@check
def sub_groups(r, n, d):
    pair = dist.new_group([0, n - 1])
    if r in (0, n - 1):
        t = filled(1.0, 2, d)
        dist.all_reduce(t, group=pair)
        assert (t == 2).all()
    singles = [dist.new_group([i]) for i in range(n)]
    t = filled(float(r), 2, d)
    dist.all_reduce(t, group=singles[r])
    assert (t == r).all()


@check
def functional(r, n, d):
    import torch.distributed._functional_collectives as fc

    group = dist.group.WORLD
    assert (fc.all_reduce(filled(1.0, 3, d), "sum", group) == n).all()
    gathered = fc.all_gather_tensor(filled(float(r), 2, d), 0, group)
    assert gathered.tolist() == [float(i) for i in range(n) for _ in range(2)]
    part = fc.reduce_scatter_tensor(torch.ones(2 * n, device=d), "sum", 0, group)
    assert part.tolist() == [float(n)] * 2
    turned = fc.all_to_all_single(torch.arange(float(n), device=d) + 10 * r, None, None, group)
    assert turned.tolist() == [10.0 * s + r for s in range(n)]


@check
def mesh_and_dtensor(r, n, d):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("npu", (n,))
    whole = torch.arange(n * 8.0).view(n * 2, 4)
    t = distribute_tensor(whole.to(d), mesh, [Shard(0)])
    assert t.to_local().shape == (2, 4) and t.to_local().device == torch.device(d)
    assert (t + t).full_tensor().cpu().equal(whole * 2)
    total = t.sum().redistribute(mesh, [Replicate()]).to_local()
    assert total.item() == whole.sum().item()
    if n == 4:
        grid = init_device_mesh("npu", (2, 2), mesh_dim_names=("rows", "columns"))
        one = filled(float(r), 1, d)
        dist.all_reduce(one, group=grid["rows"].get_group())
        assert one.item() == 2 * (r % 2) + 2


@check
def ddp(r, n, d):
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).to(d))
    model(filled(float(r), 12, d).view(3, 4)).sum().backward()
    # The mean over ranks of 3 * r in every column.
    assert torch.allclose(model.module.weight.grad.cpu(), torch.tensor(3 * (n - 1) / 2))


@check
def barrier(r, n, d):
    if r == 0:
        time.sleep(0.2)
    comes = time.monotonic()  # one clock for all processes
    dist.barrier()
    goes = time.monotonic()
    times = [None] * n
    dist.all_gather_object(times, (comes, goes))
    # Nobody goes before the last has come.
    assert min(goes for _, goes in times) >= max(comes for comes, _ in times), times


@check
def nothing_is_copied(r, n, d):
    a, out = torch.ones(1 << 16, device=d), torch.empty(n << 16, device=d)
    before = torch.ops.piton.copied_bytes()
    dist.all_reduce(a)
    dist.broadcast(a, 0)
    dist.all_gather_into_tensor(out, a)
    assert torch.ops.piton.copied_bytes() == before


@check
def cpu_tensors_are_refused(r, n, d):
    try:
        dist.all_reduce(torch.ones(2))
    except RuntimeError as error:
        assert "No backend type associated with device type cpu" in str(error), error
    else:
        raise AssertionError("a cpu tensor was accepted in an hccl group")


@check
def mixed_devices_are_refused(r, n, d):
    other = f"npu:{(torch.device(d).index + 1) % torch.npu.device_count()}"
    parts = [torch.empty(1, device=other) for _ in range(n)]
    try:
        dist.all_gather(parts, filled(1.0, 1, d))
    except (RuntimeError, ValueError) as error:
        assert "device" in str(error), error
    else:
        raise AssertionError("tensors of two devices were accepted in one call")


@check
def both_kinds_of_tensors(r, n, d):
    group = dist.new_group(backend="cpu:gloo,npu:hccl")
    for t in (torch.ones(2), torch.ones(2, device=d)):
        dist.all_reduce(t, group=group)
        assert (t == n).all()


def run_rank(folder, job, rank, size):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    torch.npu.set_device(rank)
    dist.init_process_group(
        "hccl", init_method=f"file://{folder}/{job}-store", rank=rank, world_size=size,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    results = {}
    for name, function in CHECKS.items():
        try:
            function(rank, size, f"npu:{rank}")
            results[name] = "ok"
        except BaseException:
            results[name] = traceback.format_exc()
            break  # ranks that went apart would only wait for each other
    with open(f"{folder}/{job}-{rank}.json", "w", encoding="utf-8") as file:
        json.dump(results, file)
    if len(results) == len(CHECKS) and results[name] == "ok":
        dist.destroy_process_group()


def run_until_a_peer_dies(folder, job, rank, size):
    """Rank 1 is gone at once; what the others see in their next collective is the result."""
    torch.npu.set_device(rank)
    dist.init_process_group(
        "hccl", init_method=f"file://{folder}/{job}-store", rank=rank, world_size=size,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    t = torch.ones(4, device="npu")
    dist.all_reduce(t)
    if rank == 1:
        os.kill(os.getpid(), 9)
    start, text = time.monotonic(), "no error"
    try:
        dist.all_reduce(t)
    except RuntimeError as error:
        text = f"{type(error).__name__}: {error}"
    with open(f"{folder}/{job}-{rank}.json", "w", encoding="utf-8") as file:
        json.dump({"error": text, "seconds": time.monotonic() - start}, file)


def fork_job(body, folder, job, size):
    children = []
    for rank in range(size):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                body(folder, job, rank, size)
                code = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    for count in sys.argv[2:]:
        fork_job(run_rank, out, f"ranks{count}", int(count))
    fork_job(run_until_a_peer_dies, out, "death", 3)
