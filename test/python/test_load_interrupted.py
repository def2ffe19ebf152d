# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while a native module makes its enumerations, which Python code does for it."""

import subprocess
import sys

import pytest

SCRIPT = """
import enum, signal, sys
sent = []
handler = signal.signal(signal.SIGUSR1, lambda *_: sent.append("SIGUSR1"))
signal.signal(signal.SIGINT, signal.default_int_handler)
stock = enum.EnumMeta.__call__

def call(cls, *arguments, **options):
    if arguments and arguments[0] in {names}:
        sent.append(arguments[0])
        signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGINT)
    return stock(cls, *arguments, **options)

enum.EnumMeta.__call__ = call
try:
    {statement}
    print("not raised")
except KeyboardInterrupt:
    print("raised", sent)
enum.EnumMeta.__call__ = stock
{statement}
print("loaded", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize(
    "statement,names",
    [
        ("from piton import _piton", ["SIGNAL_OP", "COMM_SCOPE"]),
        ("import shmem", ["OpEngineType", "InitStatus", "MemType"]),
    ],
)
def test_an_interrupt_in_a_module_that_loads(statement, names):
    script = SCRIPT.replace("{names}", repr(names)).replace("{statement}", statement)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"raised {[*names, 'SIGUSR1']}", "loaded True"]
