"""Keeps free TCP ports of 127.0.0.1 for a server that is started there, and started again.

    python held_ports.py COUNT        # prints the ports on one line; ends with its standard input

The sockets are bound and never listen: meanwhile the kernel gives these ports to nobody who asks
for any port, and lets a server that names one of them (with SO_REUSEADDR) listen there.
"""

from __future__ import annotations

import socket
import sys


def held_port() -> socket.socket:
    """Bind a socket to a free port."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


if __name__ == "__main__":
    ports = [held_port() for _ in range(int(sys.argv[1]))]
    print(*(port.getsockname()[1] for port in ports), flush=True)
    sys.stdin.read()
