# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`shmem-config`: where the symmetric heap's header and library are, for build scripts.

It imports neither `shmem` nor a native module, so that it can say what is wrong with them.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from . import env
from ._version import __version__

LIBRARY = "libpiton_runtime.so"
_PACKAGE = Path(__file__).parent


def _native() -> Path:
    """The folder of the package's native modules; in an editable installation another one."""
    spec = importlib.util.find_spec("piton._runtime")
    return Path(spec.origin).parent if spec and spec.origin else _PACKAGE


def _first(candidates, wanted: str) -> Path | None:
    return next((path for path in candidates if (path / wanted).exists()), None)


def include_folder() -> Path | None:
    """The folder that holds piton/shmem.h: of the installation, or of the clone."""
    clone = Path(__file__).resolve().parents[2] / "include"
    return _first((_native() / "include", clone), "piton/shmem.h")


def library_folder() -> Path | None:
    """The folder that holds libpiton_runtime.so: of the installation, or of the build tree."""
    return _first((_native() / "lib", _native().parents[1] / "runtime"), LIBRARY)


def backend() -> str:
    """The generation of the simulated SoC: 950 or 910."""
    return "950" if env.arch().startswith(("Ascend950", "Ascend910_95")) else "910"


def problems() -> list[str]:
    """What is missing, one line each."""
    found = []
    if not include_folder():
        found.append(f"piton/shmem.h is in neither {_native()}/include nor a clone")
    if not library_folder():
        found.append(f"{LIBRARY} is in neither {_native()}/lib nor a build tree")
    native = _native().parent / "shmem"
    if not any(native.glob("_pyshmem*.so")):
        found.append(f"the native module _pyshmem is not in {native}")
    try:
        env.arch()
    except ValueError as error:
        found.append(str(error))
    return found


def diagnosis() -> str:
    """Everything that a report of a problem needs."""
    return "\n".join(
        [
            f"version     {__version__}",
            f"python      {sys.version.split()[0]} ({sys.executable})",
            f"package     {_PACKAGE}",
            f"header      {include_folder() or 'missing'}",
            f"library     {library_folder() or 'missing'}",
            *(
                f"variable    {name}={value}"
                for name, value in sorted(os.environ.items())
                if name.startswith(("SHMEM_", "PITON_", "TRITON_ASCEND_", "SMEM_"))
            ),
            *(f"problem     {line}" for line in problems() or ["none"]),
        ]
    )


def _flags(options) -> list[str]:
    include, library = include_folder(), library_folder()
    out = []
    if options.include:
        out.append(str(include))
    if options.cflags:
        out.append(f"-I{include}")
    if options.lib:
        out.append(str(library))
    if options.ldflags:
        out.append(f"-L{library} -lpiton_runtime -Wl,-rpath,{library}")
    if options.rpath:
        out.append(f"-Wl,-rpath,{library}")
    if options.backend:
        out.append(backend())
    return out


def main(arguments: list[str] | None = None) -> int:
    """The command. 1 if something that was asked for, or for --check anything, is missing."""
    parser = argparse.ArgumentParser(prog="shmem-config", description=__doc__.splitlines()[0])
    for name, text in (
        ("include", "folder of piton/shmem.h"),
        ("cflags", "the compiler's flag for it"),
        ("lib", f"folder of {LIBRARY}"),
        ("ldflags", "the linker's flags for it"),
        ("rpath", "the linker's flag that lets programs find it"),
        ("backend", "910 or 950: the generation of the simulated SoC"),
        ("check", "whether all parts are there"),
        ("diagnose", "all of this, the variables that matter, and what is wrong"),
        ("version", "version of the distribution"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    options = parser.parse_args(arguments)
    if not any(vars(options).values()):
        parser.print_help()
        return 1
    if options.version:
        print(__version__)
    if options.diagnose:
        print(diagnosis())
    wrong = problems()
    wants_files = any(
        (options.include, options.cflags, options.lib, options.ldflags, options.rpath)
    )
    if wrong and (options.check or options.backend or wants_files):
        for line in wrong:
            print(f"shmem-config: error: {line}", file=sys.stderr)
        return 1
    if options.check:
        print("ok")
    flags = _flags(options)
    if flags:
        print(" ".join(flags))
    return 0


if __name__ == "__main__":
    sys.exit(main())
