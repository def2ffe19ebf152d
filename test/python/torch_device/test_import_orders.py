# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device as a guest of `import torch`: import orders, switches, other versions, forks."""

import itertools
import os
import sys

import pytest

USE = """
import torch, triton, triton.language as tl
@triton.jit
def double(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)
"""


@pytest.mark.parametrize(
    "order",
    [
        order
        for order in itertools.permutations(("torch", "triton", "piton", "numpy"))
        if order.index("piton") < 3 or order[0] == "torch"
    ][::4],
    ids="-".join,
)
def test_import_orders(script, order):
    code = "\n".join(f"import {name}" for name in order)
    code += (
        "\nimport torch\nx = torch.ones(4, device='npu')\nassert (x + x).tolist() == [2] * 4"
        "\nfrom triton.runtime import driver\n"
        "assert driver.active.get_active_torch_device().type == 'npu'\nprint('fine')"
    )
    status, output = script(code)
    assert status == 0 and output.endswith("fine\n"), output


@pytest.mark.parametrize("first", ["piton_torch", "piton_torch.device", "piton_torch.autoload"])
def test_the_package_may_come_first(script, first):
    status, output = script(
        f"import {first}\nimport torch\nassert torch.ones(1, device='npu').is_npu\nprint('fine')"
    )
    assert status == 0 and output == "fine\n", output


def test_autoload_can_be_turned_off(script):
    code = (
        "import torch\nassert not hasattr(torch, 'npu')\n"
        "import piton_torch.device\nassert torch.ones(1, device='npu').is_npu\nprint('fine')"
    )
    status, output = script(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert status == 0 and output == "fine\n", output


@pytest.mark.parametrize("version", ["2.12.1", "2.14.0+cpu", "3.0.0a0"])
def test_another_torch_gets_a_warning(script, version):
    """A torch of another minor version imports as if there were no device."""
    code = "import sys, types, importlib.abc, importlib.util\nimport torch.version as v\n"
    # The version is changed while torch is imported: torch.version is its first import.
    code = f"""
import importlib.machinery, importlib.util, sys
class Other(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        module.__version__ = {version!r}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "torch.version" and name != "torch.torch_version":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if name == "torch.version":
            spec.loader = Other(name, spec.origin)
        return spec
sys.meta_path.insert(0, Finder())
import torch
assert str(torch.__version__) == {version!r}, torch.__version__
assert not hasattr(torch, "npu")
assert (torch.ones(2) + 1).tolist() == [2, 2]
print("fine")
"""
    status, output = script(code)
    assert status == 0 and output.endswith("fine\n"), output
    warning = [line for line in output.splitlines() if "RuntimeWarning" in line]
    assert len(warning) == 1 and f"this is torch {version}" in warning[0]
    assert "built for torch 2.13" in warning[0] and "pip install" in warning[0]


def test_a_broken_library_gets_a_warning(script):
    code = """
import sys
sys.modules["piton_torch._build"] = None
import torch
assert not hasattr(torch, "npu") and torch.ones(1).item() == 1
print("fine")
"""
    status, output = script(code)
    assert status == 0 and output.endswith("fine\n"), output
    assert output.count("Piton's npu device could not be loaded") == 1


@pytest.mark.parametrize(
    "name, value", [("PITON_DEVICE_COUNT", "many"), ("TRITON_ASCEND_ARCH", "H100")]
)
def test_a_wrong_environment_gets_a_warning(script, name, value):
    code = "import torch\nassert torch.ones(1).item() == 1\nprint('fine')"
    status, output = script(code, **{name: value})
    assert status == 0 and output.endswith("fine\n"), output
    assert output.count("could not be loaded") == 1 and value in output


def test_device_count_and_soc(script):
    code = (
        "import torch\nprint(torch.npu.device_count(), torch.npu.mem_get_info(1)[1] >> 30)\n"
        "torch.ones(1, device='npu:2')"
    )
    status, output = script(code, PITON_DEVICE_COUNT="2", TRITON_ASCEND_ARCH="Ascend910B4")
    assert status == 1 and output.startswith("2 32\n"), output
    assert "invalid device ordinal 2; there are 2 devices" in output


def test_no_toolchain(script, tmp_path):
    """Only torch, piton and the device are needed: no compiler, no PATH."""
    status, output = script(
        "import torch\nx = torch.randn(8, 8, device='npu')\nprint((x @ x).device)",
        PATH=str(tmp_path),
        CC=None,
        CXX=None,
    )
    assert status == 0 and output == "npu:0\n", output


def test_a_forked_process_can_use_its_tensors(script):
    code = """
import os, torch
x = torch.randn(600, 600, device="npu")
y = x @ x                      # starts torch's threads in the parent
child = os.fork()
if child == 0:
    z = x @ x                  # big enough for threads, which the child has not
    ok = torch.allclose(z.cpu(), y.cpu()) and torch.ones(3, device="npu:4").sum().item() == 3
    x.fill_(0)
    os._exit(0 if ok else 1)
status = os.waitpid(child, 0)[1]
assert status == 0, status
assert x.abs().sum().item() > 0
print("fine")
"""
    status, output = script(code)
    assert status == 0 and output == "fine\n", output


def test_dataloader_workers(script):
    code = """
import torch
x = torch.arange(6.0, device="npu")
class Data(torch.utils.data.Dataset):
    def __len__(self): return 6
    def __getitem__(self, i): return (x[i] * 2).cpu()
loader = torch.utils.data.DataLoader(Data(), batch_size=3, num_workers=2)
print([batch.tolist() for batch in loader])
"""
    status, output = script(code)
    assert status == 0 and output == "[[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]\n", output


def test_import_is_quick(script):
    """At most 30 ms more than without the device. Processor time, and a looser bound: the machine
    may be busy."""
    code = """
import time, torch
start = time.process_time()
import piton_torch.device
print((time.process_time() - start) * 1000)
"""
    times = []
    for _ in range(3):
        status, output = script(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        assert status == 0, output
        times.append(float(output))
    assert min(times) < 300, times


def test_extension_is_not_bound_to_a_python_version():
    import importlib.util

    path = importlib.util.find_spec("piton_torch._npu").origin
    with open(path, "rb") as file:
        library = file.read()
    assert b"PyObject_" not in library and b"Py_Initialize" not in library
    assert os.path.basename(path) == "_npu.so" and sys.version_info >= (3, 10)
