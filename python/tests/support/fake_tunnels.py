"""Creates programs that replace cloudflared and ngrok in tests, and print the same lines.

    fake_tunnels(tmp_path, monkeypatch)          # both are on PATH, which has nothing else

Each start of cloudflared announces another address. ``FAKE_TUNNEL`` changes what the programs do:
with ``refused`` they print a real error message and end, and with ``silent`` they announce no
address.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hyperflock._local.authority import Authority

_BOTH = """#!{python}
import json, os, pathlib, signal, sys
here = pathlib.Path({folder!r})
starts = here / "starts"
number = int(starts.read_text()) + 1 if starts.exists() else 1
starts.write_text(str(number))
(here / "words").write_text(json.dumps(sys.argv[1:]))
mode = os.environ.get("FAKE_TUNNEL", "")
def line(text):
    print(text, file={stream}, flush=True)
"""
_CLOUDFLARED = """
T = "2026-01-01T00:00:00Z"
line(f"{T} INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a"
     " quick way to experiment and try it out.")
line(f"{T} INF Requesting new quick Tunnel on trycloudflare.com...")
if mode == "refused":
    line("failed to request quick Tunnel: Post \\"https://api.trycloudflare.com/tunnel\\": dial "
         "tcp: lookup api.trycloudflare.com: no such host")
    sys.exit(1)
if mode != "silent":
    line(f"{T} INF +--------------------------------------------------------------------+")
    line(f"{T} INF |  Your quick Tunnel has been created! Visit it at (it may take some time |")
    line(f"{T} INF |  https://words-number-{number}.trycloudflare.com                          |")
    line(f"{T} INF +--------------------------------------------------------------------+")
    line(f"{T} INF Settings: map[no-autoupdate:true protocol:quic url:http://127.0.0.1:8780]")
    line(f"{T} INF Registered tunnel connection connIndex=0 connection=11-22 event=0"
         " ip=198.41.200.1 location=nrt01 protocol=quic")
signal.pause()
"""
_NGROK = """
if mode == "refused":
    line(json.dumps({"lvl": "eror", "msg": "session closing", "err": "authentication failed: Usage "
         "of ngrok requires a verified account and authtoken.", "obj": "tunnels.session"}))
    line("ERROR:  authentication failed: Usage of ngrok requires a verified account and authtoken.")
    line("ERROR:  ERR_NGROK_4018")
    sys.exit(1)
line(json.dumps({"lvl": "info", "msg": "starting web service", "addr": "127.0.0.1:4040",
                 "obj": "web", "err": None}))
if mode != "silent":
    line(json.dumps({"lvl": "info", "msg": "started tunnel", "name": "command_line",
                     "addr": sys.argv[2], "obj": "tunnels",
                     "url": "https://one-and-the-same.ngrok-free.app"}))
signal.pause()
"""


def fake_tunnels(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str, path: str = ""
) -> Path:
    """Put the programs on ``PATH``, and return the folder with the files that they write."""
    place = folder / "tunnels"
    place.mkdir()
    for name in names or ("cloudflared", "ngrok"):
        code, stream = (
            (_CLOUDFLARED, "sys.stderr") if name == "cloudflared" else (_NGROK, "sys.stdout")
        )
        program = place / name
        begin = _BOTH.format(python=sys.executable, folder=str(place), stream=stream)
        program.write_text(begin + code)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{path}" if path else str(place))
    return place


class Edge:
    """Stands in for the DNS and the servers of a tunnel's operator: it forwards to the tunnel's
    port.

    A process reaches it as its proxy for HTTPS (``HTTPS_PROXY``).

    Attributes
    ----------
    refuses : int
        How many connections are still refused, as happens while the tunnel's name is new.
    asked : list of str
        The host of each connection.
    """

    def __init__(self, programs: Path, folder: Path, refuses: int) -> None:
        self.refuses = refuses
        self.asked: list[str] = []
        self._words = programs / "words"
        made = Authority(folder).certificate(["127.0.0.1"], ["localhost"])
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(made.certificate, made.key)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def proxy(self) -> str:
        """The address of this proxy."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        head = _until_empty_line(connection)
        self.asked.append(head.split()[1].decode().partition(":")[0])
        if self.refuses > 0:
            self.refuses -= 1
            connection.sendall(b"HTTP/1.1 502 no such host\r\n\r\n")
            return
        connection.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
        words = json.loads(self._words.read_text())
        place = next(word for word in words if word.startswith("http://127.0.0.1:"))
        port = int(place.rpartition(":")[2])
        with (
            self._tls.wrap_socket(connection, server_side=True) as secured,
            socket.create_connection(("127.0.0.1", port)) as server,
        ):
            server.sendall(_until_empty_line(secured))
            while part := server.recv(65_536):
                secured.sendall(part)


def _until_empty_line(connection: socket.socket) -> bytes:
    read = b""
    while not read.endswith(b"\r\n\r\n"):
        part = connection.recv(65_536)
        if not part:
            raise OSError("the connection has ended")
        read += part
    return read


@contextlib.contextmanager
def fake_edge(
    programs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, refuses: int = 0
) -> Iterator[Edge]:
    """Let processes reach the addresses that the programs of `fake_tunnels` announce."""
    edge = Edge(programs, folder, refuses)
    monkeypatch.setenv("HTTPS_PROXY", edge.proxy)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    for name in ("https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    try:
        yield edge
    finally:
        edge.close()
