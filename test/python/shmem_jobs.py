# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs of the tests of `shmem`: PEs are processes that run a script."""

import subprocess
import sys
import textwrap

from ports import free_port

PREAMBLE = """
import sys
import shmem as ash

rank, world, port = (int(word) for word in sys.argv[1:4])


def init(heap=1 << 24, engine=ash.OpEngineType.MTE):
    ash.set_conf_store_tls(False, "")
    attributes = ash.InitAttr()
    attributes.my_rank = rank
    attributes.n_ranks = world
    attributes.local_mem_size = heap
    attributes.ip_port = f"tcp://127.0.0.1:{port}"
    attributes.option_attr.data_op_engine_type = engine
    return ash.aclshmem_init(attributes)
"""


def run_job(count: int, body: str, timeout: int = 300) -> list[str]:
    """Runs `body` as `count` PEs and returns what each printed; all must exit with 0."""
    script = PREAMBLE + textwrap.dedent(body)
    port = free_port()
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(pe), str(count), str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for pe in range(count)
    ]
    outputs = []
    try:
        for child in children:
            outputs.append(child.communicate(timeout=timeout)[0])
    finally:
        for child in children:
            child.kill()
    for child, output in zip(children, outputs, strict=True):
        assert child.returncode == 0, output
    return outputs
