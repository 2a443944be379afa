"""Tests that the fake console agrees with the real server: both get the same requests, and their
answers are compared.

Every field of an answer is compared. For those that differ between any two servers (times, ids,
sequence numbers and the words of messages) only the kind is compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
import urllib3
from device import Device
from fake_console import FakeConsole
from hyperflock._model.spec import encode_spec
from hyperflock._transport import frames
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import (
    AskedTrial,
    BlobRef,
    Dimension,
    Failure,
    Lease,
    Limits,
    OwnerClaim,
    Runtime,
    StudySpec,
)
from patience import LIMIT_S, until
from real_server import Server
from websockets.sync.client import connect

pytestmark = pytest.mark.server

CODE = b"def objective(trial): return 0.5"
SHA256 = hashlib.sha256(CODE).hexdigest()
#: Fields whose values depend on the server. Only their kinds are compared.
OWN = {
    "accepted_attempt",
    "attempt",
    "build",
    "created_at",
    "cursor",
    "device",
    "engine",
    "estimate",
    "finished_at",
    "generation",
    "id",
    "join_origin",
    "join_url",
    "load_ms",
    "message",
    "name",
    "owner",
    "points",
    "run_ms",
    "seq",
    "server",
    "server_time",
    "session",
    "since",
    "software",
    "started_at",
    "url",
}


class Side(Protocol):
    """A console, and the device that acts for it."""

    url: str
    token: str

    def complete(self, study: int, number: int, value: float) -> None:
        """Let a device complete a trial. Trials must finish in their order."""

    def fail(self, study: int, number: int) -> None:
        """Let a trial's objective raise."""

    def begin(self, study: int, number: int) -> None:
        """Let a device start a trial."""

    def leave(self, study: int, number: int, line: str, name: str, content: bytes) -> None:
        """Let a running trial print a line and upload a file."""

    def close(self) -> None: ...


class Fake:
    def __init__(self) -> None:
        self._console = FakeConsole().__enter__()
        self.url, self.token = self._console.url, self._console.token

    def complete(self, study: int, number: int, value: float) -> None:
        self._console.finish(study, number, value=value)

    def fail(self, study: int, number: int) -> None:
        error = {"cause": "user_error", "code": "objective_raised", "message": "ValueError: no"}
        self._console.finish(study, number, "failed", error=error)

    def begin(self, study: int, number: int) -> None:
        self._console.begin(study, number)

    def leave(self, study: int, number: int, line: str, name: str, content: bytes) -> None:
        self._console.printed[study, number] = [line]
        self._console.keep(study, number, name, content)

    def close(self) -> None:
        self._console.__exit__()


class Real:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._device: Device | None = None
        self._lease: Lease | None = None
        self.url, self.token = server.console, server.credentials["researcher_token"]

    def complete(self, study: int, number: int, value: float) -> None:
        self.begin(study, number)
        points = [(0, value + 1), (1, value)]
        self._end(outcome="complete", values=[value], points=points)

    def fail(self, study: int, number: int) -> None:
        self.begin(study, number)
        error = Failure("user_error", "objective_raised", "ValueError: no")
        self._end(outcome="failed", error=error)

    def begin(self, study: int, number: int) -> None:
        if self._device is None:
            self._device = self._server.device()
        if self._lease is None:
            self._lease = self._device.ready()
        assert (self._lease.study, self._lease.trial) == (study, number)

    def leave(self, study: int, number: int, line: str, name: str, content: bytes) -> None:
        assert self._device is not None
        assert self._lease is not None
        attempt = self._lease.attempt
        self._device.send(_protocol.Output(attempt, [line]))
        sha256 = hashlib.sha256(content).hexdigest()
        address = f"{self._device.compute}/api/attempts/{attempt}/artifacts/{sha256}"
        secret = f"Device {self._device.device}:{self._device.secret}"
        answer = urllib3.request(
            "PUT",
            f"{address}?id=notes&name={name}&type=text/plain",
            headers={"Authorization": secret},
            body=content,
            retries=False,
        )
        assert answer.status == 201, answer.data

    def _end(self, **result: Any) -> None:
        assert self._device is not None
        assert self._lease is not None
        row = f"/api/studies/{self._lease.study}"
        ended = self._lease.trial + 1
        self._device.result(self._lease, more=False, **result)
        self._lease = None
        call = Calls(self)

        def is_counted() -> bool:
            call("GET", row)
            is_over = call.last["state"] == "finished" or ended < call.last["total"]
            return bool(call.last["complete"] + call.last["failed"] == ended and is_over)

        # The device gets its acknowledgement before the study's row changes, so wait for the row.
        until("the study's row", is_counted)

    def close(self) -> None:
        if self._device is not None:
            self._device.close()


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    server = Server(tmp_path).start()
    fake, real = Fake(), Real(server)
    yield fake, real
    fake.close()
    real.close()
    server.stop()


