# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package `shmem` is made of: its names, the former ones of C, `shmem-config`, messages,
and the page that lists them."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from shmem_jobs import free_port, run_job


def test_names_of_the_package():
    """Every call by type, by width and in stream order is there, in both modules."""
    run_job(
        1,
        """
        from shmem import _pyshmem, core

        names = ["aclshmemx_finalize", "aclshmemx_get_prof", "aclshmemx_show_prof"]
        numbers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
        for kind in ("float", "double", "char", *numbers):
            names += [f"aclshmem_{kind}_{form}" for form in ("iput", "iget", "p", "g")]
        for bits in (8, 16, 32, 64, 128):
            for way in ("put", "get"):
                names += [f"aclshmem_{way}{bits}", f"aclshmem_{way}{bits}_nbi"]
                names += [f"aclshmem_i{way}{bits}"]
            names += [f"aclshmem_put{bits}_signal", f"aclshmem_put{bits}_signal_nbi"]
        for form in ("putmem", "getmem", "signal_op", "signal_wait_until", "barrier", "barrier_all",
                     "quiet"):
            names.append(f"aclshmemx_{form}_on_stream")
        several = ("all", "any", "some")
        for kind in ("float", "char", *numbers):
            names += [f"aclshmem_{kind}_{form}" for form in (
                "wait", "wait_until", "test", "test_any", "test_some",
                *(f"wait_until_{which}" for which in several),
                *(f"wait_until_{which}_vector" for which in several),
                *(f"test_{which}_vector" for which in several),
            )]
        assert len(names) > 200
        for name in names:
            assert getattr(ash, name) is getattr(_pyshmem, name), name
        assert not [name for name in ash.__all__ if not hasattr(ash, name)]
        assert core.direct.ComparisonType is ash.CmpOp and core.direct.SignalOp is ash.SignalOp
        assert ash.UniqueId().version == (1 << 16) + 136 and len(ash.UniqueId().internal) == 124
        """,
    )


def test_a_second_library_is_refused(tmp_path):
    import shmem._guard as guard

    maps = tmp_path / "maps"
    maps.write_text(
        "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
        "7f0000001000-7f0000002000 r-xp 00000000 08:01 7   /opt/x/libaclshmem.so.1 (deleted)\n"
        "7f0000002000-7f0000003000 r-xp 00000000 08:01 8   /opt/x/libshmem_tools.so\n"
    )
    maps.write_text(maps.read_text().replace(" (deleted)", ""))
    with pytest.raises(ImportError, match=r"another symmetric heap, /opt/x/libaclshmem\.so\.1"):
        guard.load(str(maps))
    maps.write_text(
        "7f0000001000-7f0000002000 r-xp 00000000 08:01 7   /one/libpiton_runtime.so\n"
        "7f0000002000-7f0000003000 r--p 00001000 08:01 7   /one/libpiton_runtime.so\n"
        "7f0000003000-7f0000004000 r-xp 00000000 08:01 8   /two/libpiton_runtime.so\n"
    )
    with pytest.raises(ImportError, match="twice, /one/libpiton_runtime.so and /two/"):
        guard.load(str(maps))


# -- shmem-config ------------------------------------------------------------------------

C_PROGRAM = """
#include <piton/shmem.h>
#include <stdio.h>

int main(void) {
  shmemx_set_conf_store_tls(false, "", 0);
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.n_pes = 1;
  attr.local_mem_size = 1 << 20;
  snprintf(attr.ip_port, sizeof(attr.ip_port), "tcp://127.0.0.1:%s", PORT);
  if (shmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != ACLSHMEM_SUCCESS)
    return 1;
  int32_t *word = shmem_calloc(1, ACLSHMEM_SYNCBIT_SIZE);
  shmem_int32_p(word, 42, 0);
  shmem_barrier_all();
  printf("%d %d\\n", shmem_int32_g(word, shmem_my_pe()), (int)sizeof(aclshmemx_team_t));
  shmem_free(word);
  return shmem_finalize();
}
"""


def config(*arguments, **environment):

    return subprocess.run(
        [sys.executable, "-m", "piton.shmem_config", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_a_c_program_by_the_flags_of_shmem_config(tmp_path):
    done = config("--cflags", "--ldflags")
    assert done.returncode == 0, done.stderr
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(C_PROGRAM)
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f'-DPORT="{free_port()}"']
    command += [str(source), "-o", str(program), *done.stdout.split()]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, "42 131160\n"), ran.stderr


def test_shmem_config():
    assert config("--check").stdout == "ok\n"
    assert config("--backend").stdout == "910\n"
    assert config("--backend", TRITON_ASCEND_ARCH="Ascend950").stdout == "950\n"
    told = config("--diagnose", SHMEM_LOG_LEVEL="WARN").stdout
    assert "variable    SHMEM_LOG_LEVEL=WARN" in told and "problem     none" in told
    wrong = config("--check", TRITON_ASCEND_ARCH="Ascend1")
    assert wrong.returncode == 1 and "TRITON_ASCEND_ARCH = Ascend1 is invalid" in wrong.stderr
    assert config().returncode == 1


