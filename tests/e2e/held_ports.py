"""Keeps free TCP ports of 127.0.0.1 for a server that a test starts, kills and starts again.

    python held_ports.py COUNT        # prints the ports on one line; ends with its standard input

The sockets are bound and never listen. While they are open, the kernel does not give their ports to
programs that ask for any port, but a server that names a port (with SO_REUSEADDR) can listen on it.
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
