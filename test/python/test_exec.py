# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`piton exec`: environment, search paths, signals, exit codes, and who wins over the stand-ins.

Nothing here imports torch; what commands do with the device is in test_exec_torch.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from piton import exec as piton_exec
from piton.shims import tool_path

PITON = [sys.executable, "-m", "piton"]


def run(*arguments, **env):
    """`piton ARGUMENT ...` in a clean state: not itself under `piton exec`."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "TRITON_DIST"))}
    return subprocess.run(
        [*PITON, *arguments], capture_output=True, text=True, timeout=300, env={**inherited, **env}
    )


def seen(*options, **env):
    """The environment of a command under `piton exec`."""
    child = run(
        "exec", *options, "--", sys.executable, "-c",
        "import json, os; print(json.dumps(dict(os.environ)))", **env,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_what_a_command_sees():
    env = seen(TRITON_DIST_PLATFORM="cuda", PITON_ACTIVE="0")
    assert env["PITON_ACTIVE"] == "1"
    assert env["TRITON_DIST_PLATFORM"] == "ascend"
    assert env["PITON_REFUSE_CPU_TENSORS"] == "1"
    assert env["PYTHONPATH"].split(os.pathsep)[0] == str(piton_exec.STANDINS)
    assert "PITON_SHADOW_TORCH_NPU" not in env


def test_options():
    env = seen("--shadow", "--allow-cpu-tensors")
    assert env["PITON_SHADOW_TORCH_NPU"] == "1"
    assert env["PITON_REFUSE_CPU_TENSORS"] == "0"


def test_exec_twice_is_exec_once():
    once = {"PATH": "/usr/bin", "PYTHONPATH": "/a:/b"}
    piton_exec.prepare(once)
    twice = dict(once)
    piton_exec.prepare(twice)
    assert once == twice


def test_search_paths_keep_the_users_order():
    env = {"PATH": "/one:/two", "PYTHONPATH": "/a::/b"}  # an empty part: the current folder
    piton_exec.prepare(env)
    path = env["PATH"].split(":")
    assert path.index("/one") + 1 == path.index("/two")
    assert path[0] == os.path.dirname(sys.executable)  # it was not there: the Python beside Piton
    assert path[-1] == str(tool_path("npu-smi").parent)  # a real npu-smi is found before
    assert env["PYTHONPATH"].split(":")[1:] == ["/a", "", "/b"]
    known = {"PATH": f"/one:{os.path.dirname(sys.executable)}"}
    piton_exec.prepare(known, shadow=True)
    assert known["PATH"].split(":")[1] == "/one"


def test_npu_smi_of_a_command():
    child = run("exec", "npu-smi", "info")
    assert child.returncode == 0 and "910B3" in child.stdout, child.stderr


def test_a_real_npu_smi_wins_unless_asked(tmp_path):
    real = tmp_path / "npu-smi"
    real.write_text("#!/bin/sh\necho the real one\n")
    real.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert run("exec", "npu-smi", "info", PATH=path).stdout == "the real one\n"
    assert "910B3" in run("exec", "--shadow", "npu-smi", "info", PATH=path).stdout


@pytest.fixture
def real_torch_npu(tmp_path):
    """A folder with a package torch_npu that is not Piton's; it needs no torch."""
    package = tmp_path / "torch_npu"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import WHO\n")
    (package / "inner.py").write_text("WHO = 'the real one'\n")
    return tmp_path


def test_a_real_torch_npu_wins(real_torch_npu):
    # The place of installed packages: behind everything on PYTHONPATH.
    script = (
        f"import sys; sys.path.append({str(real_torch_npu)!r})\n"
        "import torch_npu, torch_npu.inner; print(torch_npu.WHO, torch_npu.inner.WHO)"
    )
    child = run("exec", "--", sys.executable, "-c", script)
    assert child.stdout == "the real one the real one\n", child.stderr


def test_a_folder_of_that_name_is_no_real_torch_npu(tmp_path):
    (tmp_path / "torch_npu").mkdir()
    script = (
        f"import sys; sys.path.append({str(tmp_path)!r})\n"
        "import importlib.util as u; print(u.find_spec('torch_npu').origin)"
    )
    child = run("exec", "--", sys.executable, "-c", script)
    assert child.stdout.startswith(str(piton_exec.STANDINS)), child.stderr


