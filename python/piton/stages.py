# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of one compilation: thin calls into `_piton`, and the metadata they add."""

from __future__ import annotations

import os

from . import _piton, bisheng, env

try:  # a compiler may be built without the distributed part
    from ._piton import distributed
except ImportError:
    distributed = None


def for_options(options) -> dict:
    """Ordered dict: file extension -> stage(module, metadata, options)."""
    if env.flag("TRITON_STORE_BINARY_ONLY"):
        raise ValueError(
            "TRITON_STORE_BINARY_ONLY=1 makes stock Triton keep only cubin, hsaco and json files; "
            "the npu target's kernel image would be dropped. Unset it."
        )
    if env.mode() == "model":
        raise NotImplementedError("PITON_MODE=model is not built yet; use fast")
    return {"ttir": ttir, "ttadapter": ttadapter, "npubin": npubin}


def ttir(module, metadata, options):
    """Triton IR as traced -> optimised Triton IR (in place)."""
    _piton.run_ttir(module, options)
    _dump(module, metadata, options, "kernel.ttir.mlir")
    return module


def ttadapter(module, metadata, options):
    """Triton IR -> hand-over IR (in place)."""
    if distributed is not None:
        # Before everything else: what comes after knows one device only.
        passes = distributed.pass_manager(module)
        distributed.ascend_passes.add_convert_triton_distributed_to_hivm(passes)
        passes.run(module)
    _piton.run_ttadapter(module, options)
    _dump(module, metadata, options, "kernel.ttadapter.mlir")
    return module


def npubin(module, metadata, options):
    """Hand-over IR, a module or (overridden) text -> kernel image, with the launch metadata."""
    if env.backend() == "bisheng":
        text = _piton.emit_bisheng_mlir(module, options)
        _dump(text, metadata, options, "kernel.bisheng.mlir")
        return bisheng.compile_bisheng(text, options, metadata)
    image = _piton.emit_image(module, options)
    describe(image, metadata)
    return image


def describe(image, metadata) -> None:
    """Fills the metadata that the loader and launcher read from an image's own."""
    facts = _piton.describe_image(image)
    metadata["name"] = metadata["kernel_name"] = facts["name"]
    metadata["shared"] = 1
    metadata["mix_mode"] = facts["mix_mode"]
    metadata["parallel_mode"] = facts["parallel_mode"]
    metadata["tensor_kinds"] = facts["tensor_kinds"]
    metadata["workspace_size"] = facts["workspace_size"]
    metadata["lock_num"] = facts["lock_num"]
    metadata["required_ub_bits"] = 0
    metadata["bitcodes"] = []


def _dump(module, metadata, options, filename) -> None:
    """debug=True: a stage's result in <dump dir>/<hash>."""
    if not options.debug:
        return
    from triton import knobs

    folder = os.path.join(knobs.cache.dump_dir, metadata["hash"])
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, filename), "w") as file:
            file.write(str(module))
    except OSError as error:
        # A dump helps with debugging; not being able to write one is no reason to fail.
        print(f"Cannot dump intermediate results to {folder}: {error.strerror}")
        return
    if filename == "kernel.ttir.mlir":
        print(f"Dumping intermediate results to {folder}")
