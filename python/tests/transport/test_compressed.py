"""Tests that a server compresses long pages of trials for clients that accept gzip, and for no
others. Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import gzip
import json
import urllib.request
from collections.abc import Mapping
from email.message import Message
from typing import Any

import pytest
from real_server import Server

TRIALS = 60


def _objective(trial: Any) -> float:
    return float(trial.params["a rather long name of a parameter"])


def _ask(real: Server, path: str, headers: Mapping[str, str]) -> tuple[bytes, Message]:
    token = real.credentials["researcher_token"]
    request = urllib.request.Request(
        f"{real.console}{path}", headers={"Authorization": f"Bearer {token}", **headers}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(), answer.headers


@pytest.mark.server
def test_long_pages_of_trials_are_compressed_for_those_who_accept_it(real: Server) -> None:
    with real.client() as client:
        space = {"a rather long name of a parameter": [n / 7 for n in range(TRIALS)]}
        study = client.grid(_objective, space)
        with real.device() as device:
            lease: Any = device.ready()
            while lease:
                lease = device.result(lease, outcome="complete", values=[float(lease.trial)]).lease
        study.wait(60)
    path = f"/api/studies/{study.id}/trials"
    plain, headers = _ask(real, path, {})
    assert headers["Content-Encoding"] is None
    assert len(json.loads(plain)["trials"]) == TRIALS
    packed, headers = _ask(real, path, {"Accept-Encoding": "gzip"})
    assert (headers["Content-Encoding"], headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 3
    short, headers = _ask(real, f"{path}?limit=1", {"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] is None
    assert len(json.loads(short)["trials"]) == 1
