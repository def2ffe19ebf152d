# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bisheng back end against the real Ascend compiler of the wheel ascendnpu-ir.

Its closed last tool is replaced by the stand-in of test/tools/hivmc-stand-in, so that what is
proved is acceptance, up to and including the module that the last tool gets.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

from piton import bisheng
from piton.errors import MLIRCompilationError
from piton.options import NPUOptions

_piton = pytest.importorskip("piton._piton")

TEST = pathlib.Path(__file__).parent.parent
STAND_IN = TEST / "tools" / "hivmc-stand-in"
HANDOVER = sorted((TEST / "compiler" / "Dialect" / "HIVM" / "handover").glob("*.mlir"))
INPUTS = TEST / "compiler" / "Target" / "Bisheng" / "Inputs"
TOO_LARGE = INPUTS / "too-large.mlir"
FORMS = sorted(set(INPUTS.glob("*.mlir")) - {TOO_LARGE})
TARGETS = {"c220": "Ascend910B3", "a5": "Ascend950"}

#: Modules that only one of the compilers takes, as their second line says.
ONLY_A5 = {"bi-atomic-add", "h-indirect-load"}
ONLY_C220 = {
    "atst-and-i32", "dist-mix-wait", "dist-notify-wait", "dist-putmem", "dist-rank",
    "dist-wait-loop",
}  # fmt: skip

needs_wheel = pytest.mark.skipif(
    bisheng._wheel_folder() is None,
    reason="the wheel ascendnpu-ir 1.2.0 (extra `bisheng`) is not installed",
)


def options(family="c220", **given):
    return NPUOptions(arch=TARGETS[family], **given)


