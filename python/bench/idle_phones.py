"""Measures how much memory a connected phone that waits for work costs: ``./run bench idle``.

Each phone joins, opens its WebSocket from an address of its own (127.0.0.0/8), says hello, asks for
work and is told to wait. There is no work. The resident memory of the server's process before and
after is compared, first without TLS and then with the server's own TLS.

Writes one report, ``build/reports/idle.json``. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import ipaddress
import json
import os
import platform
import re
import resource
import shutil
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from real_server import Server

ROOT = Path(__file__).resolve().parents[2]
NAME = "idle"
PLAIN_KIB, TLS_KIB = 12.0, 24.0
#: The server frees what a connection needed for its beginning within this time.
SETTLE_S = 10.0
#: Phones that join through one address, and that connect at the same time.
PER_ADDRESS, AT_ONCE = 100, 32
_CAPABILITIES = {
    "backends": ["cpu"],
    "memory_mb": 4096,
    "cores": 8,
    "engine": "bench",
    "class": "phone",
}


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
    return str(ipaddress.ip_address("127.0.1.1") + phone // PER_ADDRESS)


def join(server: Server, context: ssl.SSLContext | None, count: int) -> list[dict[str, Any]]:
    """Join this many devices and return what each was told."""
    place = server.compute.split("://")[1].rstrip("/")
    body = {"code": server.credentials["enrolment_code"], "class": "phone", "engine": "bench"}
    told = []
    connection: http.client.HTTPConnection | None = None
    for phone in range(count):
        if phone % PER_ADDRESS == 0:
            source = (address(phone), 0)
            connection = (
                http.client.HTTPSConnection(place, source_address=source, context=context)
                if context
                else http.client.HTTPConnection(place, source_address=source)
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
    port: int, devices: list[dict[str, Any]], context: ssl.SSLContext | None
) -> list[asyncio.StreamWriter]:
    """Connect all phones, a few at a time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(phone: int) -> asyncio.StreamWriter:
        async with turns:
            return await connected(port, phone, devices[phone], context)

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


def measured(state: Path, phones: int, *, tls: bool) -> dict[str, float]:
    """Connect the phones to a new server. Return KiB and milliseconds of CPU for each."""
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    options = ["--max-connections", str(2 * phones), "--log-level", "warning"]
    context = None
    if tls:
        chain, key = certificate(state)
        options += ["--tls-cert", str(chain), "--tls-key", str(key)]
        context = ssl.create_default_context(cafile=str(chain))
    server = Server(state, *options).start()
    try:
        assert server.process is not None
        pid = server.process.pid
        devices = join(server, context, phones)
        time.sleep(SETTLE_S)
        before, computed = resident_kib(pid), cpu_s(pid)
        port = int(server.compute.rstrip("/").rsplit(":", 1)[1])
        loop = asyncio.new_event_loop()
        try:
            held = loop.run_until_complete(all_connected(port, devices, context))
            computed = cpu_s(pid) - computed
            time.sleep(SETTLE_S)
            grown = resident_kib(pid) - before
            for writer in held:
                assert not writer.is_closing()
                writer.transport.abort()
            loop.run_until_complete(asyncio.sleep(0))
        finally:
            loop.close()
        return {"kib": grown / phones, "cpu_ms": 1e3 * computed / phones}
    finally:
        server.kill()


def rows_of(plain: dict[str, float], tls: dict[str, float], phones: int) -> list[dict[str, Any]]:
    """Return the figures of the report."""
    return [
        {"name": "idle_phones", "value": phones, "unit": "phones"},
        {
            "name": "idle_phone_kib",
            "value": plain["kib"],
            "unit": "KiB",
            "op": "<=",
            "goal": PLAIN_KIB,
        },
        {
            "name": "idle_phone_tls_kib",
            "value": tls["kib"],
            "unit": "KiB",
            "op": "<=",
            "goal": TLS_KIB,
        },
        {"name": "connect_cpu_ms", "value": plain["cpu_ms"], "unit": "ms"},
        {"name": "connect_tls_cpu_ms", "value": tls["cpu_ms"], "unit": "ms"},
    ]


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
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    load = os.getloadavg()[0]
    plain = measured(given.state, given.phones, tls=False)
    tls = measured(given.state, given.phones, tls=True)
    rows = rows_of(plain, tls, given.phones)
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "load": round(load, 1)}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    report = {"name": NAME, "machine": machine, "figures": rows}
    given.out.write_text(json.dumps(report, indent=2) + "\n")
    for row in rows:
        print(f"{row['name']} {row['value']:.2f} {row['unit']}")
    return 0 if all(row["value"] <= row.get("goal", row["value"]) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
