# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for a whole process: import order, which driver is active, `piton exec`."""

import itertools
import os
import subprocess
import sys
import textwrap

import pytest


def run(script, *, command=(sys.executable, "-c"), **env):
    return subprocess.run(
        [*command, textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize(
    "order", list(itertools.permutations(("torch", "triton", "piton._piton"))), ids=" ".join
)
def test_imports_in_every_order(order):
    child = run(
        "".join(f"import {name}\n" for name in order)
        + "from triton._C.libtriton import ir\n"
        + "from piton import _piton\n"
        + "a, b = ir.context(), _piton.context()\n"
        + "ir.load_dialects(a); _piton.load_dialects(b)\n"
        + "assert 'module' in str(_piton.parse_mlir_text('module {}', b))\n"
        + "assert torch.ones(2).sum() == 2\n"
        + "import torch._inductor\n"
    )
    assert child.returncode == 0, child.stderr


FAKE_CUDA = """
    from triton.backends import backends
    cuda = backends["nvidia"].driver
    import torch
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *a: (9, 0)
"""


def test_active_without_an_accelerator():
    child = run("import triton; print(triton.runtime.driver.active.get_current_target().backend)")
    assert child.stdout.strip() == "npu", child.stderr


def test_a_real_cuda_driver_wins_by_default():
    child = run(
        "import triton\n"
        + textwrap.dedent(FAKE_CUDA)
        + "print(backends['npu'].driver.is_active(), cuda.is_active())"
    )
    assert child.stdout.split() == ["False", "True"], child.stderr


def test_piton_active_wins_beside_a_real_cuda_driver():
    child = run(
        "import triton\n"
        + textwrap.dedent(FAKE_CUDA)
        + "print(triton.runtime.driver.active.get_current_target().backend)",
        PITON_ACTIVE="1",
    )
    assert child.stdout.strip() == "npu", child.stderr


def test_exec_chooses_piton_and_passes_the_exit_code():
    command = (sys.executable, "-m", "piton", "exec", "--", sys.executable, "-c")
    child = run("import os, sys; print(os.environ['PITON_ACTIVE']); sys.exit(7)", command=command)
    assert (child.returncode, child.stdout.strip()) == (7, "1"), child.stderr


def test_exec_passes_signals():
    command = (sys.executable, "-m", "piton", "exec", "--", sys.executable, "-c")
    child = run("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", command=command)
    assert child.returncode == -15


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    (
        (["exec", "--", "no-such-command-here"], 127, "command not found"),
        (["exec"], 2, "usage"),
        ([], 2, "usage"),
        (["--version"], 0, ""),
    ),
)
def test_exec_usage(arguments, code, text):
    child = subprocess.run(
        [sys.executable, "-m", "piton", *arguments], capture_output=True, text=True
    )
    assert child.returncode == code and text in child.stderr


def test_tools_of_an_editable_installation_lie_beside_its_native_modules(tmp_path, monkeypatch):
    from types import SimpleNamespace

    from piton import shims

    tool = tmp_path / "bin" / "some-tool"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    native = SimpleNamespace(origin=str(tmp_path / "_runtime.so"))
    monkeypatch.setattr(shims.importlib.util, "find_spec", lambda name: native)
    assert shims.tool_path("some-tool") == tool
    with pytest.raises(FileNotFoundError, match="the tool other is not part of this installation"):
        shims.tool_path("other")
