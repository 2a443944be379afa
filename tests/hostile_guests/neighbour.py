"""Works as a tenant next to an attack: a device that finishes trials, its researcher who looks at
the study, and an administrator.

Standard input begins with one JSON object: ``compute``, ``console``, ``link``, ``token`` and
``admin``. Standard output gets JSON lines: first ``{"study"}``; after each trial ``{"trial",
"value", "ms": {"cycle", "study", "admin"}}``, the milliseconds from sending to answer. It ends
after the trial during which standard input was closed. It is a process of its own, so that an
attack in Python does not slow it down.
"""

from __future__ import annotations

import hashlib
import json
import select
import sys
import time
from collections.abc import Callable
from typing import Any

import urllib3
from device import Device
from patience import LIMIT_S

_EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
# A trial's computing time. Without it the device would finish thousands of trials a second.
_TRIAL_S = 0.003
_pool = urllib3.PoolManager(timeout=LIMIT_S, retries=False)


def main() -> None:
    """Work until standard input is closed."""
    place = json.loads(sys.stdin.readline())
    study = _submit(place)
    _tell({"study": study})
    with Device.join(place["compute"], place["link"]) as device:
        lease = device.ready()
        while not select.select([sys.stdin], [], [], 0)[0]:
            time.sleep(_TRIAL_S)
            value = lease.trial / 8
            held, spent = _timed(lambda: device.complete(lease, value))  # noqa: B023
            look = _ask(place, place["token"], f"/api/studies/{study}")
            admin = _ask(place, place["admin"], "/api/researchers")
            took = {"cycle": spent, "study": look, "admin": admin}
            _tell({"trial": lease.trial, "value": value, "ms": took})
            lease = held or device.next_lease()


def _submit(place: dict[str, Any]) -> int:
    sha256 = hashlib.sha256(_EMPTY_ZIP).hexdigest()
    spec = {
        "name": "the neighbour's study",
        "submit_key": "neighbour",
        "direction": "minimize",
        "entry": "objective:objective",
        "bundle": {"sha256": sha256, "bytes": len(_EMPTY_ZIP)},
        "space": [{"name": name, "values": list(range(1000))} for name in "xy"],
        "runtime": {"chainer": "7.8.1"},
    }
    _request(place, place["token"], "PUT", f"/api/blobs/{sha256}", _EMPTY_ZIP)
    made = _request(place, place["token"], "POST", "/api/studies", json.dumps(spec).encode())
    number: int = made["study"]
    return number


def _ask(place: dict[str, Any], token: str, path: str) -> float:
    return _timed(lambda: _request(place, token, "GET", path))[1]


def _request(
    place: dict[str, Any], token: str, method: str, path: str, body: bytes | None = None
) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    answer = _pool.request(method, f"{place['console']}{path}", body=body, headers=headers)
    assert answer.status < 400, f"{method} {path}: {answer.status} {answer.data!r}"
    return answer.json()


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.monotonic()
    found = call()
    return found, (time.monotonic() - begun) * 1e3


def _tell(row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
