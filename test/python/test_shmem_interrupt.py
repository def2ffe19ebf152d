# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C in calls of `shmem` that wait for other PEs: one KeyboardInterrupt, and the others learn
of it."""

import subprocess
import sys
import textwrap

import pytest
from test_shmem import PREAMBLE, free_port

BODY = """
import os, signal, threading, time

kind = sys.argv[4]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it


def connections():
    '''What PE 0 has, its own included: lines "0: 0100007F:8235 0100007F:A1B2 01 ...".'''
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def interrupt():
    while kind == "init" and connections() < 2:  # or PE 0 would not know whom to name
        time.sleep(0.01)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(call):
    print("<waits>", flush=True)
    threading.Thread(target=interrupt, daemon=True).start()
    times = 0
    try:
        try:
            call()
        except KeyboardInterrupt:
            times += 1
        time.sleep(0.3)
    except KeyboardInterrupt:
        times += 1
    print(f"<interrupted {times}>", flush=True)


def told(call):
    try:
        result = call()
        if result:
            raise RuntimeError(ash.last_error())
    except RuntimeError as error:
        print(f"<told {error}>", flush=True)


run = interrupted if rank == 1 else told
if kind == "init":
    world += 1  # one never comes
    run(init)
    sys.exit()
assert init() == 0
word = ash.aclshmem_calloc(16, 4)
ash.barrier_all()
calls = {
    "wait": lambda: ash.aclshmem_signal_wait_until(word, 0, 1),
    "barrier": ash.barrier_all,
    "malloc": lambda: ash.aclshmem_malloc(64),
    "finalize": ash.aclshmem_finalize,
}
run(calls[kind] if rank == 1 else calls["wait"])
"""


@pytest.mark.parametrize("kind", ["init", "wait", "barrier", "malloc", "finalize"])
def test_ctrl_c(kind):
    port = free_port()
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + textwrap.dedent(BODY), str(pe), "2", str(port), kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for pe in range(2)
    ]
    try:
        outputs = [child.communicate(timeout=110)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    assert "<interrupted 1>" in outputs[1], outputs
    assert "<told " in outputs[0] and "PE 1 (pid" in outputs[0], outputs
    assert [child.returncode for child in children] == [0, 0], outputs
