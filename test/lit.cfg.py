# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text tests of the compiler: every .mlir and .ttir file below test/ with a RUN line.

`ninja check-lit` or `lit -sv <build>/test` runs them. Tools come from the build; FileCheck, not
and split-file from LLVM 22 (Debian package llvm-22-tools).
"""

import os

import lit.formats

config.name = "Piton"  # noqa: F821 (lit defines config)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".ttir"]  # noqa: F821
config.excludes = ["Inputs", "corpus"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(config.piton_binary_dir, "test")  # noqa: F821

tools = [config.piton_tools_dir, config.llvm_tools_dir]  # noqa: F821
path = os.pathsep.join([*tools, config.environment.get("PATH", "")])  # noqa: F821
config.environment["PATH"] = path  # noqa: F821
config.substitutions.append(("%python", config.python_executable))  # noqa: F821
config.substitutions.append(("%source_root", config.piton_source_dir))  # noqa: F821
if config.has_piton_run:  # noqa: F821
    config.available_features.add("piton-run")  # noqa: F821
if config.has_distributed:  # noqa: F821
    config.available_features.add("distributed")  # noqa: F821
