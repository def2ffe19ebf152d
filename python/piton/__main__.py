# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `piton`: `piton exec -- CMD ...` runs CMD on simulated NPUs (see exec.py)."""

from __future__ import annotations

import sys

USAGE = "usage: piton exec [--] COMMAND [ARGUMENT ...]\n       piton --version"


def main(arguments: list[str] | None = None) -> int:
    """Entry of the console script `piton`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        from ._version import __version__

        print(f"piton {__version__}")
        return 0
    if arguments and arguments[0] == "exec":
        from .exec import main as exec_main

        return exec_main(arguments[1:])
    help_wanted = arguments and arguments[0] in ("-h", "--help")
    print(USAGE, file=sys.stdout if help_wanted else sys.stderr)
    return 0 if help_wanted else 2


if __name__ == "__main__":
    sys.exit(main())