class Calls:
    """Requests to one console, and their answers in comparable form."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._http = urllib3.PoolManager(timeout=LIMIT_S, retries=False)

    def __call__(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
        given = {"Authorization": f"Bearer {self._side.token}", **headers}
        answer = self._http.request(
            method, self._side.url + path, headers=given, body=body, redirect=False
        )
        kind = answer.headers.get("Content-Type", "")
        self.last: Any = answer.json() if "json" in kind and answer.data else answer.data.decode()
        return answer.status, kind, comparable(self.last)


def comparable(value: Any, field: str = "") -> Any:
    if field in OWN:
        return type(value).__name__
    if isinstance(value, dict):
        # The real server gives each request an id of its own, and the fake gives none.
        compared = ((k, v) for k, v in sorted(value.items()) if k != "request_id")
        return {k: comparable(v, k) for k, v in compared}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value


def spec(key: str, **fields: Any) -> bytes:
    made: dict[str, Any] = {
        "name": "held",
        "submit_key": key,
        "direction": "minimize",
        "entry": "module:objective",
        "bundle": BlobRef(SHA256, len(CODE)),
        "space": [Dimension("x", [1, 2, 3])],
        "data": [],
        "seed": 3,
        "runtime": Runtime("5.4.0"),
        "limits": Limits(time_limit_ms=60_000),
        "provenance": {},
        **fields,
    }
    return encode_spec(StudySpec(**made))


def agree(sides: tuple[Side, Side], scenario: Any) -> None:
    """Run a scenario on both servers and compare each of its steps."""
    fake, real = (dict(scenario(side)) for side in sides)
    apart = [
        f"{step}:\n  fake: {json.dumps(fake[step])}\n  real: {json.dumps(answer)}"
        for step, answer in real.items()
        if fake[step] != answer
    ]
    assert not apart, "\n" + "\n".join(apart)


def test_a_study_from_its_submission_to_its_end(sides: tuple[Side, Side]) -> None:
    def scenario(side: Side) -> Iterator[tuple[str, Any]]:
        call = Calls(side)
        yield "me", call("GET", "/api/me")
        yield "unknown blob", call("HEAD", f"/api/blobs/{SHA256}")
        yield "study without its blob", call("POST", "/api/studies", spec("a"))
        yield "other bytes", call("PUT", f"/api/blobs/{SHA256}", b"other")
        yield "blob", call("PUT", f"/api/blobs/{SHA256}", CODE)
        yield "blob again", call("PUT", f"/api/blobs/{SHA256}", CODE)
        yield "known blob", call("HEAD", f"/api/blobs/{SHA256}")
        yield (
            "wrong spec",
            call("POST", "/api/studies", spec("a").replace(b'"seed":3', b'"seed":-3')),
        )
        yield "study", call("POST", "/api/studies", spec("a"))
        study = call.last["study"]
        path = f"/api/studies/{study}"
        yield "study again", call("POST", "/api/studies", spec("a"))
        yield "key of another study", call("POST", "/api/studies", spec("a", seed=4))
        yield "row", call("GET", path)
        yield "no trials", call("GET", f"{path}/trials?after=0&limit=10")
        yield "none unfinished", call("GET", f"{path}/unfinished")
        yield "no artifacts", call("GET", f"{path}/artifacts?after=0&limit=10")
        yield (
            "unknown artifact",
            call("GET", f"{path}/artifacts/00000000-0000-4000-8000-000000000000"),
        )
        yield "code", call("GET", f"{path}/blobs/{SHA256}")
        yield "spec", call("GET", f"{path}/spec")
        yield "pause", call("POST", f"{path}/pause")
        yield "resume", call("POST", f"{path}/resume")
        yield "deleted too early", call("DELETE", path)
        side.complete(study, 0, 0.5)
        yield "after a trial", call("GET", path)
        yield "its row", call("GET", f"{path}/trials?after=0&limit=10")
        yield "its row with points", call("GET", f"{path}/trials?after=0&limit=10&points=1")
        yield "the trial", call("GET", f"{path}/trials/0")
        yield "its log", call("GET", f"{path}/trials/0/log?after=0")
        side.fail(study, 1)
        yield "after a failure", call("GET", path)
        yield "the failed trial", call("GET", f"{path}/trials/1")
        side.begin(study, 2)
        yield "while one runs", call("GET", path)
        yield "unfinished", call("GET", f"{path}/unfinished")
        yield "the running trial", call("GET", f"{path}/trials/2")
        side.complete(study, 2, 0.25)
        yield "finished", call("GET", path)
        yield "all rows", call("GET", f"{path}/trials?after=0&limit=10")
        yield "a page", call("GET", f"{path}/trials?after=0&limit=2")
        yield "after all", call("GET", f"{path}/trials?after={call.last['cursor']}&limit=2")
        yield "replay", call("POST", f"{path}/replay")
        yield "cancel", call("POST", f"{path}/cancel")
        yield "unknown trial", call("GET", f"{path}/trials/7")
        yield "delete", call("DELETE", path)
        yield "deleted", call("GET", path)

    agree(sides, scenario)


def test_what_a_trial_leaves(sides: tuple[Side, Side]) -> None:
    def scenario(side: Side) -> Iterator[tuple[str, Any]]:
        call = Calls(side)
        call("PUT", f"/api/blobs/{SHA256}", CODE)
        call("POST", "/api/studies", spec("leaves"))
        study = call.last["study"]
        path = f"/api/studies/{study}"
        side.begin(study, 0)
        side.leave(study, 0, "loss 0.5", "notes.txt", b"written")
        side.complete(study, 0, 0.5)
        yield "artifacts", call("GET", f"{path}/artifacts?after=0&limit=10")
        (artifact,) = call.last["artifacts"]
        cursor = call.last["cursor"]
        yield "no more", call("GET", f"{path}/artifacts?after={cursor}&limit=10")
        yield "of the trial", call("GET", f"{path}/artifacts?after=0&limit=10&trial=0")
        yield "of another", call("GET", f"{path}/artifacts?after=0&limit=10&trial=1")
        yield "content", call("GET", f"{path}/artifacts/{artifact['id']}")
        yield "log", call("GET", f"{path}/trials/0/log?after=0")
        yield "rest of the log", call("GET", f"{path}/trials/0/log?after={call.last['cursor']}")
        call("POST", f"{path}/cancel")
        yield "deleted", call("DELETE", path)

    agree(sides, scenario)


def test_an_ask_and_tell_study(sides: tuple[Side, Side]) -> None:
    def scenario(side: Side) -> Iterator[tuple[str, Any]]:
        call = Calls(side)
        call("PUT", f"/api/blobs/{SHA256}", CODE)
        fields = {"kind": "asked", "directions": ["minimize"], "space": []}
        yield "submitted", call("POST", "/api/studies", spec("asked", **fields))
        study = call.last["study"]
        path = f"/api/studies/{study}"
        yield "unfinished", call("GET", f"{path}/unfinished")
        call("GET", f"{path}/placement")
        yield "placement", sorted(call.last)
        with Socket(side, side.token) as socket:
            socket.receive()
            socket.send(_protocol.Watch(study=study, after=0, own=OwnerClaim("me")))
            yield "claimed", socket.receive()
            yield "row with an owner", call("GET", path)
            asked = [AskedTrial(0, "{}")]
            socket.send(_protocol.OwnerReply(study, taken=0, room=1, target=1, asked=asked))
            until("the asked trial", lambda: call("GET", path)[2]["total"] == 1)
            yield "row with a trial", call("GET", path)
            yield "unfinished with a trial", call("GET", f"{path}/unfinished")
        call("POST", f"{path}/cancel")
        until("no owner", lambda: not call("GET", path)[2]["sampler"]["attached"])
        yield "row of a cancelled one", call("GET", path)

    agree(sides, scenario)


def test_what_is_refused(sides: tuple[Side, Side]) -> None:
    def scenario(side: Side) -> Iterator[tuple[str, Any]]:
        call = Calls(side)
        yield "other token", call("GET", "/api/me", Authorization="Bearer hfr_other")
        yield "unknown study", call("GET", "/api/studies/999")
        yield "unknown page", call("GET", "/api/nothing")
        yield "no JSON", call("POST", "/api/studies", b"{")
        yield "no spec", call("POST", "/api/studies", b"{}")

    agree(sides, scenario)


def test_the_researchers_socket(sides: tuple[Side, Side]) -> None:
    def scenario(side: Side) -> Iterator[tuple[str, Any]]:
        call = Calls(side)
        call("PUT", f"/api/blobs/{SHA256}", CODE)
        call("POST", "/api/studies", spec("watched"))
        study = call.last["study"]
        call("POST", "/api/studies", spec("owned", kind="asked", directions=["minimize"], space=[]))
        asked = call.last["study"]
        with Socket(side, "hfr_other") as socket:
            yield "other token", socket.receive()
        with Socket(side, side.token) as socket:
            yield "welcome", socket.receive()
            socket.send(_protocol.Watch(study=999, after=0))
            yield "unknown study", socket.receive()
            socket.send(_protocol.Watch(study=study, after=0))
            yield "update", socket.receive()
            side.complete(study, 0, 0.5)
            while not (told := socket.receive())["trials"]:
                pass
            yield "update of a trial", told
        with Socket(side, side.token) as socket:
            socket.receive()
            socket.send(_protocol.Watch(study=study, after=0, own=OwnerClaim("me")))
            yield "a grid has no owner", socket.receive()
            socket.send(_protocol.OwnerReply(asked, taken=0, room=0))
            yield "reply of no owner", socket.receive()
            socket.send(_protocol.Watch(study=asked, after=0, own=OwnerClaim("me")))
            yield "owned", socket.receive()
        call("POST", f"/api/studies/{study}/cancel")
        call("POST", f"/api/studies/{asked}/cancel")
        with Socket(side, side.token) as socket:
            socket.receive()
            socket.send(_protocol.Watch(study=asked, after=0, own=OwnerClaim("me")))
            yield "owned too late", socket.receive()

    agree(sides, scenario)


class Socket:
    """A researcher's WebSocket that has sent its hello."""

    def __init__(self, side: Side, token: str) -> None:
        address = f"ws{side.url.removeprefix('http')}/ws/client"
        self._opened = contextlib.ExitStack()
        self._socket = self._opened.enter_context(
            connect(address, compression=None, proxy=None, open_timeout=LIMIT_S)
        )
        self.send(_protocol.HelloResearcher(1, "researcher", token, "test/1"))

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def send(self, message: _protocol.ClientMessage) -> None:
        self._socket.send(frames.encode(message))

    def receive(self) -> Any:
        """Return the next message in comparable form."""
        return comparable(json.loads(self._socket.recv(LIMIT_S)))
