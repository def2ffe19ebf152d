# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads native modules so that no signal's handler runs while they initialise.

Their enumerations are made by Python code, and an exception in it, as a KeyboardInterrupt, would
end the process: nanobind aborts.
"""

from __future__ import annotations

import contextlib
import importlib
import signal
import threading


@contextlib.contextmanager
def held():
    """Signals with a handler in Python are noted, and come when the block has ended.

    Only the main thread runs such handlers; on others nothing is to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came, handlers = [], {}
    try:
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):  # neither of the system's own
                handlers[number] = handler
                signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        _restore(handlers)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


def _restore(handlers):
    """All of them, also when one that is back raises meanwhile."""
    raised = None
    while handlers:
        try:
            number = next(iter(handlers))
            signal.signal(number, handlers[number])
            del handlers[number]
        except BaseException as error:
            raised = error
    if raised:
        raise raised


def load(name: str):
    """The native module `name`."""
    with held():
        return importlib.import_module(name)
