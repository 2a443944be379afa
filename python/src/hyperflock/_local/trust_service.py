"""Serves the page about the certificate of Caddy's own authority: the profile ``lan`` of
docker-compose.yml.

    python -m hyperflock._local.trust_service --certificate http://caddy:8082/root.crt
        --url http://flock.local/trust --listen 0.0.0.0:8781

``--certificate`` is where Caddy has it, and ``--url`` is what phones open: Caddy passes it on. The
fingerprint is printed, so that the operator can compare it with the phone's.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import signal
import ssl
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import segno

from hyperflock._base.errors import HyperflockError
from hyperflock._local.trust_page import TrustPage, page_html

_PATIENCE_S = 300.0
_MOST_BYTES = 65_536


def qr_svg(text: str) -> str:
    """Return an SVG of a text's QR code that stands in a page."""
    written = io.BytesIO()
    code = segno.make(text, error="m", micro=False)
    code.save(written, kind="svg", xmldecl=False, svgns=True, scale=4, light="#fff", nl=False)
    return written.getvalue().decode().replace("<svg ", '<svg role="img" aria-label="QR" ', 1)


def fetched(url: str) -> str:
    """Return the certificate at an address, which may come into being a little later.

    Raises
    ------
    HyperflockError
        ``no_certificate``: nothing is there.
    """
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                text: str = answer.read(_MOST_BYTES).decode("ascii")
            ssl.PEM_cert_to_DER_cert(text)
            return text
        except (OSError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # it holds the connection
            if time.monotonic() > end:
                raise HyperflockError(
                    f"there is no certificate at {url}: {error}", code="no_certificate"
                ) from None
        time.sleep(0.2)


def main() -> None:
    """Serve the page until a signal ends this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--listen", default="127.0.0.1:8781")
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    pem = fetched(options.certificate)
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    fingerprint = ":".join(digest[i : i + 2] for i in range(0, len(digest), 2))
    host, _, port = options.listen.rpartition(":")
    page = page_html(fingerprint, is_narrow=False, qr=qr_svg(options.url))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "root.crt"
        file.write_text(pem)
        with TrustPage(host, int(port), file, fingerprint, page):
            print(f"{options.url}\nSHA-256 {fingerprint}", flush=True)
            signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
