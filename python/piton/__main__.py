# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`piton exec -- CMD ...`: runs CMD with Piton as the active Triton driver.

The command replaces this process, so signals, exit code and standard streams are its own,
and its children (the workers of torchrun, say) inherit the choice.
"""

from __future__ import annotations

import os
import sys

USAGE = "usage: piton exec [--] COMMAND [ARGUMENT ...]\n       piton --version"

#: What `piton exec` sets for the command and its children.
ENVIRONMENT = {"PITON_ACTIVE": "1", "TRITON_DIST_PLATFORM": "ascend"}


def execute(command: list[str]) -> int:
    """Replaces this process by `command`. Returns 127 or 126 if it cannot be started."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"piton exec: {command[0]}: command not found", file=sys.stderr)
        return 127
    except OSError as error:
        print(f"piton exec: {command[0]}: {error.strerror}", file=sys.stderr)
        return 126


def main(arguments: list[str] | None = None) -> int:
    """Entry of the console script `piton`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        from ._version import __version__

        print(f"piton {__version__}")
        return 0
    if not arguments or arguments[0] != "exec":
        print(USAGE, file=sys.stderr)
        return 2
    command = arguments[1:]
    if command and command[0] == "--":
        command = command[1:]
    if not command:
        print(USAGE, file=sys.stderr)
        return 2
    return execute(command)


if __name__ == "__main__":
    sys.exit(main())
