"""Tests how this package finds out whether its server answers at the address for phones."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hyperflock._local.authority import Authority
from hyperflock._local.silence import silence

NAMES = ["localhost"]


class Answering(BaseHTTPRequestHandler):
    """Sends the status and the body that a test has set."""

    answer = (200, b'{"status": "ok"}')

    def do_GET(self) -> None:
        status, body = self.answer
        if status == 0:
            return  # the connection ends without an answer
        self.send_response(status if self.path == "/healthz" else 404)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve HTTPS with a certificate of the authority in ``tmp_path``."""
    monkeypatch.setattr(Answering, "answer", (200, b'{"status": "ok"}'))
    monkeypatch.setenv("NO_PROXY", "localhost")
    made = Authority(tmp_path).certificate(["127.0.0.1"], NAMES)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server = HTTPServer(("127.0.0.1", 0), Answering)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_server_answers_by_a_tunnel_and_by_its_own_certificate(origin: str, tmp_path: Path) -> None:
    assert silence(origin, None) is None
    assert silence(origin, tmp_path / "ca.pem") is None


def test_certificate_of_another_authority_is_no_answer(origin: str, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other")
    other.certificate(["127.0.0.1"], NAMES)
    assert "certificate verify failed" in str(silence(origin, other.root))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((502, b""), "the answer is 502"),
        ((200, b"<!doctype html><p>Sign in to this network"), "another program answers"),
        ((200, b'{"status": "starting"}'), "another program answers"),
        ((200, b"\xff"), "another program answers"),
        ((0, b""), "closed connection"),
    ],
)
def test_everything_else_is_no_answer(
    answer: tuple[int, bytes], why: str, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answering, "answer", answer)
    assert why in str(silence(origin, None))


def test_nobody_at_the_address_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "refused" in str(silence("https://127.0.0.1:9", None))
