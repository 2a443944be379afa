"""Measures how much memory a connected phone that waits for work costs: ``./run bench idle``.

Each phone joins, opens its WebSocket from an address of its own (127.0.0.0/8), says hello, asks
for work and is told to wait. There is no work. The resident memory of the server's process before
and after is compared: first without TLS, then with the server's own TLS, and then with TLS by
Caddy in front of it. Behind Caddy the server knows a phone's address from a header. Caddy opens
two files for each phone. If one Caddy may not open so many, several share the phones.

Writes one report, ``build/reports/idle.json``. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import ipaddress
import json
import os
import re
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bench_report
from real_server import HeldPort, Server

ROOT = Path(__file__).resolve().parents[2]
CADDY = ROOT / "build/cache/debian/caddy"
NAME = "idle"
#: The ways to the server, and the most KiB of its memory that a phone may cost.
WAYS = {"plain": 12.0, "tls": 24.0, "caddy": 12.0}
#: The server frees what a connection needed for its beginning within this time.
SETTLE_S = 10.0
#: Descriptors for everything but the phones.
SPARE = 200
#: Phones that join through one connection, and that connect at the same time.
PER_CONNECTION, AT_ONCE = 100, 32
_CAPABILITIES = {
    "backends": ["cpu"],
    "memory_mb": 4096,
    "cores": 8,
    "engine": "bench",
    "class": "phone",
}


def raised_limit(wanted: int) -> int:
    """Raise the limit of open descriptors as far as this user may, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in (max(wanted, hard), hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        except (ValueError, OSError):
            continue
        return most
    return soft


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 and its key."""
    chain, key = folder / "cert.pem", folder / "key.pem"
    words: list[str | Path] = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]
    words += ["-nodes", "-keyout", key, "-out", chain, "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(words, check=True, capture_output=True)
    return chain, key


def address(phone: int) -> str:
    """Return the local address of a phone."""
    return str(ipaddress.ip_address("127.0.1.1") + phone)


@contextmanager
def caddy(state: Path, port: int, server_port: int) -> Iterator[None]:
    """Run Caddy with the certificate of this folder in front of the server, as
    deploy/compose/Caddyfile does.
    """
    config = state / f"Caddyfile-{port}"
    log_file = state / f"caddy-{port}.log"
    config.write_text(
        "{\n  admin off\n  auto_https disable_redirects\n  skip_install_trust\n}\n"
        f"https://127.0.0.1:{port} {{\n  bind 127.0.0.1\n  tls {state}/cert.pem {state}/key.pem\n"
        f"  reverse_proxy 127.0.0.1:{server_port}\n}}\n"
    )
    command = [str(CADDY), "run", "--config", str(config), "--adapter", "caddyfile"]
    homes = {"HOME": str(state), "XDG_DATA_HOME": str(state), "XDG_CONFIG_HOME": str(state)}
    with (
        log_file.open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | homes) as process,
    ):
        try:
            while True:
                assert process.poll() is None, log_file.read_text()
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield
        finally:
            process.kill()


def join(port: int, code: str, context: ssl.SSLContext | None, count: int) -> list[dict[str, Any]]:
    """Join this many devices and return what each was told."""
    body = {"code": code, "class": "phone", "engine": "bench"}
    told = []
    connection: http.client.HTTPConnection | None = None
    for phone in range(count):
        if phone % PER_CONNECTION == 0:
            place: tuple[str, int] = ("127.0.0.1", port)
            source = (address(phone), 0)
            connection = (
                http.client.HTTPSConnection(*place, source_address=source, context=context)
                if context
                else http.client.HTTPConnection(*place, source_address=source)
            )
        assert connection is not None
        connection.request(
            "POST", "/api/join", json.dumps(body), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        told.append(json.loads(answer.read()))
        assert answer.status == 201, told[-1]
    return told


def frame(message: dict[str, Any]) -> bytes:
    """Return a WebSocket frame with this message, masked with zeros."""
    text = json.dumps(message).encode()
    size = len(text)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + text


async def received(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Return the next message."""
    size = (await reader.readexactly(2))[1]
    if size == 126:
        size = int.from_bytes(await reader.readexactly(2), "big")
    message: dict[str, Any] = json.loads(await reader.readexactly(size))
    return message


async def connected(
    port: int, phone: int, device: dict[str, Any], context: ssl.SSLContext | None
) -> asyncio.StreamWriter:
    """Connect a phone, and return when it was told to wait for work."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, local_addr=(address(phone), 0), limit=4096
    )
    writer.write(
        f"GET /ws/worker HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101"), head
    hello = {"type": "hello", "protocol": 1, "role": "device", "agent": "bench/1", "attempts": []}
    hello |= {"device": device["device"], "secret": device["secret"]}
    writer.write(frame(hello | {"capabilities": _CAPABILITIES}))
    welcome = await received(reader)
    assert welcome["type"] == "welcome", welcome
    writer.write(frame({"type": "ready"}))
    wait = await received(reader)
    assert wait["type"] == "wait", wait
    return writer


async def all_connected(
    ports: list[int], devices: list[dict[str, Any]], context: ssl.SSLContext | None
) -> list[asyncio.StreamWriter]:
    """Connect all phones, a few at a time, to these ports in turns."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(phone: int) -> asyncio.StreamWriter:
        async with turns:
            return await connected(ports[phone % len(ports)], phone, devices[phone], context)

    return await asyncio.gather(*map(one, range(len(devices))))


def resident_kib(pid: int) -> int:
    """Return the resident memory of a process in KiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


def cpu_s(pid: int) -> float:
    """Return the time that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(state: Path, phones: int, way: str, caddies: int) -> dict[str, float]:
    """Connect the phones to a new server by one of WAYS. Return KiB and milliseconds of CPU of the
    server for each.
    """
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    options = ["--max-connections", str(2 * phones), "--max-workers", str(phones)]
    # The phones send no heartbeats.
    options += ["--log-level", "warning", "--lease-ms", "1 h"]
    context = None
    if way != "plain":
        chain, key = certificate(state)
        context = ssl.create_default_context(cafile=str(chain))
    if way == "tls":
        options += ["--tls-cert", str(chain), "--tls-key", str(key)]
    elif way == "caddy":
        options += ["--trusted-proxy", "127.0.0.1"]
    server = Server(state, *options).start()
    try:
        assert server.process is not None
        pid = server.process.pid
        port = int(server.compute.rstrip("/").rsplit(":", 1)[1])
        ports = [port]
        with ExitStack() as front:
            if way == "caddy":
                held = [HeldPort() for _ in range(caddies)]
                ports = [one.number for one in held]
                for one in ports:
                    front.enter_context(caddy(state, one, port))
            devices = join(ports[0], server.credentials["enrolment_code"], context, phones)
            time.sleep(SETTLE_S)
            before, computed = resident_kib(pid), cpu_s(pid)
            loop = asyncio.new_event_loop()
            try:
                writers = loop.run_until_complete(all_connected(ports, devices, context))
                computed = cpu_s(pid) - computed
                time.sleep(SETTLE_S)
                grown = resident_kib(pid) - before
                for writer in writers:
                    assert not writer.is_closing()
                    writer.transport.abort()
                loop.run_until_complete(asyncio.sleep(0))
            finally:
                loop.close()
        return {"kib": grown / phones, "cpu_ms": 1e3 * computed / phones}
    finally:
        server.kill()


def rows_of(found: dict[str, dict[str, float]], phones: int) -> list[dict[str, Any]]:
    """Return the figures of the report."""
    rows: list[dict[str, Any]] = []
    for way, goal in WAYS.items():
        rows.append({"name": f"idle_phones_{way}", "value": phones, "unit": "phones"})
        kib = {"name": f"idle_phone_{way}_kib", "value": found[way]["kib"], "unit": "KiB"}
        cpu = {"name": f"connect_{way}_cpu_ms", "value": found[way]["cpu_ms"], "unit": "ms"}
        rows += [kib | {"op": "<=", "goal": goal}, cpu]
    return rows


def main() -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/idle.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build/bench-state" / NAME)
    parser.add_argument("--phones", type=int, default=10_000)
    given = parser.parse_args()
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build/release/bin/hyperflock-server")
    )
    descriptors = raised_limit(2 * given.phones + SPARE)
    load = os.getloadavg()[0]
    if descriptors < given.phones + SPARE:
        raise SystemExit(
            f"{given.phones} phones need {given.phones + SPARE} open files (ulimit -n)"
        )
    # Caddy holds two connections for each phone. One process may not be allowed so many.
    caddies = -(-2 * given.phones // (descriptors - SPARE))
    found = {way: measured(given.state, given.phones, way, caddies) for way in WAYS}
    rows = rows_of(found, given.phones)
    return bench_report.write(given.out, NAME, load, rows, digits=2)


if __name__ == "__main__":
    sys.exit(main())
