# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unmodified Ascend programs under `piton exec`: a script, pytest with workers, torchrun."""

import os
import pathlib
import subprocess
import sys
import textwrap

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "npu"
PITON = [sys.executable, "-m", "piton"]


def run(*command, cwd=None, timeout=600, **env):
    """`piton exec -- COMMAND`, started outside of any `piton exec`."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PITON_", "PYTEST_"))}
    return subprocess.run(
        [*PITON, "exec", "--", *map(str, command)],
        capture_output=True, text=True, cwd=cwd, timeout=timeout, env={**inherited, **env},
    )  # fmt: skip


SCRIPT = """
import multiprocessing
import shutil
import torch
import torch_npu
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, 2 * tl.load(x_ptr + lanes, lanes < n), lanes < n)


def child(queue):
    import torch_npu

    torch.npu.set_device(1)
    queue.put(torch.ones(3).npu().sum().item())


def refused(*tensors):
    try:
        double_kernel[(1,)](*tensors, 100, BLOCK=128)
    except ValueError as error:
        return "cpu tensor?" in str(error)
    return False


if __name__ == "__main__":
    assert shutil.which("npu-smi")
    x = torch.randn(100).npu()
    out = torch.empty_like(x)
    double_kernel[(1,)](x, out, 100, BLOCK=128)
    torch.npu.synchronize()
    torch.testing.assert_close(out, x + x)
    assert refused(x.cpu(), out.cpu()) and refused(x, out.cpu())
    double_kernel[(1,)](x, out, 100, BLOCK=128)  # the process lives on
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    process = spawn.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=300) == 3.0
    process.join()
    print("done", torch_npu.__version__)
    raise SystemExit(5)
"""


def test_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    child = run("python", script)
    assert child.returncode == 5 and child.stdout.startswith("done"), child.stdout + child.stderr


def test_a_script_without_autoload(tmp_path):
    code = """
        import sys
        import torch
        assert not hasattr(torch, "npu")
        sys.modules["piton_torch.device"] = None
        try:
            import torch_npu
        except ImportError as error:
            assert "install piton-torch, built for this torch (2." in str(error), error
        else:
            raise AssertionError("torch_npu without a device")
        del sys.modules["piton_torch.device"]
        import torch_npu
        assert torch.ones(2).npu().is_npu and torch_npu.npu.device_count() > 1
        print("done")
    """
    child = run("python", "-c", textwrap.dedent(code), TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert child.stdout == "done\n", child.stdout + child.stderr


CONFTEST = """
import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def assign_npu(worker_id):
    torch.npu.set_device(0 if worker_id == "master" else int(worker_id[2:]))
"""
SUITE = """
import torch


def test_add():
    x = torch.ones(4).npu()
    assert x.device.index == torch.npu.current_device()
    assert (x + 1).cpu().tolist() == [2.0] * 4


def test_strict():
    from piton import env
    assert env.flag("PITON_REFUSE_CPU_TENSORS")
    import torch_npu
"""


def test_pytest_with_workers(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(SUITE)
    child = run(
        "python", "-m", "pytest", "-q", "-n", "2", "--dist=loadfile", "-p", "no:cacheprovider",
        cwd=tmp_path,
    )  # fmt: skip
    assert child.returncode == 0 and "4 passed" in child.stdout, child.stdout + child.stderr


def test_torchrun_trains_over_hccl():
    child = run(
        "torchrun", "--nproc-per-node=2", "--standalone", EXAMPLES / "ddp.py",
        OMP_NUM_THREADS="1",
    )  # fmt: skip
    assert child.returncode == 0, child.stdout + child.stderr
    assert "2 ranks trained the weights of one process" in child.stdout
