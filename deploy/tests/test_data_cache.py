"""Puts Debian's nginx as a cache in front of a real server, and lets many devices fetch a data set.

The cache stores what the server allows by the headers of RFC 9111, and nothing else.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import urllib3
from ground import Ground
from nginx_cache import NginxCache
from patience import LIMIT_S, until
from wire import enrol

DEVICES = 40
DATA = secrets.token_bytes(2 << 20)


@dataclass
class Stage:
    """A server with a study, a cache in front of it, and devices that have joined."""

    ground: Ground
    cache: NginxCache
    sha256: str
    devices: list[str]
    study: int
    pool: urllib3.PoolManager

    def link(self, device: str) -> str:
        path = f"/api/blobs/{self.sha256}/link"
        answer = self.ground.http("GET", path, at="compute", token=device)
        assert answer.code == "ok", answer
        url: str = answer.body["url"]
        assert url.startswith(self.cache.origin)
        return url

    def get(self, url: str, **headers: str) -> urllib3.BaseHTTPResponse:
        return self.pool.request("GET", url, headers=headers)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with ExitStack() as stack:
        (tmp_path / "server").mkdir()
        # The server names the cache, and the cache the server. The server's ports are known first.
        ground = Ground(tmp_path / "server", working=False)
        origin = f"http://127.0.0.1:{ground.server.compute_port}"
        cache = stack.enter_context(NginxCache(tmp_path / "cache", origin))
        ground.server.options = (
            *ground.server.options,
            *("--data-url", cache.origin, "--trusted-proxy", "127.0.0.1"),
        )
        stack.enter_context(ground)
        sha256 = ground.blob(DATA)
        data = {"name": "set", "kind": "file", "filename": "set", "bytes": len(DATA)}
        study = ground.study(data=[{**data, "sha256": sha256}])
        who = [enrol(ground, ground.attacker.link) for _ in range(DEVICES)]
        devices = [f"Device {one['device']}:{one['secret']}" for one in who]
        pool = urllib3.PoolManager(maxsize=DEVICES, timeout=LIMIT_S, retries=False)
        stack.callback(pool.clear)
        yield Stage(ground, cache, sha256, devices, study, pool)


def test_many_devices_cost_the_server_one_answer(stage: Stage) -> None:
    def fetch(device: str) -> str:
        answer = stage.get(stage.link(device))
        assert answer.status == 200
        return hashlib.sha256(answer.data).hexdigest()

    with ThreadPoolExecutor(DEVICES) as threads:
        assert set(threads.map(fetch, stage.devices)) == {stage.sha256}
    until("the log", lambda: len(stage.cache.requests()) >= DEVICES)
    answered = stage.cache.requests()
    assert [one.cache for one in answered].count("HIT") == DEVICES - 1
    sent = sum(one.origin_bytes for one in answered)
    assert len(DATA) <= sent < len(DATA) + 4096


def test_the_cache_answers_although_the_server_is_away(stage: Stage) -> None:
    url = stage.link(stage.devices[0])
    first = stage.get(url)
    stage.ground.server.kill()
    again = stage.get(url)
    assert again.data == first.data == DATA
    assert again.headers["ETag"] == f'"{stage.sha256}"'
    assert again.headers["Access-Control-Allow-Origin"] == stage.ground.server.compute
    same = stage.get(url, **{"If-None-Match": f'"{stage.sha256}"'})
    assert (same.status, same.data) == (304, b"")


def test_the_cache_gives_nothing_to_somebody_without_the_link(stage: Stage) -> None:
    url = stage.link(stage.devices[0])
    assert stage.get(url).status == 200
    parts = url.split("/")
    later, neighbour = str(int(parts[-3]) + 86_400), str(int(parts[-4]) + 1)
    for at, other in ((-2, "0" * 64), (-3, later), (-4, neighbour)):
        forged = "/".join([*parts[:at], other, *parts[at + 1 :]])
        assert stage.get(forged).status == 403
    # The same bytes under another address would be fetched and stored once more.
    for number in range(3):
        assert stage.get(f"{url}?{number}").status == 403
    assert stage.get(f"{stage.cache.origin}/api/blobs/{stage.sha256}").status == 404
    until("the log", lambda: len(stage.cache.requests()) >= 8)
    assert [one.cache for one in stage.cache.requests()].count("HIT") == 0
    sent = sum(one.origin_bytes for one in stage.cache.requests())
    assert sent < len(DATA) + 16 * 1024


def test_no_refusal_is_stored(stage: Stage) -> None:
    url = stage.link(stage.devices[0])
    admin = stage.ground.admin
    bar = f"/api/barred/{stage.sha256}"
    assert stage.ground.http("POST", bar, {}, token=admin).code == "ok"
    assert stage.get(url).status == 404
    assert stage.ground.http("POST", f"{bar}/lift", {}, token=admin).code == "ok"
    assert stage.get(url).data == DATA


def test_a_link_is_never_stored_and_lasts_as_long_as_it_says(stage: Stage) -> None:
    url = stage.link(stage.devices[0])
    direct = stage.ground.http("GET", urlsplit(url).path, at="compute")
    assert direct.status == 200
    age = int(direct.headers["Cache-Control"].split("max-age=")[1].split(",")[0])
    assert 0 < age <= 2 * 86_400
    answer = stage.ground.http(
        "GET", f"/api/blobs/{stage.sha256}/link", at="compute", token=stage.devices[0]
    )
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.body["until"] % 86_400_000 == 0