def printed(path, family):
    """The hand-over text for one compiler, through the tool that users have."""
    tool = shutil.which("piton-compile")
    if tool is None:
        pytest.skip("piton-compile is not on PATH (scripts/test puts it there)")
    command = [tool, str(path), "--from=ttadapter", "--emit=bisheng-mlir"]
    command += [f"--target={TARGETS[family]}", "--reproducer=none"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Folder in which the stand-in leaves the module that the last tool got."""
    monkeypatch.setenv("BISHENG_INSTALL_PATH", str(STAND_IN))
    monkeypatch.setenv("PITON_HIVMC_CAPTURE", str(tmp_path))
    monkeypatch.delenv("TRITON_NPU_COMPILER_PATH", raising=False)
    return tmp_path


# -- Flags ---------------------------------------------------------------------------------------


def flags(family="c220", text="", **given):
    return bisheng.flags(text, options(family, **given), TARGETS[family], family == "a5")


@pytest.mark.parametrize("family", TARGETS)
def test_flags_that_are_always_sent(family, monkeypatch):
    monkeypatch.delenv("TRITON_DISABLE_LINE_INFO", raising=False)
    sent = flags(family)
    for flag in (
        f"--target={TARGETS[family]}",
        "--enable-hfusion-compile=true",
        "--enable-triton-kernel-compile=true",
        "--enable-auto-multi-buffer=True",
        "--enable-auto-bind-sub-block=True",
        "--enable-debug-info=true",
    ):
        assert flag in sent
    assert ("--disable-ffts" in sent) == (family == "a5")
    assert ("--enable-hivm-compile=true" in sent) == (family == "c220")


def test_line_info_can_be_left_out(monkeypatch):
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    assert not any("debug-info" in flag for flag in flags())


def test_options_become_flags():
    sent = flags(
        multibuffer=False, sync_solver=True, unit_flag=False, tile_mix_cube_loop=4,
        limit_auto_multi_buffer_of_local_buffer="no-limit", set_workspace_multibuffer=2,
    )  # fmt: skip
    for flag in (
        "--enable-auto-multi-buffer=False",
        "--enable-hivm-graph-sync-solver=True",
        "--enable-hivm-cross-core-gss=True",
        "--enable-hivm-unit-flag-sync=False",
        "--tile-mix-cube-loop=4",
        "--limit-auto-multi-buffer-of-local-buffer=no-limit",
        "--set-workspace-multibuffer=2",
    ):
        assert flag in sent
    assert "--enable-hivm-cross-core-gss=True" not in flags("a5", sync_solver=True)


def test_options_of_the_950_compiler_stay_away_from_the_other():
    given = {"enable_mixed_cv": True, "enable_flatten": True, "enable_vf_fusion": True}
    assert {"--enable-mixed-cv=True", "--enable-flatten=True", "--enable-vf-fusion"} <= set(
        flags("a5", **given)
    )
    for flag in flags("c220", **given):
        assert not any(word in flag for word in ("mixed-cv", "flatten", "vf-"))


def test_multi_buffering_stays_off_for_while_loops_on_950():
    text = "scf.while : () -> () {"
    assert "--enable-auto-multi-buffer=False" in flags("a5", text)
    assert "--enable-auto-multi-buffer=True" in flags("c220", text)


def test_marks_of_the_module_become_flags():
    sent = flags(text='attributes {bitcode = "my.bc", hivm.disable_auto_tile_and_bind_subblock}')
    assert "--link-aicore-bitcode=my.bc" in sent
    assert "--enable-auto-bind-sub-block=False" in sent


@needs_wheel
@pytest.mark.parametrize("family", TARGETS)
def test_every_flag_is_one_that_the_compiler_knows(family, stand_in):
    """An unknown flag is fatal, or prints the help text and leaves no output."""
    given = {
        "multibuffer": True,
        "enable_hivm_auto_cv_balance": True,
        "sync_solver": True,
        "unit_flag": True,
        "inject_barrier_all": False,
        "inject_block_all": False,
        "set_workspace_multibuffer": 2,
        "limit_auto_multi_buffer_only_for_local_buffer": True,
        "tile_mix_vector_loop": 2,
        "limit_auto_multi_buffer_of_local_buffer": "no-l0c",
        "tile_mix_cube_loop": 2,
        "disable_auto_inject_block_sync": False,
        "enable_nd2nz_on_vector": True,
        "enable_ubuf_saving": False,
        "enable_mixed_cv": False,
        "enable_vf_fusion": True,
        "disable_tightly_coupled_buffer_reuse": True,
        "enable_drop_unit_dims": False,
        "hfusion_enable_multiple_consumer_fusion": True,
        "enable_flatten": False,
        "enable_auto_vectorize_v2": True,
        "auto_vectorize_v2_max_fused_ops_num": 8,
        "prevec_max_fused_ops_num": 8,
        "disable_size_align_for_cast": False,
    }
    text = printed(TEST / "compiler" / "Dialect" / "HIVM" / "handover" / "vadd-mask.mlir", family)
    bisheng.accept(text, options(family, **given), TARGETS[family])


# -- Acceptance ----------------------------------------------------------------------------------


@needs_wheel
@pytest.mark.parametrize("family", TARGETS)
@pytest.mark.parametrize("path", HANDOVER + FORMS, ids=lambda p: p.stem)
def test_printed_modules_are_accepted(path, family, stand_in, request):
    if path.stem in (ONLY_A5 if family == "c220" else ONLY_C220):
        pytest.skip("a module for the other compiler")
    if path.stem.startswith("dist-"):
        request.getfixturevalue("device_library")
    tools, made, _ = bisheng.accept(printed(path, family), options(family), TARGETS[family])
    assert tools.a5 == (family == "a5")
    assert made == (stand_in / "final.mlir").read_bytes()
    assert b"func.func" in made


@needs_wheel
def test_image_names_the_kernel_and_is_not_launched(stand_in):
    path = TEST / "compiler" / "Dialect" / "HIVM" / "handover" / "vadd-mask.mlir"
    metadata = {}
    image = bisheng.compile_bisheng(printed(path, "c220"), options(), metadata)
    assert metadata["name"] == "vadd_mask_kernel"
    assert metadata["mix_mode"] == "aiv"
    assert metadata["tensor_kinds"] == [0, 0, 1]
    runtime = pytest.importorskip("piton._runtime")
    with pytest.raises(Exception, match="compiled for a real NPU"):
        runtime.load(image)


@needs_wheel
@pytest.mark.parametrize("family", TARGETS)
def test_without_the_last_tool_the_error_says_what_is_missing(family, monkeypatch):
    monkeypatch.delenv("BISHENG_INSTALL_PATH", raising=False)
    monkeypatch.delenv("TRITON_NPU_COMPILER_PATH", raising=False)
    monkeypatch.setattr(bisheng.Toolchain, "final_tool", property(lambda self: None), raising=True)
    path = TEST / "compiler" / "Dialect" / "HIVM" / "handover" / "vadd-mask.mlir"
    with pytest.raises(MLIRCompilationError, match=r"accepted the kernel.*hivmc") as refused:
        bisheng.compile_bisheng(printed(path, family), options(family), {})
    assert "CANN" in str(refused.value)


@needs_wheel
@pytest.mark.parametrize("family, available", [("c220", 1572864), ("a5", 2031616)])
def test_overflow_comes_back_at_the_python_line(family, available, stand_in):
    with pytest.raises(MLIRCompilationError) as refused:
        bisheng.accept(printed(TOO_LARGE, family), options(family), TARGETS[family])
    text = refused.value.message
    assert "kernel.py:12:" in text
    assert f"bits while {available} bits available" in text
    assert f"which has {available // 8}; use smaller blocks" in text


# -- Diagnostics and look-up -----------------------------------------------------------------------


def test_diagnostics_name_the_op_and_drop_repetitions():
    output = (
        'loc("a.py":3:1): error: Failed to run BiShengHIR pipeline\n'
        "loc(\"a.py\":7:10): error: 'hivm.hir.vcast' op currently don't support cast\n"
        "loc(\"a.py\":7:10): error: 'hivm.hir.vcast' op currently don't support cast\n"
        "[ERROR] Failed to run BiShengIR pipeline\n"
    )
    assert bisheng.diagnostics(output, 1) == (
        "a.py:7:10: error: 'hivm.hir.vcast' op currently don't support cast"
    )


def test_diagnostics_of_a_crash_and_of_silence():
    crash = bisheng.diagnostics("LLVM ERROR: unsupported body op to map\nStack dump:\n0. x\n", -6)
    assert crash == "error: bishengir-compile ended with: LLVM ERROR: unsupported body op to map"
    silent = bisheng.diagnostics("something\nStack dump:\n0. x\n", -11)
    assert "crashed (signal 11) and named no operation" in silent
    assert "Stack dump" not in silent
    assert "did not finish" in bisheng.diagnostics("", None)


def fake_compiler(folder, name="bishengir-compile"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    return path


def test_compiler_is_looked_up_in_order(tmp_path, monkeypatch):
    named = fake_compiler(tmp_path / "named")
    wheel = fake_compiler(tmp_path / "wheel")
    on_path = fake_compiler(tmp_path / "path")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(bisheng, "_wheel_folder", lambda: tmp_path / "wheel")
    monkeypatch.setenv("TRITON_NPU_COMPILER_PATH", str(tmp_path / "named"))
    assert bisheng.find("Ascend910B3").compiler == named
    monkeypatch.delenv("TRITON_NPU_COMPILER_PATH")
    assert bisheng.find("Ascend910B3").compiler == wheel
    monkeypatch.setattr(bisheng, "_wheel_folder", lambda: None)
    assert bisheng.find("Ascend910B3").compiler == on_path
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MLIRCompilationError, match=r"pip install piton-npu\[bisheng\]"):
        bisheng.find("Ascend910B3")


def test_a_named_folder_without_the_compiler_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_NPU_COMPILER_PATH", str(tmp_path))
    with pytest.raises(MLIRCompilationError, match="holds no executable bishengir-compile-a5"):
        bisheng.find("Ascend950")


def test_a_compiler_that_leaves_no_output_has_failed(tmp_path, monkeypatch):
    fake_compiler(tmp_path)
    monkeypatch.setenv("TRITON_NPU_COMPILER_PATH", str(tmp_path))
    with pytest.raises(MLIRCompilationError, match="named no operation"):
        bisheng.accept("module {}", options(), "Ascend910B3")


def test_header_is_read_from_the_text():
    text = (
        "func.func private @triton_print(i32)\n"
        "func.func @kernel(%a: memref<?xf32> {tt.tensor_kind = 2 : i32}) attributes "
        '{global_kernel = "local", mix_mode = "mix", parallel_mode = "simd"}'
    )
    assert bisheng.read_header(text) == bisheng.Header("kernel", "mix", "simd", [2])
    with pytest.raises(MLIRCompilationError, match="holds no kernel"):
        bisheng.read_header("module {}")


def test_stand_ins_answer_alike():
    for name in ("hivmc", "hivmc-a5"):
        done = subprocess.run(
            [STAND_IN / name, "--version"], check=True, capture_output=True, text=True
        )
        assert done.stdout == "hivmc 0.2.0 (abcdef0 2026-01-01)\n"
        assert os.access(STAND_IN / name, os.X_OK)
