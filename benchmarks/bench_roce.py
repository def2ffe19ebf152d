# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts over UCX between two PEs on loopback TCP, against UCX's own measuring program."""

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

BYTES = 1 << 20
PUTS = 200
ROUNDS = 3
# Both sides over the same network device and nothing else.
NETWORK = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"}


def free_port():
    """A TCP port that nobody uses at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def pe_main(pe, url):
    """Body of a PE: PE 0 puts, PE 1 waits in a barrier. Prints MB/s (2^20 bytes) per round."""
    import shmem as ash

    ash.set_conf_store_tls(False, "")
    attributes = ash.InitAttr()
    attributes.my_rank, attributes.n_ranks = pe, 2
    attributes.local_mem_size = 16 << 20
    attributes.ip_port = url
    attributes.option_attr.data_op_engine_type = ash.OpEngineType.ROCE
    if ash.aclshmem_init(attributes) != 0:
        raise RuntimeError("aclshmem_init failed")
    target, source = ash.aclshmem_malloc(BYTES), ash.aclshmem_malloc(BYTES)
    for _ in range(ROUNDS + 1):
        ash.barrier_all()
        if pe == 0:
            start = time.perf_counter()
            for _ in range(PUTS):
                ash.aclshmem_putmem_nbi(target, source, BYTES, 1)
            ash.quiet()
            print(PUTS * BYTES / (1 << 20) / (time.perf_counter() - start), flush=True)
        ash.barrier_all()
    ash.aclshmem_finalize()


def piton_bandwidth():
    """MB/s of every round, the first (which connects) left out."""
    url = f"tcp://127.0.0.1:{free_port()}"
    environment = {**os.environ, **NETWORK, "PITON_SHMEM_FORCE_ROCE": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, __file__, str(pe), url],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for pe in range(2)
    ]
    outputs = [child.communicate(timeout=120) for child in children]
    for child, (_, errors) in zip(children, outputs, strict=True):
        if child.returncode != 0:
            raise RuntimeError(f"a PE failed: {errors[-400:]}")
    return [float(line) for line in outputs[0][0].split()][1:]


def ucx_bandwidth(tool):
    """MB/s of UCX's program, overall figure."""
    port = str(free_port())
    environment = {**os.environ, **NETWORK}
    server = subprocess.Popen(
        [tool, "-p", port], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(0.5)
    options = ["-t", "ucp_put_bw", "-s", str(BYTES), "-n", str(PUTS), "-w", "20", "-f"]
    run = subprocess.run(
        [tool, "127.0.0.1", "-p", port, *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    server.wait(timeout=30)
    numbers = re.findall(r"^\s+\d+(?:\s+[\d.]+)+\s*$", run.stdout, re.M)
    if not numbers:
        raise RuntimeError(f"ucx_perftest gave no figures: {run.stdout[-300:]}{run.stderr[-300:]}")
    return float(numbers[-1].split()[5])


def roce(report):
    """Rounds of both sides alternate; medians are compared."""
    tool = shutil.which("ucx_perftest")
    if not tool:
        report.note("put over UCX on loopback TCP", "no ucx_perftest (Debian: ucx-utils)")
        return
    ours, theirs = [], []
    for _ in range(3):
        ours.append(statistics.median(piton_bandwidth()))
        theirs.append(ucx_bandwidth(tool))
    mine, other = statistics.median(ours), statistics.median(theirs)
    report.row(
        "put of 1 MiB over UCX, loopback TCP / ucx_perftest",
        f"{mine:.0f} MB/s",
        f"{other:.0f} MB/s",
        mine / other,
        0.9,
        at_least=True,
    )


ITEMS = {"roce": roce}

if __name__ == "__main__":
    pe_main(int(sys.argv[1]), sys.argv[2])
