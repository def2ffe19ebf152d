# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: E501 (lines of IR)
"""No pass deletes, merges or moves a wait: each pass that piton-opt has, alone, then the stages."""

import re
import subprocess

import pytest

WAIT = "scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32"
#: Waits unused, equal, in branches and loops of every kind, between equal loads.
TTIR = f"""
tt.func public @k(%sig: !tt.ptr<i32>, %p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %c: i1) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.load %p : !tt.ptr<i32>
  %t0 = distributed.wait %sig, %c1, %c1, {WAIT}
  %b = tt.load %p : !tt.ptr<i32>
  %t1 = distributed.wait %sig, %c1, %c1, {WAIT}
  %ab = arith.addi %a, %b : i32
  tt.store %q, %ab : !tt.ptr<i32>
  %t2 = distributed.wait %sig, %c1, %c1, {WAIT}
  scf.for %i = %c0 to %n step %c1 : i32 {{
    %t3 = distributed.wait %sig, %c1, %c1, {WAIT}
    %t4 = distributed.wait %sig, %c1, %c1, {WAIT}
  }}
  scf.if %c {{
    %t5 = distributed.wait %sig, %c1, %c1, {WAIT}
  }} else {{
    %t6 = distributed.wait %sig, %c1, %c1, {WAIT}
  }}
  %r = scf.while (%i = %c0) : (i32) -> i32 {{
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  }} do {{
  ^bb0(%i: i32):
    %t7 = distributed.wait %sig, %c1, %c1, {WAIT}
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }}
  %d = tt.load %p : !tt.ptr<i32>
  tt.store %q, %d : !tt.ptr<i32>
  tt.return
}}
"""
WAITS = TTIR.count("distributed.wait")


def run(tool, *args, text):
    return subprocess.run([tool, *args], input=text, capture_output=True, text=True, timeout=300)


def passes():
    """Names of all passes; not their options, and not the alias pipelines."""
    listed = subprocess.run(["piton-opt", "--list-passes"], capture_output=True, text=True).stdout
    section = listed.split("Pass Pipelines:")[0]
    return re.findall(r"^  --([a-z0-9-]+) ", section, re.MULTILINE)


def shape(text):
    """The waits, loads and stores of a text, in order."""
    kinds = (
        r"(distributed\.wait|\"dist\.aclshmem_wait|call @_mlir_ciface_aclshmem_wait|(?:tt|memref)\.load|"
        r"(?:tt|memref)\.store|bufferization\.materialize_in_destination)"
    )
    letters = {"w": "W", "l": "L", "s": "S"}
    order = ""
    for found in re.findall(kinds, text):
        order += letters["w" if "wait" in found else "l" if ".load" in found else "s"]
    return order


#: Passes of the stages that see a wait in one of its two forms: they must succeed.
MUST_RUN = {
    "ttir": [
        "canonicalize", "cse", "inline", "symbol-dce", "sccp", "loop-invariant-code-motion",
        "lift-control-flow", "triton-combine", "triton-reorder-broadcast", "triton-licm",
        "triton-loop-unroll", "convert-triton-distributed-to-hivm", "rewrite-tensor-pointer",
        "control-flow-sink", "remove-dead-values", "topological-sort",
    ],
    "ttadapter": [
        "canonicalize", "cse", "rewrite-tensor-pointer", "triton-to-structured",
        "discrete-mask-access-conversion", "triton-to-annotation", "triton-to-unstructured",
        "triton-to-hivm", "triton-to-hfusion", "triton-to-llvm", "bubble-up-operation",
        "triton-to-linalg",
    ],
    "handover": ["canonicalize", "cse", "loop-invariant-code-motion", "legalize-for-bisheng"],
}  # fmt: skip


def module(level):
    """The kernel as the passes of a level see it."""
    if level == "ttadapter":
        return run("piton-opt", "--convert-triton-distributed-to-hivm", text=TTIR).stdout
    if level == "handover":
        return run("piton-compile", "-", "--emit=ttadapter", "-o", "-", text=TTIR).stdout
    return TTIR


@pytest.mark.parametrize("level", MUST_RUN)
def test_passes_of_the_stages(level):
    text = module(level)
    assert shape(text) == shape(TTIR), text
    for name in MUST_RUN[level]:
        done = run("piton-opt", "--" + name, text=text)
        assert done.returncode == 0, f"--{name}: {done.stderr}"
        assert shape(done.stdout) == shape(TTIR), f"--{name}:\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.parametrize("level", MUST_RUN)
def test_every_other_pass(level):
    """Whatever MLIR has, as far as it takes the module at all."""
    text, ran = module(level), []
    for name in set(passes()) - set(MUST_RUN[level]) - {"view-op-graph", "print-op-stats"}:
        done = run("piton-opt", "--" + name, text=text)
        if done.returncode == 0:
            ran.append(name)
            assert shape(done.stdout).count("W") == WAITS, f"--{name}:\n{done.stdout}"
    assert len(ran) > 30, ran


@pytest.mark.parametrize("stage", ["ttir", "ttadapter"])
def test_whole_stages(stage):
    done = run("piton-compile", "-", f"--emit={stage}", "-o", "-", text=TTIR)
    assert done.returncode == 0, done.stderr
    assert shape(done.stdout) == shape(TTIR), done.stdout


def test_the_code():
    """The machine code reads the word in as many places: none was merged in LLVM either."""
    done = run("piton-compile", "-", "--emit=npubin", "--dump", "-o", "/dev/null", text=TTIR)
    assert done.returncode == 0, done.stderr
    loops = done.stderr.split("// -----// loops //----- //")[1].split("// -----//")[0]
    assert loops.count("call @_mlir_ciface_aclshmem_wait_int32") == WAITS
    llvm = done.stderr.split("// -----// llvm //----- //")[1].split("// -----//")[0]
    # A wait's service is called by its record's address; one call is left for each wait.
    assert len(re.findall(r"load atomic i32, ptr [^\n]*acquire", llvm)) >= WAITS, llvm
