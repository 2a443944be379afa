"""Serves one page on loopback to a browser that knows the page's secret address.

    with PageServer(find, hear) as pages:
        open(pages.url)               # http://127.0.0.1:40123/<32 random bytes>/

``find`` returns the content of a path below that address, and ``hear`` gets what the page posts to
``told``. Both functions run on threads of the server. A request without the secret, or with another
host name, finds nothing, and no other origin may read an answer.
"""

from __future__ import annotations

import hmac
import http.server
import secrets
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

MAX_TOLD_BYTES = 64 << 20

_POLL_S = 0.05


@dataclass(frozen=True)
class Content:
    """A response: its body, type and security policy.

    Attributes
    ----------
    body : bytes
        The bytes to send.
    kind : str
        The media type, such as ``text/html; charset=utf-8``.
    policy : str
        The Content-Security-Policy.
    """

    body: bytes
    kind: str
    policy: str = "default-src 'none'"


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if the browser was ended in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class UnavailableError(Exception):
    """Raised by ``find`` for a file that should exist but cannot be fetched."""


class PageServer:
    """A server of one page and its files.

    Parameters
    ----------
    find
        Returns the content of a path, or None; the empty path is the page itself.
    hear
        Gets the body of each post.
    """

    def __init__(
        self, find: Callable[[str], Content | None], hear: Callable[[bytes], None]
    ) -> None:
        self._find = find
        self._hear = hear
        self._secret = secrets.token_urlsafe(32)
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._host = f"127.0.0.1:{self._server.server_port}"

    @property
    def origin(self) -> str:
        """The scheme, host and port."""
        return f"http://{self._host}"

    @property
    def folder(self) -> str:
        """The path of the page, which contains the secret, with a slash at both ends."""
        return f"/{self._secret}/"

    @property
    def url(self) -> str:
        """The page's address."""
        return self.origin + self.folder

    def __enter__(self) -> PageServer:
        threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="hyperflock-page", daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _inside(self, path: str, host: str | None) -> str | None:
        """Return a request's path relative to the page's; None without the secret or the right
        host.

        Another site can let a host name of its own point to this machine, so the host is checked
        too.
        """
        known = hmac.compare_digest(
            path[: len(self.folder)].encode("utf-8", "replace"), self.folder.encode()
        )
        return path[len(self.folder) :] if known and host == self._host else None

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        pages = self

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 60.0

            def do_GET(self) -> None:
                path = pages._inside(self.path, self.headers["Host"])
                try:
                    found = None if path is None else pages._find(path)
                except UnavailableError:
                    self._answer(502, None)
                else:
                    self._answer(404 if found is None else 200, found)

            def do_POST(self) -> None:
                length = self.headers["Content-Length"] or ""
                size = int(length) if length.isdigit() else MAX_TOLD_BYTES + 1
                if pages._inside(self.path, self.headers["Host"]) != "told":
                    self._answer(404, None)
                elif size > MAX_TOLD_BYTES:
                    self._answer(413, None)
                else:
                    pages._hear(self.rfile.read(size))
                    self._answer(204, None)

            def _answer(self, status: int, content: Content | None) -> None:
                self.send_response(status)
                if content is not None:
                    self.send_header("Content-Type", content.kind)
                    self.send_header("Content-Security-Policy", content.policy)
                if status != 204:
                    self.send_header("Content-Length", str(len(content.body) if content else 0))
                for name, value in _HEADERS:
                    self.send_header(name, value)
                self.end_headers()
                if content is not None:
                    self.wfile.write(content.body)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        return Handler


_HEADERS = (
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
