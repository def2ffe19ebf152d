# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Product and all-reduce in one shot: see gemm_reduce_scatter.py."""

import sys

from gemm_reduce_scatter import run

if __name__ == "__main__":
    m, n, k = (int(x) for x in sys.argv[1:4]) if sys.argv[1:] else (4096, 4096, 4096)
    run(m, n, k, everywhere=True)