def test_aliases_are_those_of_the_library():

    from piton import shmem_config

    script = pathlib.Path(__file__).parents[2] / "scripts" / "make-shmem-aliases"
    library = shmem_config.library_folder() / shmem_config.LIBRARY
    assert subprocess.run([sys.executable, script, "--check", library]).returncode == 0, (
        f"run {script.name} {library}"
    )


# -- messages ----------------------------------------------------------------------------


def python_with(body, **environment):

    return subprocess.run(
        [sys.executable, "-c", "import shmem as ash\n" + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


LINE = (
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} ERROR \d+ pid\[\d+\] aclshmemx_set_log_level: level 9"
)


def test_messages_by_level_and_place(tmp_path):

    fails = "ash.set_log_level(9)"
    done = python_with(fails)
    assert re.fullmatch(LINE + r" is not in 0\.\.4\n", done.stderr) and not done.stdout
    done = python_with(fails, SHMEM_LOG_TO_STDOUT="1")
    assert re.match(LINE, done.stdout) and not done.stderr
    # The environment's level wins over the call's.
    assert not python_with("ash.set_log_level(0); " + fails, SHMEM_LOG_LEVEL="FATAL").stderr
    assert not python_with("ash.set_log_level(4); " + fails).stderr
    assert (
        "before init ends nothing"
        in python_with("ash.aclshmem_global_exit(3)", SHMEM_LOG_LEVEL="WARN").stderr
    )

    for index in range(60):
        (tmp_path / f"aclshmem_{index}_20200101000000.log").write_text("old")
    (tmp_path / "other.log").write_text("not ours")
    tmp_path.chmod(0o700)
    done = python_with(fails, SHMEM_LOG_PATH=str(tmp_path))
    if "less than 10 GiB free" in done.stderr:
        assert re.search(LINE, done.stderr)
    else:
        logs = list(tmp_path.glob("aclshmem_*.log"))
        (new,) = (log for log in logs if not log.name.endswith("_20200101000000.log"))
        assert len(logs) == 50 and (tmp_path / "other.log").exists()
        assert re.match(LINE, new.read_text()) and new.stat().st_mode & 0o777 == 0o640
    tmp_path.chmod(0o777)
    done = python_with(fails, SHMEM_LOG_PATH=str(tmp_path))
    assert "is no folder that only its owner can write to" in done.stderr


def test_a_logger_gets_every_message():
    done = python_with(
        """
        seen = []
        ash.set_extern_logger(lambda level, text: seen.append((level, text)))
        ash.set_log_level(4)
        ash.set_log_level(9)
        assert seen == [(3, "aclshmemx_set_log_level: level 9 is not in 0..4")], seen
        ash.set_extern_logger(None)
        ash.set_log_level(9)
        assert len(seen) == 1
        assert ash.info_get_version() == (1, 1) and ash.info_get_name() == "ACLSHMEM v1.1.1"
        """
    )
    assert done.returncode == 0 and not done.stderr, done.stderr


# -- the reference page -------------------------------------------------------------------


def test_the_reference_page_names_what_there_is():
    """Names in the page exist, and every name of the package and of the device module is there."""

    import shmem as ash

    root = pathlib.Path(__file__).parents[2]
    read = lambda path: (root / path).read_text()
    page = read("docs/reference/shmem.md")
    words = set(re.findall(r"\w+", page))
    headers = read("include/piton/shmem.h") + read("include/piton/shmem_types.h")
    known = set(re.findall(r"\w+", headers)) | set(dir(ash)) | {"aclshmem_x", "aclshmemx_x"}
    # Not the beginnings of families, aclshmem_put<W> and ACLSHMEM_CMP_*.
    names = set(re.findall(r"\b((?:aclshmemx?|ACLSHMEM)_\w*\w)\b(?![*<])", page))
    names = {name for name in names if not name.endswith("_")}
    assert len(names) > 50 and names <= known, names - known
    missing = set(ash.__all__) - words
    assert not missing, missing
    library = read("python/triton_dist/language/extra/ascend/libaclshmem_device.py")
    functions = set(re.findall(r"^@core\.builtin\ndef (\w+)\(", library, re.M))
    assert len(functions) > 20 and functions <= words, functions - words
    sources = "".join(path.read_text() for path in (root / "runtime").rglob("*.cpp"))
    pattern = r'"((?:SHMEM|SMEM|HCCL|PITON_SHMEM|PITON_ROCE|PITON_STAND)_\w+)"'
    variables = set(re.findall(pattern, sources))
    assert len(variables) > 9 and variables <= words, variables - words
