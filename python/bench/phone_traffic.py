"""Measures what a phone sends and receives, and what its heartbeats cost the server:
``./run bench traffic``.

A phone joins, waits, gives signs of life and computes trials, without TLS and through a relay that
counts the bytes of its connection, without those of TCP and IP. The files of a study are not in
these figures, because a phone fetches them once. Writes one report, ``build/reports/traffic.json``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import bench_report
from ground import Ground  # type: ignore[import-not-found]
from idle_phones import ROOT, cpu_s
from wire import Wire, enrol  # type: ignore[import-not-found]

NAME = "traffic"
HEARTBEATS, TRIALS = 20_000, 200
#: How often a phone gives a sign (--heartbeat-ms).
HEARTBEAT_S = 10
_PIECE = 1 << 16


class Relay:
    """Passes connections on to the server and counts their bytes."""

    def __init__(self, compute: str) -> None:
        place = urlsplit(compute)
        self._target = (place.hostname or "", place.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self.bytes = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(self._target)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(_PIECE):
                with self._lock:
                    self.bytes += len(piece)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


def finish(
    phone: Wire, lease: dict[str, Any], reports: int, *, more: bool = True
) -> dict[str, Any]:
    """Compute a trial with so many reports of one point. Return the next lease."""
    attempt = lease["attempt"]
    for seq in range(1, reports + 1):
        phone.send({"type": "report", "attempt": attempt, "seq": seq, "points": [[seq, 0.123456]]})
        assert phone.code() == "ack"
    values = {"outcome": "complete", "values": [0.123456], "points": [], "backend": "cpu"}
    times = {"load_ms": 1, "run_ms": 12345}
    sent = {"type": "result", "attempt": attempt, "seq": reports + 1, "metrics": times}
    phone.send({**sent, **values, "next": more})
    answer = phone.message()
    assert answer["type"] == "result_ack", answer
    following: dict[str, Any] = answer.get("lease") or {}
    return following


def measured(folder: Path) -> dict[str, tuple[float, str]]:
    """Return the figures, each with its unit."""
    found: dict[str, tuple[float, str]] = {}
    with Ground(folder, "--messages-per-s", "1000000", working=False) as ground:
        relay = Relay(ground.server.compute)
        direct, ground.server.compute = ground.server.compute, relay.address
        who = enrol(ground, ground.attacker.link)
        found["join_bytes"] = (relay.bytes, "B")
        with Wire(ground, who=who) as phone:
            phone.send({"type": "ready"})
            assert phone.code() == "wait"
            found["open_bytes"] = (relay.bytes - found["join_bytes"][0], "B")
            before = relay.bytes
            for _ in range(100):
                phone.send({"type": "heartbeat", "attempts": []})
                assert phone.code() == "ack"
            heartbeat = (relay.bytes - before) / 100
            found["heartbeat_bytes"] = (heartbeat, "B")
            found["idle_hour_bytes"] = (heartbeat * 3600 / HEARTBEAT_S, "B")
            ground.study()
            # The phone waits for work, so the server sends the first lease by itself.
            offered = phone.message()
            for reports in (0, 10):
                lease = offered["lease"] if reports == 0 else phone.lease()
                before = relay.bytes
                for _ in range(TRIALS):
                    lease = finish(phone, lease, reports)
                one = (relay.bytes - before) / TRIALS
                found[f"trial_{reports}_reports_bytes"] = (one, "B")
                # The lease that came with the last result is given back by its own result.
                finish(phone, lease, reports, more=False)
        # Without the relay, whose threads would take the processor from the server.
        ground.server.compute = direct
        assert ground.server.process is not None
        pid = ground.server.process.pid
        with Wire(ground, who=who) as phone:
            sign = json.dumps({"type": "heartbeat", "attempts": []})
            computed = cpu_s(pid)
            for _ in range(HEARTBEATS):
                phone.send(sign)
                assert phone.code() == "ack"
            spent = cpu_s(pid) - computed
        found["cpu_ms_for_1000_heartbeats"] = (1e6 * spent / HEARTBEATS, "ms")
    return found


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/traffic.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build/bench-state" / NAME)
    given = parser.parse_args()
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build/release/bin/hyperflock-server")
    )
    shutil.rmtree(given.state, ignore_errors=True)
    given.state.mkdir(parents=True)
    load = os.getloadavg()[0]
    rows = [
        {"name": f"phone_{name}", "value": value, "unit": unit}
        for name, (value, unit) in measured(given.state).items()
    ]
    bench_report.write(given.out, NAME, load, rows, digits=1)


if __name__ == "__main__":
    main()
