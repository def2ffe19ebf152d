# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TCP ports for the jobs of a test, which no other test or program gets meanwhile."""

import socket

_RESERVED = []  # sockets that stay bound until this process ends


def free_port() -> int:
    """A port of this host's loopback address that is ours until this process ends.

    A socket stays bound there and does not listen. That keeps off everybody who looks for a port,
    tests of another worker too, and the outgoing connections of other programs, but not a listener
    with SO_REUSEADDR, as PE 0's and torch's are.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _RESERVED.append(reserved)
    return reserved.getsockname()[1]
