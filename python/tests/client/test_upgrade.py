"""Tests, on a real server, a study that runs while the server gets another runtime for browsers.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import hyperflock
import pytest
import urllib3
from device import Device
from hyperflock._bundle.source.runtime import RUNTIME_VERSIONS
from hyperflock._transport.messages import Failure, Lease
from objectives import objective
from patience import LIMIT_S
from real_server import Server

pytestmark = pytest.mark.server
_http = urllib3.PoolManager(timeout=LIMIT_S, retries=False)


def install(server: Server, **versions: str) -> str:
    """Replace the runtime by another small one, and return its id."""
    runtime = server.folder / "runtime"
    runtime.mkdir(exist_ok=True)
    for old in runtime.rglob("*"):
        if old.is_file():
            old.unlink()
    told: dict[str, Any] = {}
    for name, version in {**versions, "chainer-7.8.1": "7.8.1"}.items():
        content = f"{name} {version}".encode()
        sha256 = hashlib.sha256(content).hexdigest()
        base = f"{name}-{sha256[:16]}"
        (runtime / base).mkdir(exist_ok=True)
        (runtime / base / "code.zip").write_bytes(content)
        file = {"name": "code.zip", "sha256": sha256, "bytes": len(content), "br": None, "gz": None}
        told[name] = {"version": version, "base": f"/runtime/{base}/", "files": [file]}
    name = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    (runtime / "index.json").write_text(json.dumps({"runtime": name, "pieces": told}))
    return name


class Browser:
    """Runs leases as a browser does: it loads the runtime that a lease names, and checks the
    bundle's lock.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.loaded: list[str] = []

    def run(self, lease: Lease) -> Lease | None:
        named = lease.runtime_index
        index = self._get(f"/runtime/index-{named}.json" if named else "/runtime/index.json")
        found = json.loads(index)
        for piece in found["pieces"].values():
            for file in piece["files"]:
                content = self._get(piece["base"] + file["name"])
                assert hashlib.sha256(content).hexdigest() == file["sha256"]
        self.loaded.append(found["runtime"])
        if found["pieces"]["numpy"]["version"] != RUNTIME_VERSIONS["numpy"]:
            error = Failure("invalid", "runtime_mismatch", "the bundle was made for another NumPy")
            return self.device.result(lease, outcome="failed", error=error).lease or None
        return self.device.complete(lease, 0.5)

    def _get(self, path: str) -> bytes:
        answer = _http.request("GET", self.device.compute + path)
        assert answer.status == 200, (path, answer.data)
        return answer.data


NOW = {name: RUNTIME_VERSIONS[name] for name in ("pyodide", "numpy")}


def test_a_running_study_keeps_its_runtime_through_an_upgrade(tmp_path: Path) -> None:
    server = Server(tmp_path)
    first = install(server, **NOW)
    server.start()
    try:
        with server.client() as client:
            study = client.grid(objective, {"x": [*range(8)]}, name="through an upgrade")
            with server.device() as device:
                browser = Browser(device)
                lease = browser.run(device.ready())
                assert lease is not None
            server.stop()
            second = install(server, pyodide="400.0.0", numpy="3.0.0")
            server.start()
            with server.device() as device:
                after = Browser(device)
                lease = device.ready()
                while lease:
                    lease = after.run(lease)
            study.wait(LIMIT_S)
            assert (study.row.complete, study.row.failed) == (8, 0)
            assert browser.loaded == [first]
            assert set(after.loaded) == {first}
            # While the server keeps the old runtime, code that was made for it may still be
            # submitted.
            again = client.grid(objective, {"x": [1]}, name="later")
            again.cancel()
            # At its next start the server deletes the old runtime, which no running study needs.
            server.stop()
            server.start()
            kept = [path.name for path in (tmp_path / "state" / "runtimes").iterdir()]
            assert kept == [second]
            with pytest.raises(hyperflock.ServerError) as caught:
                client.grid(objective, {"x": [1]}, name="too late")
            assert caught.value.code == "runtime_mismatch"
            assert caught.value.field == "versions.pyodide"  # the first that differs
    finally:
        server.stop()


def test_a_runtime_that_differs_only_by_the_worker_replaces_the_old_one(tmp_path: Path) -> None:
    server = Server(tmp_path)
    install(server, **NOW, worker="1")
    server.start()
    try:
        with server.client() as client:
            study = client.grid(objective, {"x": [*range(2)]}, name="another worker")
            server.stop()
            second = install(server, **NOW, worker="2")
            server.start()
            with server.device() as device:
                browser = Browser(device)
                lease: Lease | None = device.ready()
                while lease:
                    lease = browser.run(lease)
            study.wait(LIMIT_S)
            assert browser.loaded == [second, second]
            assert (study.row.complete, study.row.failed) == (2, 0)
    finally:
        server.stop()
