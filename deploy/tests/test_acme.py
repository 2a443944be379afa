"""Runs ``serve --domain`` with Debian's lego against Pebble: the first certificate, its renewal
without a restart, and what goes wrong.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from authority import BIN, PATIENCE_S, Pebble, free_ports
from test_unit import allow_only, allowed_calls

SERVER = Path(__file__).resolve().parents[2] / "build/release/bin/hyperflock-server"
DOMAIN = "flock.example.org"


def wait(what: Callable[[], bool]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def pebble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pebble]:
    """Return an authority."""
    with Pebble(tmp_path_factory.mktemp("pebble")) as running:
        yield running


class Server:
    """A server of a domain."""

    def __init__(self, folder: Path, pebble: Pebble, *more: str, client: str = "lego") -> None:
        self.folder = folder
        self.state = folder / "state"
        self.port, self.console = free_ports(2)
        self.command = [str(SERVER), "serve", f"--state={self.state}", f"--domain={DOMAIN}"]
        self.command += [f"--compute=127.0.0.1:{self.port}", f"--console=127.0.0.1:{self.console}"]
        self.command += [f"--acme-directory={pebble.directory}", f"--acme-ca={pebble.ca}"]
        self.command += [f"--acme-client={BIN / client}"]
        self.command += [f"--acme-listen=127.0.0.1:{pebble.http_port}", *more]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, first: Callable[[], None] | None = None) -> None:
        """Start the server and wait until it listens or has ended. Its process calls ``first``."""
        before = len(self.log) if self.log_file.exists() else 0
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, preexec_fn=first)
        wait(lambda: self.ended or '"listening"' in self.log[before:])

    @property
    def log_file(self) -> Path:
        return self.folder / "log"

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    @property
    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def stop(self) -> int:
        """End the server and return its exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def certificate(self, root: str) -> dict[str, object]:
        """Return the certificate that a phone gets, which trusts the authority's root."""
        tls = ssl.create_default_context(cadata=root)
        with (
            socket.create_connection(("127.0.0.1", self.port)) as plain,
            tls.wrap_socket(plain, server_hostname=DOMAIN) as connection,
        ):
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {DOMAIN}\r\n\r\n".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
            found: dict[str, object] = connection.getpeercert() or {}
            return found


def test_the_first_start_gets_a_certificate(tmp_path: Path, pebble: Pebble) -> None:
    server = Server(tmp_path, pebble)
    server.start()
    try:
        assert server.certificate(pebble.root())["subjectAltName"] == (("DNS", DOMAIN),)
        credentials = json.loads((server.state / "credentials.json").read_text())
        assert credentials["join_url"].startswith(f"https://{DOMAIN}:{server.port}/join#")
        # The certificate is for the domain, so the console on loopback has no TLS.
        assert credentials["console"] == f"http://127.0.0.1:{server.console}"
        for path in (server.state / "acme").rglob("*"):
            if path.suffix == ".key":
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert stat.S_IMODE((server.state / "acme").stat().st_mode) == 0o700
        assert "tls_key_open" not in server.log
    finally:
        assert server.stop() == 0
    # A restart asks the authority for nothing.
    asked = server.log.count("acme_asked")
    server.log_file.rename(tmp_path / "first")
    server.start()
    try:
        server.certificate(pebble.root())
        assert "acme_asked" not in server.log
        assert asked == 1
    finally:
        assert server.stop() == 0


def test_a_certificate_is_renewed_without_a_restart(tmp_path: Path, pebble: Pebble) -> None:
    """Every certificate of 90 days is due, and the server looks again at once."""
    server = Server(tmp_path, pebble, "--acme-renew-days=365", "--acme-every-ms=100")
    server.start()
    try:
        tls = ssl.create_default_context(cadata=pebble.root())
        plain = socket.create_connection(("127.0.0.1", server.port))
        with tls.wrap_socket(plain, server_hostname=DOMAIN) as kept:
            first = server.certificate(pebble.root())["serialNumber"]
            wait(lambda: server.certificate(pebble.root())["serialNumber"] != first)
            # An open connection goes on.
            kept.sendall(f"GET /healthz HTTP/1.1\r\nHost: {DOMAIN}\r\n\r\n".encode())
            assert kept.recv(100).startswith(b"HTTP/1.1 200")
        assert not server.ended
    finally:
        assert server.stop() == 0


def test_the_unit_allows_what_lego_does(tmp_path: Path, pebble: Pebble) -> None:
    """Lego inherits the list of system calls. A call that is not on it would end the process."""
    calls = allowed_calls()
    if os.geteuid() == 0:
        # As root, which the service is not, SQLite gives its files the owner of the database.
        calls |= {"fchown"}
    server = Server(tmp_path, pebble)
    server.start(lambda: allow_only(calls))
    try:
        server.certificate(pebble.root())
    finally:
        assert server.stop() == 0


def test_a_failed_renewal_leaves_the_certificate(tmp_path: Path, pebble: Pebble) -> None:
    server = Server(tmp_path, pebble)
    server.start()
    assert server.stop() == 0
    command = list(server.command)
    # Nobody answers at this port, so the authority cannot see the answer.
    (other,) = free_ports(1)
    server.command = [word for word in command if not word.startswith("--acme-listen")]
    server.command += [f"--acme-listen=127.0.0.1:{other}"]
    server.command += ["--acme-renew-days=365", "--acme-every-ms=1000"]
    server.log_file.unlink()
    server.start()
    try:
        wait(lambda: '"acme_failed"' in server.log)
        server.certificate(pebble.root())
    finally:
        assert server.stop() == 0
    (line, *_) = [each for each in server.log.splitlines() if '"acme_failed"' in each]
    assert re.search(rf"No certificate for {re.escape(DOMAIN)} from {pebble.directory}: ", line)


def test_a_name_that_leads_elsewhere_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "authority"
    folder.mkdir()
    with Pebble(folder) as pebble:
        pebble.refuse(DOMAIN)
        server = Server(tmp_path, pebble)
        server.start()
        assert server.process is not None
        assert server.process.wait() == 1
        assert f"No certificate for {DOMAIN} from {pebble.directory}: " in server.log
        # The next start does not ask again at once.
        server.start()
        assert server.process.wait() == 1
        assert "minutes away" in server.log.splitlines()[-1]
        assert server.log.count("acme_asked") == 2


def test_without_lego_the_start_says_what_to_install(tmp_path: Path, pebble: Pebble) -> None:
    server = Server(tmp_path, pebble, client="no-such-program")
    server.start()
    assert server.process is not None
    assert server.process.wait() == 1
    assert "apt install lego" in server.log


def test_a_key_that_everybody_can_read_is_warned_about(tmp_path: Path, pebble: Pebble) -> None:
    server = Server(tmp_path, pebble)
    server.start()
    assert server.stop() == 0
    os.chmod(server.state / "acme/certificates" / f"{DOMAIN}.key", 0o644)
    server.start()
    assert server.stop() == 0
    (line,) = [each for each in server.log.splitlines() if '"tls_key_open"' in each]
    assert '"warning"' in line
