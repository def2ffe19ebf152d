# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m oracle k.mlir --arg ...` from the folder test/: one module, one run."""

import sys

from .oracle import main

sys.exit(main())