def test_a_second_stand_in_is_no_real_torch_npu(tmp_path, real_torch_npu):
    other = tmp_path / "other"
    shutil.copytree(piton_exec.STANDINS, other)
    script = (
        f"import sys; sys.path[1:1] = [{str(other)!r}]; sys.path.append({str(real_torch_npu)!r})\n"
        "import torch_npu; print(torch_npu.WHO)"
    )
    child = run("exec", "--", sys.executable, "-c", script)
    assert child.stdout == "the real one\n", child.stderr


def test_without_torch_the_stand_in_says_so(real_torch_npu):
    blocked = "import sys; sys.modules['torch'] = None\nimport torch_npu"
    child = run("exec", "--", sys.executable, "-c", blocked)
    assert child.returncode == 1 and "torch" in child.stderr.splitlines()[-1]


@pytest.mark.parametrize("code", (0, 1, 7, 255))
def test_exit_codes(code):
    assert run("exec", "sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT, signal.SIGKILL))
def test_signals_reach_the_command(number):
    # The command is the process itself, so its parent signals it directly.
    child = subprocess.Popen(
        [*PITON, "exec", "--", "sh", "-c", "echo up; exec sleep 60"],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert child.stdout.readline() == b"up\n"
    child.send_signal(number)
    assert child.wait(30) == -number


def test_signals_that_python_ignores_are_restored():
    # Were SIGPIPE still ignored, `yes` would write on and complain instead of ending silently.
    child = run("exec", "sh", "-c", "grep SigIgn /proc/self/status")
    ignored = int(child.stdout.split()[1], 16)
    assert not ignored >> (signal.SIGPIPE - 1) & 1
    assert not ignored >> (signal.SIGXFSZ - 1) & 1


def test_standard_streams_are_the_commands_own():
    child = subprocess.run(
        [*PITON, "exec", "--", "cat"], input=b"a\0b", capture_output=True, timeout=60
    )
    assert (child.stdout, child.stderr) == (b"a\0b", b"")


def test_options_of_the_command_are_its_own():
    child = run("exec", sys.executable, "-c", "import sys; print(sys.argv)", "--shadow", "--")
    assert child.stdout.strip() == "['-c', '--shadow', '--']", child.stderr


def test_nested_exec():
    inner = [*PITON, "exec", "--", sys.executable, "-c", "import os; print(os.environ['PATH'])"]
    child = run("exec", "--", *inner)
    path = child.stdout.strip().split(os.pathsep)
    assert child.returncode == 0 and path.count(str(tool_path("npu-smi").parent)) == 1


def bad_commands(folder):
    plain = folder / "plain.txt"
    plain.write_text("echo never\n")
    script = folder / "script.py"
    script.write_text("print('never')\n")
    orphan = folder / "orphan.sh"
    orphan.write_text("#!/no/such/interpreter\n")
    orphan.chmod(0o755)
    bare = folder / "bare"
    bare.write_text("echo never\n")
    bare.chmod(0o755)
    return [
        (["exec", "--", "no-such-command-here"], 127, "no-such-command-here: command not found"),
        (["exec", "--", str(folder / "nothing")], 127, "command not found"),
        (["exec", "--", str(folder)], 126, "is a directory"),
        (["exec", "--", str(plain)], 126, "Permission denied"),
        (["exec", "--", str(script)], 126, f"try: piton exec -- python {script}"),
        (["exec", "--", str(orphan)], 126, "interpreter was not found"),
        (["exec", "--", str(bare)], 126, "neither a program nor a script"),
        (["exec", "--"], 2, "the command is missing"),
        (["exec", "--", ""], 2, "the command is missing"),
        (["exec"], 2, "the command is missing"),
        (["exec", "--no-such-option", "true"], 2, "unknown option --no-such-option"),
        (["exce", "true"], 2, "usage: piton exec"),
    ]


def test_bad_commands(tmp_path):
    for arguments, code, text in bad_commands(tmp_path):
        child = run(*arguments)
        assert child.returncode == code, (arguments, child.stderr)
        assert text in child.stderr, (arguments, child.stderr)
        assert "Traceback" not in child.stderr and "never" not in child.stdout
