"""Runs Debian's nginx as the cache of studies' data, with the configuration of operate.md.

with NginxCache(folder, "http://127.0.0.1:8780") as cache:
    urllib.request.urlopen(cache.origin + "/blobs/...")
    assert cache.requests()[-1].cache == "HIT"
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from patience import LIMIT_S, until
from real_server import HeldPort
from tied import tied

ROOT = Path(__file__).resolve().parents[2]
NGINX = ROOT / "build/cache/debian/nginx"
OPERATE = ROOT / "server/docs/operate.md"


@dataclass(frozen=True)
class Request:
    """A line of nginx's log.

    Attributes
    ----------
    cache : str
        How the cache answered: ``HIT``, ``MISS`` or another word of ``$upstream_cache_status``.
    origin_bytes : int
        What the server sent for it, with its head.
    """

    path: str
    status: int
    cache: str
    origin_bytes: int


def documented(origin: str, port: int, store: Path) -> str:
    """Return the configuration of operate.md with other addresses and without TLS."""
    found = re.search(r"```nginx\n(.*?)```", OPERATE.read_text(), re.DOTALL)
    assert found is not None, f"{OPERATE} has no configuration of nginx"
    text, changes = found[1], 0
    for pattern, value in (
        (r"listen 443 ssl;", f"listen 127.0.0.1:{port};"),
        (r"https://flock\.example\.org", origin),
        (r"/var/cache/nginx/flock", str(store)),
    ):
        text, count = re.subn(pattern, value, text)
        changes += count
    assert changes == 3, text
    return re.sub(r" *ssl_certificate.*\n", "", text)


class NginxCache:
    """nginx with a folder of its own."""

    def __init__(self, folder: Path, server: str) -> None:
        folder.mkdir()
        self._log = folder / "requests.log"
        self._port = HeldPort()
        self.origin = f"http://127.0.0.1:{self._port.number}"
        (folder / "nginx.conf").write_text(
            f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off;
            worker_processes 1;
            error_log {folder}/error.log;
            pid {folder}/pid;
            events {{ worker_connections 1024; }}
            http {{
                log_format lines '$status $upstream_cache_status $upstream_bytes_received $uri';
                access_log {self._log} lines;
                client_body_temp_path {folder}/body;
                proxy_temp_path {folder}/proxy;
                fastcgi_temp_path {folder}/fastcgi;
                uwsgi_temp_path {folder}/uwsgi;
                scgi_temp_path {folder}/scgi;
                {documented(server, self._port.number, folder / "store")}
            }}
            """
        )
        self._command = [
            NGINX,
            "-p",
            folder,
            "-c",
            folder / "nginx.conf",
            "-e",
            folder / "error.log",
        ]

    def __enter__(self) -> NginxCache:
        self._process = subprocess.Popen(tied(self._command))
        until("nginx", self._listens)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(LIMIT_S)

    def _listens(self) -> bool:
        assert self._process.poll() is None, "nginx has ended"
        place = urlsplit(self.origin)
        with closing(socket.socket()) as probe:
            return probe.connect_ex((place.hostname, place.port)) == 0

    def requests(self) -> list[Request]:
        """Return the requests that it has answered. A line is written after its answer."""
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return [
            Request(path, int(status), cache, 0 if sent == "-" else int(sent))
            for status, cache, sent, path in lines
        ]
