# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`piton exec -- CMD ...`: runs an unmodified Ascend command on simulated NPUs.

It sets the environment and replaces this process by the command: signals, exit code and standard
streams are the command's own, and its children (torchrun's workers, multiprocessing's and
pytest-xdist's) inherit everything. Nothing stays behind that could need cleaning up.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import MutableMapping
from pathlib import Path

USAGE = """\
usage: piton exec [--shadow] [--allow-cpu-tensors] [--] COMMAND [ARGUMENT ...]

Runs COMMAND with Piton as Triton's driver, with stand-ins for torch_npu and npu-smi, and as
strict as hardware about CPU tensors in a kernel launch.

  --shadow             the stand-ins win over a real torch_npu and a real npu-smi
  --allow-cpu-tensors  a launch with CPU tensors only is accepted
"""

#: What the command and its children see, whatever was set before.
ENVIRONMENT = {"PITON_ACTIVE": "1", "TRITON_DIST_PLATFORM": "ascend"}

#: The folder that holds the stand-in package torch_npu.
STANDINS = Path(__file__).parent / "standins"

#: Signals that Python ignores at start-up; the command gets them as the shell would give them.
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")


def _with_folder(value: str | None, folder: str, *, first: bool) -> str:
    """The search path `value` with `folder` at one end, once."""
    # An empty part means the current folder and stays.
    parts = [part for part in value.split(os.pathsep) if part != folder] if value else []
    parts.insert(0 if first else len(parts), folder)
    return os.pathsep.join(parts)


def prepare(
    environ: MutableMapping[str, str], *, shadow: bool = False, allow_cpu_tensors: bool = False
) -> None:
    """Changes `environ` into what a command under `piton exec` sees. Doing it twice is harmless.

    The folder of the stand-ins has to come first on PYTHONPATH (all of it precedes the installed
    packages), so the stand-in itself steps aside for a real torch_npu. On PATH the last place
    does that.
    """
    environ.update(ENVIRONMENT)
    environ["PITON_REFUSE_CPU_TENSORS"] = "0" if allow_cpu_tensors else "1"
    if shadow:
        environ["PITON_SHADOW_TORCH_NPU"] = "1"
    environ["PYTHONPATH"] = _with_folder(environ.get("PYTHONPATH"), str(STANDINS), first=True)

    # A Piton that was called by its path means the Python beside it, unless the user's PATH
    # already says which one comes first.
    path = environ.get("PATH", os.defpath)
    beside = str(Path(sys.executable).parent)
    if sys.executable and beside not in path.split(os.pathsep):
        path = _with_folder(path, beside, first=True)
    from .shims import tool_path

    try:
        tools = str(tool_path("npu-smi").parent)
    except FileNotFoundError as error:
        print(f"piton exec: warning: {error}", file=sys.stderr)
    else:
        path = _with_folder(path, tools, first=shadow)
    environ["PATH"] = path


def execute(command: list[str]) -> int:
    """Replaces this process by `command`. Returns 127 or 126, as a shell, if it cannot start."""
    name = command[0]
    for ignored in _IGNORED_BY_PYTHON:
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(name, command)
    except FileNotFoundError:
        if os.path.sep in name and Path(name).exists():
            print(f"piton exec: {name}: its interpreter was not found", file=sys.stderr)
            return 126
        print(f"piton exec: {name}: command not found", file=sys.stderr)
        return 127
    except OSError as error:
        hint = f"; try: piton exec -- python {name}" if name.endswith(".py") else ""
        reason = "is a directory" if Path(name).is_dir() else error.strerror
        if error.errno == errno.ENOEXEC:
            reason = "neither a program nor a script that starts with #!"
        print(f"piton exec: {name}: {reason}{hint}", file=sys.stderr)
        return 126
    except ValueError as error:  # a null byte in an argument
        print(f"piton exec: {name!r}: {error}", file=sys.stderr)
        return 126


def main(arguments: list[str]) -> int:
    """`piton exec` with the arguments after that word. Returns only when nothing was started."""
    options = {"--shadow": False, "--allow-cpu-tensors": False}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--":
            break
        if option in ("-h", "--help"):
            print(USAGE, end="")
            return 0
        if option not in options:
            print(f"piton exec: unknown option {option}\n{USAGE}", end="", file=sys.stderr)
            return 2
        options[option] = True
    if not rest or not rest[0]:
        print(f"piton exec: the command is missing\n{USAGE}", end="", file=sys.stderr)
        return 2
    prepare(
        os.environ,
        shadow=options["--shadow"],
        allow_cpu_tensors=options["--allow-cpu-tensors"],
    )
    return execute(rest)
