# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs scripts one after the other in one process a rank: `import torch` alone takes seconds.

Each argument is one script with its arguments, separated by blanks. Every script runs as if it were
the main program, starts its own job and ends it; SystemExit(0) is a good end.
"""

import os
import runpy
import sys

import torch.distributed as dist

STOCK = dist.init_process_group


def group_of(line):
    """init_process_group with keys of its own: torchrun's store keeps those of the last group,
    whose addresses are gone."""

    def init_process_group(*arguments, **options):
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = dist.PrefixStore(line, dist.TCPStore(address, port, is_master=False))
        ranks = {"rank": int(os.environ["RANK"]), "world_size": int(os.environ["WORLD_SIZE"])}
        return STOCK(*arguments, **{**ranks, **options}, store=store)

    return init_process_group


def run(line):
    script, *arguments = line.split()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    dist.init_process_group = group_of(line)
    # Two folders may have modules of one name.
    before = set(sys.modules)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) in siblings(script):
            del sys.modules[name]
    sys.path.pop(0)
    print(f"[END] Rank {os.environ['RANK']}: {line}", flush=True)


def siblings(script):
    """Paths of the modules beside a script."""
    folder = os.path.dirname(os.path.abspath(script))
    return {os.path.join(folder, name) for name in os.listdir(folder)}


for each in sys.argv[1:]:
    run(each)
