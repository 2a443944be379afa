"""Pebble, an authority that speaks ACME, on free ports of this machine.

    with Pebble(folder) as pebble:
        pebble.directory, pebble.ca          # for --acme-directory and --acme-ca
        pebble.http_port                     # where it looks for answers, in place of port 80

Every name leads to 127.0.0.1, which `pebble-challtestsrv` answers as a name server. `refuse` makes
names lead nowhere.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BIN = Path(__file__).resolve().parents[2] / "build/cache/debian"
PATIENCE_S = 300.0


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def own_certificate(folder: Path, name: str, days: int = 9) -> None:
    """Write a self-signed certificate for 127.0.0.1 as NAME.pem, and its key as NAME-key.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / f"{name}-key.pem").write_bytes(secret)
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / f"{name}.pem").write_bytes(pem)


class Pebble:
    """The authority and its name server."""

    def __init__(self, folder: Path, validity_s: int = 90 * 86_400) -> None:
        self._folder = folder
        self._validity_s = validity_s
        self._running: list[subprocess.Popen[bytes]] = []
        acme, manage, self.http_port, tls, self._dns, self._control = free_ports(6)
        self._manage = manage
        self._config = {
            "pebble": {
                "listenAddress": f"127.0.0.1:{acme}",
                "managementListenAddress": f"127.0.0.1:{manage}",
                "certificate": str(folder / "pebble.pem"),
                "privateKey": str(folder / "pebble-key.pem"),
                "httpPort": self.http_port,
                "tlsPort": tls,
                "certificateValidityPeriod": validity_s,
            }
        }
        self.directory = f"https://127.0.0.1:{acme}/dir"
        self.ca = folder / "pebble.pem"

    def __enter__(self) -> Pebble:
        own_certificate(self._folder, "pebble")
        config = self._folder / "pebble.json"
        config.write_text(json.dumps(self._config))
        names = [BIN / "pebble-challtestsrv", "-dns01", f"127.0.0.1:{self._dns}"]
        names += ["-management", f"127.0.0.1:{self._control}", "-defaultIPv6", ""]
        names += ["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv4", "127.0.0.1"]
        self._start(names, {})
        pebble = [BIN / "pebble", "-config", config, "-dnsserver", f"127.0.0.1:{self._dns}"]
        self._start(pebble, {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"})
        self._wait(self.directory)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._running:
            process.kill()
            process.wait()

    def _start(self, command: list[object], variables: dict[str, str]) -> None:
        log = self._folder / "pebble.log"
        with log.open("ab") as stream:
            words = [str(word) for word in command]
            process = subprocess.Popen(
                words, env=os.environ | variables, stdout=stream, stderr=stream
            )
        self._running.append(process)

    def _ask(self, url: str, body: object = None) -> bytes:
        tls = ssl.create_default_context(cafile=str(self.ca)) if url.startswith("https") else None
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(url, data, context=tls) as answer:
            found: bytes = answer.read()
            return found

    def _wait(self, url: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._ask(url)
                return
            except OSError:
                if time.monotonic() > end or any(one.poll() is not None for one in self._running):
                    raise AssertionError((self._folder / "pebble.log").read_text()) from None
                time.sleep(0.05)

    def root(self) -> str:
        """Return the certificate that a client has to trust, PEM."""
        return self._ask(f"https://127.0.0.1:{self._manage}/roots/0").decode()

    def refuse(self, name: str) -> None:
        """Let a name lead to an address where nobody answers."""
        url = f"http://127.0.0.1:{self._control}/add-a"
        self._ask(url, {"host": f"{name}.", "addresses": ["127.0.0.2"]})
