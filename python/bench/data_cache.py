"""Measures what the server sends when 1,000 devices fetch one data set of 10 MB, directly and
through a cache in front of it: ``./run bench data_cache``.

The devices join and fetch as the agent does, 16 at a time; they compute nothing. Bytes are those of
HTTP: heads and bodies, without TLS, TCP and IP. What the cache fetched is in nginx's own log.
Writes one report, ``build/reports/data_cache.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bench_report
import urllib3
from ground import Ground  # type: ignore[import-not-found]
from nginx_cache import NginxCache  # type: ignore[import-not-found]
from patience import LIMIT_S, until
from wire import enrol  # type: ignore[import-not-found]

NAME = "data_cache"
ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 16


def joined(ground: Ground, devices: int) -> list[str]:
    """Return the credentials of so many new devices."""
    who = (enrol(ground, ground.attacker.link) for _ in range(devices))
    return [f"Device {one['device']}:{one['secret']}" for one in who]


def sent(answer: urllib3.BaseHTTPResponse, body: bytes) -> int:
    """Return how many bytes an answer has."""
    lines = sum(len(f"{name}: {value}\r\n") for name, value in answer.headers.items())
    return len(f"HTTP/1.1 {answer.status} OK\r\n\r\n") + lines + len(body)


def measured(folder: Path, devices: int, size: int) -> dict[str, tuple[float, str]]:
    """Return the figures, each with its unit."""
    data = secrets.token_bytes(size)
    (folder / "server").mkdir()
    ground = Ground(folder / "server", "--joins-burst", str(10 * devices), working=False)
    origin = f"http://127.0.0.1:{ground.server.compute_port}"
    pool = urllib3.PoolManager(maxsize=AT_ONCE, timeout=LIMIT_S, retries=False)
    with NginxCache(folder / "cache", origin) as cache:
        ground.server.options += ("--data-url", cache.origin, "--trusted-proxy", "127.0.0.1")
        with ground:
            sha256 = ground.blob(data)
            named = {"name": "set", "kind": "file", "filename": "set", "bytes": size}
            ground.study(data=[{**named, "sha256": sha256}])
            credentials = joined(ground, devices)

            def get(url: str, **headers: str) -> tuple[int, bytes]:
                answer = pool.request("GET", url, headers=headers)
                assert answer.status == 200, (url, answer.status)
                return sent(answer, answer.data), answer.data

            def direct(device: str) -> int:
                count, body = get(f"{origin}/api/blobs/{sha256}", Authorization=device)
                assert hashlib.sha256(body).hexdigest() == sha256
                return count

            def cached(device: str) -> int:
                count, body = get(f"{origin}/api/blobs/{sha256}/link", Authorization=device)
                _, bytes_of_cache = get(json.loads(body)["url"])
                assert hashlib.sha256(bytes_of_cache).hexdigest() == sha256
                return count

            found: dict[str, tuple[float, str]] = {}
            with ThreadPoolExecutor(AT_ONCE) as threads:
                begun = time.monotonic()
                found["direct_bytes"] = (sum(threads.map(direct, credentials)), "B")
                found["direct_s"] = (time.monotonic() - begun, "s")
                begun = time.monotonic()
                links = sum(threads.map(cached, credentials))
                found["cached_s"] = (time.monotonic() - begun, "s")
            until("nginx's log", lambda: len(cache.requests()) >= devices)
            answered = cache.requests()
            fetched = sum(one.origin_bytes for one in answered)
            found["cached_bytes"] = (links + fetched, "B")
            found["cached_link_bytes"] = (links, "B")
            found["cached_misses"] = (sum(one.cache != "HIT" for one in answered), "requests")
    return found


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1_000)
    parser.add_argument("--bytes", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/data_cache.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build/bench-state" / NAME)
    given = parser.parse_args()
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build/release/bin/hyperflock-server")
    )
    shutil.rmtree(given.state, ignore_errors=True)
    given.state.mkdir(parents=True)
    load = os.getloadavg()[0]
    rows = [
        {"name": f"data_{name}", "value": value, "unit": unit}
        for name, (value, unit) in measured(given.state, given.devices, given.bytes).items()
    ]
    bench_report.write(given.out, NAME, load, rows, digits=1)


if __name__ == "__main__":
    main()
