# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product and all-reduce in one kernel, in one shot: see gemm_reduce_scatter.py."""

import argparse

from gemm_reduce_scatter import run, sizes
from job import job

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=3, metavar="SIZE")
    arguments = parser.parse_args()
    with job() as (rank, world):
        shape = sizes(rank, world, arguments.shape, True)
        for signals in (False, True):
            run(rank, world, *shape, True, signals)
