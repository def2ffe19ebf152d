# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standstills of kernels and host calls in every mix: each rank's call raises, and each rank says
who waits for what."""

import re
import sys
import textwrap

import pytest

pytest.importorskip("piton_torch", reason="the package piton_torch is not built")

from test_distributed import HEAD, start_ranks  # noqa: E402

BODY = """
import torch_npu

kind = sys.argv[1]
torch.npu.set_device(rank)
words = symmetric(64, torch.int32)

@triton.jit
def waits(signal):
    dl.wait(signal + 16, 1, "gpu", "acquire", waitValue=3)  # the wait

@triton.jit
def meets():
    libshmem_device.barrier_all()  # the barrier

@triton.jit
def polls(signal):  # calls nothing of the library
    while tl.load(signal + 32, volatile=True) == 0:  # the loop
        pass

def kernel():
    waits[(2,)](words)
    torch.npu.synchronize()

def device_barrier():
    meets[(4,)]()
    torch.npu.synchronize()

def loop():
    polls[(2,)](words)
    torch.npu.synchronize()

def kernel_and_host_barrier():
    waits[(2,)](words)  # goes on in its stream, and the barrier waits for it
    ash.barrier_all()

def host_wait():
    ash.aclshmem_signal_wait_until(words.data_ptr() + 192, 0, 5)

def malloc():
    ash.aclshmem_malloc(640)

#: By kind: what the last rank is in, and what all others are in.
parts = {
    "kernel and host wait": (kernel, host_wait),
    "device barrier and kernel": (device_barrier, kernel),
    "device barrier and host barrier": (ash.barrier_all, kernel),
    "both in one rank": (kernel_and_host_barrier, host_wait),
    "kernel and allocation": (malloc, kernel),
    "a loop of the kernel's own": (loop, kernel),
}
polls.warmup(words, grid=(2,))
waits.warmup(words, grid=(2,))
meets.warmup(grid=(4,))
ash.barrier_all()
try:
    parts[kind][0 if rank == world - 1 else 1]()
except Exception as error:
    print(f"<told {error}>", flush=True)
    os._exit(0)
print("<not told>", flush=True)
os._exit(1)
"""

#: By kind: what is said of the last rank and of the others.
SAID = {
    "kernel and host wait": ("kernel", "host"),
    "device barrier and kernel": ("barrier", "kernel"),
    "device barrier and host barrier": ("host barrier", "kernel"),
    "both in one rank": ("kernel", "host"),
    "kernel and allocation": ("malloc", "kernel"),
    "a loop of the kernel's own": ("loop", "kernel"),
}


def said(what, pe, lines):
    """Patterns of the report for a rank that is in `what`."""
    start = rf"PE {pe} waits in "
    kernel = (
        rf"{start}[^;]*ranks\.py:{lines['wait']}: kernel 'waits'[^;]*"
        rf"\(argument 'signal' \+ 64 bytes\) for heap \+ 0x[0-9a-f]+ of PE {pe}: value seen 0, "
        r"wanted == 3"
    )
    host_barrier = rf"{start}aclshmem_barrier_all for PE \d to reach barrier \d+ of team 0"
    return {
        "kernel": [kernel],
        "host": [rf"{start}aclshmem_signal_wait_until for heap \+ 0x[0-9a-f]+ of PE {pe}: value "
                 r"seen 0, wanted == 5"],
        "barrier": [rf"{start}[^;]*ranks\.py:{lines['barrier']}: kernel 'meets'[^;]* for PE \d to "
                    r"reach barrier \d+ of team 0"],
        "host barrier": [host_barrier],
        "loop": [rf"{start}[^;]*ranks\.py:{lines['loop']}: kernel 'polls'[^;]* in a loop that "
                 r"reads memory"],
        "malloc": [rf"{start}aclshmem_malloc\(640 bytes\) for the other PEs of team 0"],
    }[what]  # fmt: skip


def cases():
    for kind in SAID:
        for world in (2, 3, 4, 8):
            slow = world != 2 or kind not in ("both in one rank", "a loop of the kernel's own")
            yield pytest.param(kind, world, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize("kind,world", list(cases()))
def test_a_standstill(tmp_path, kind, world):
    script = tmp_path / "ranks.py"
    text = HEAD + textwrap.dedent(BODY)
    script.write_text(text)
    lines = {
        name: next(i for i, line in enumerate(text.split("\n"), 1) if f"# the {name}" in line)
        for name in ("wait", "barrier", "loop")
    }
    command = [sys.executable, "-m", "piton", "exec", "--", sys.executable, str(script), kind]
    results = start_ranks(command, world, PITON_STANDSTILL_SECONDS="2")
    for rank, (code, output) in enumerate(results):
        assert code == 0, f"rank {rank}:\n{output}"
        raised = re.search(r"<told ([^>]*)", output)[1]
        printed = re.search(r"the job is lost: (standstill: .*)", output)[1]
        for report in (raised, printed):
            assert "standstill: all PEs wait for each other" in report, output
            for pe in range(world):
                for pattern in said(SAID[kind][pe < world - 1], pe, lines):
                    assert re.search(pattern, report), f"{pattern}\n{report}"
