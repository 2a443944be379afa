"""The page that explains how a phone trusts this machine's certificate authority.

    with TrustPage("192.168.1.20", 8781, certificate, fingerprint) as page:
        page.url                     # "http://192.168.1.20:8781/"

A phone opens it before it trusts anything, so it is served over plain HTTP. It is one page and the
authority's certificate, and nothing else: no join link, because everybody in the network can read
it. The terminal and the page show the certificate's fingerprint, and a person compares it on the
phone, because somebody in the network could exchange the certificate. `close` also ends the threads
that serve the page.
"""

from __future__ import annotations

import html
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from hyperflock._base.errors import HyperflockError

CERTIFICATE = "/hyperflock-ca.crt"
_PAGE = Path(__file__).with_name("trust_page.html")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# What the authority can vouch for, if it is narrow and if it is not; and what the QR code is for.
_WORDS = {
    "en": (
        "For a year at most, the certificate can vouch for this computer and for the addresses next"
        " to it in its network, and for no other site.",
        "Whoever has the key of this certificate could pretend to be any site to your phone. Remove"
        " the certificate when you no longer take part.",
        "Scan this code with the phone to open this page there.",
    ),
    "ja": (
        "この証明書が保証できるのは、このコンピュータと、同じネットワークの近くのアドレスだけです。"
        "ほかのサイトは保証できません。有効期間は最長1年です。",
        "この証明書の鍵を持つ人は、あなたのスマートフォンに対してどのサイトにもなりすませます。"
        "参加をやめるときは証明書を削除してください。",
        "このコードをスマートフォンで読み取ると、このページが開きます。",
    ),
}
# A connection that sends nothing is closed after this many seconds.
_TIMEOUT_S = 10.0


class TrustPage:
    """The page at an address of this machine.

    Parameters
    ----------
    host
        The address of this machine in its network.
    port
        The port to try first. If it is taken, any free port is used.
    certificate
        The authority's certificate, a PEM file.
    fingerprint
        Its SHA-256.
    page
        The page, if it is not the one of `page_html` for a narrow authority.
    """

    def __init__(
        self,
        host: str,
        port: int,
        certificate: Path,
        fingerprint: str,
        page: bytes | None = None,
    ) -> None:
        contents = {
            "/": ("text/html; charset=utf-8", page or page_html(fingerprint)),
            # Android and iOS offer to install a certificate of this type.
            CERTIFICATE: ("application/x-x509-ca-cert", _der(certificate)),
        }
        handler = type("_Handler", (_Handler,), {"contents": contents})
        try:
            self._server = _listening(host, port, handler)
        except OSError as error:
            raise HyperflockError(
                f"the page about the certificate cannot be served at {host}: {error.strerror}",
                code="cannot_listen",
            ) from None
        self._host = host
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The page's address."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._server.server_address[1]}/"

    def close(self) -> None:
        """Stop serving the page."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> TrustPage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def page_html(fingerprint: str, *, is_narrow: bool = True, qr: str = "") -> bytes:
    """Return the page with the fingerprint of a certificate.

    Parameters
    ----------
    fingerprint
        The certificate's SHA-256.
    is_narrow
        Whether its authority may vouch for this machine only (authority.py), and not for every
        site.
    qr
        An SVG of the page's own address, for phones that shall open it; empty for none.
    """
    # A person compares short groups of digits more easily, and a narrow phone breaks the line
    # between groups.
    groups = " ".join(
        f"<span>{html.escape(fingerprint[i : i + 12].strip(':'))}</span>"
        for i in range(0, len(fingerprint), 12)
    )
    text = _PAGE.read_text("utf-8").replace("{fingerprint}", groups)
    for language, (narrow, wide, scan) in _WORDS.items():
        figure = f'<figure class="qr"><figcaption>{scan}</figcaption>{qr}</figure>\n' if qr else ""
        text = text.replace(f"{{scope-{language}}}", narrow if is_narrow else wide)
        text = text.replace(f"{{qr-{language}}}", figure)
    return text.replace("{certificate}", CERTIFICATE).encode()


def _der(certificate: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate.read_text("ascii"))


def _listening(host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    kind = _Server6 if ":" in host else _Server
    try:
        return kind((host, port), handler)
    except OSError:
        return kind((host, 0), handler)


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    contents: dict[str, tuple[str, bytes]] = {}  # noqa: RUF012 - a subclass replaces it
    protocol_version = "HTTP/1.0"
    server_version = "Hyperflock"
    sys_version = ""
    timeout = _TIMEOUT_S

    def do_GET(self) -> None:
        self._answer(sends_body=True)

    def do_HEAD(self) -> None:
        self._answer(sends_body=False)

    def _answer(self, *, sends_body: bool) -> None:
        found = self.contents.get(self.path.partition("?")[0])
        if found is None:
            self.send_error(404)
            return
        kind, content = found
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if sends_body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing; the terminal belongs to the command."""
