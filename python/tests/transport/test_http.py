"""Tests uploads and requests: whole files despite faults, progress bars, a sentence for each
refusal.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyperflock
import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import Client, Deleted
from hyperflock._base.errors import server_error
from hyperflock._transport import background_loop as _loop
from hyperflock._transport import http as _http
from objectives import objective
from patience import LIMIT_S


def test_large_upload_arrives_whole_after_a_fault_with_a_bar(
    client: Client, server: FakeConsole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(np.random.default_rng(0).bytes(5 << 20))
    # Four requests succeed: a salt and the PUT of the code, and a salt and a proof for the file.
    # Then the PUT of the file fails twice.
    server.faults = [0, 0, 0, 0, 503, 502]
    study = client.grid(objective, {"x": [1]}, {"large": path}, progress=True)
    (ref,) = server.specs[study.id].data
    assert server.blobs[ref.sha256] == path.read_bytes()
    assert "sending 'large'" in capsys.readouterr().err


def test_bytes_of_somebody_else_are_proved_and_not_sent(
    client: Client, server: FakeConsole, tmp_path: Path
) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(np.random.default_rng(0).bytes(1 << 20))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    server.blobs[sha256] = path.read_bytes()
    server.of_others.add(sha256)
    client.grid(objective, {"x": [1]}, {"large": path})
    assert f"POST /api/blobs/{sha256}/proof" in server.requests
    assert f"PUT /api/blobs/{sha256}" not in server.requests
    assert sha256 not in server.of_others
    client.grid(objective, {"x": [2]}, {"large": path})
    assert server.requests.count(f"POST /api/blobs/{sha256}/proof") == 1


def test_bytes_that_the_server_has_otherwise_are_sent(
    client: Client, server: FakeConsole, tmp_path: Path
) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(b"a" * (1 << 20))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    server.blobs[sha256] = b"damaged"
    server.of_others.add(sha256)
    client.grid(objective, {"x": [1]}, {"large": path})
    assert f"PUT /api/blobs/{sha256}" in server.requests


def test_a_server_without_proofs_is_asked_whether_it_has_the_bytes(
    client: Client, server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.grid(objective, {"x": [1]})
    real = _http.Http.post

    async def post(self: _http.Http, where: str, body: Any) -> Any:
        if where.startswith("/api/blobs/"):
            raise server_error("not_found", "there is no such page", None)
        return await real(self, where, body)

    monkeypatch.setattr(_http.Http, "post", post)
    client.grid(objective, {"x": [2]})
    (sha256,) = server.blobs
    assert f"HEAD /api/blobs/{sha256}" in server.requests
    assert server.requests.count(f"PUT /api/blobs/{sha256}") == 1


def test_file_that_changes_while_it_is_sent_is_refused(
    client: Client, server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "moving.bin"
    path.write_bytes(b"before")
    real = _http.Http.post

    async def post(self: _http.Http, where: str, body: Any) -> Any:
        path.write_bytes(b"after!")
        return await real(self, where, body)

    monkeypatch.setattr(_http.Http, "post", post)
    with pytest.raises(hyperflock.ServerError) as caught:
        client.grid(objective, {"x": [1]}, {"moving": path})
    assert caught.value.code == "hash_mismatch"


def test_deletion_whose_answer_was_lost_is_one(
    client: Client, server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = client.grid(objective, {"x": [1]}).cancel()
    real = _http.Http._once
    lost: list[int] = []

    async def once(self: _http.Http, *arguments: Any) -> tuple[int, bytes, float]:
        answer = await real(self, *arguments)
        if arguments[0] == "DELETE" and not lost:
            lost.append(answer[0])
            raise ConnectionResetError("the line broke")
        return answer

    monkeypatch.setattr(_http.Http, "_once", once)
    assert study.delete() == Deleted(study.id)
    assert lost == [200]
    with pytest.raises(hyperflock.NotFoundError):
        study.delete()


def test_deletion_that_no_try_can_have_done_is_none(client: Client, server: FakeConsole) -> None:
    study = client.grid(objective, {"x": [1]}).cancel()
    other = Client(server.url, server.token).study(study.id)
    study.delete()
    server.faults = [503]
    with pytest.raises(hyperflock.NotFoundError):
        other.delete()


def test_lasting_fault_is_told_after_the_patience(server: FakeConsole) -> None:
    server.faults = [503] * 50
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    http = _http.Http(
        _http.Origin.parse(server.url),
        server.token,
        patience_s=60,
        sleep=sleep,
        clock=lambda: sum(slept),
    )
    with pytest.raises(hyperflock.ServerError) as caught:
        _loop.run(http.get("/api/studies"))
    http.close()
    assert caught.value.code == "storage_unavailable"
    assert len(server.requests) == len(slept) + 1
    assert 52 <= sum(slept) <= 60
    assert max(slept) <= _http._MAX_BACK_OFF_S


@pytest.mark.parametrize(
    ("patience_s", "answered", "least", "most"),
    [(None, False, 0.5, 3), (None, True, 20, 30), (20.0, False, 10, 20), (20.0, True, 10, 20)],
)
def test_server_that_never_answered_is_not_waited_for(
    patience_s: float | None, answered: bool, least: float, most: float
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with FakeConsole() as server:
        http = _http.Http(
            _http.Origin.parse(server.url),
            server.token,
            patience_s=patience_s,
            sleep=sleep,
            clock=lambda: sum(slept),
        )
        if answered:
            server.faults = [503]  # any answer shows that the server is reachable
            _loop.run(http.get("/api/studies"))
    http.close()
    slept.clear()
    with pytest.raises(hyperflock.ServerUnreachableError, match="is the server running"):
        _loop.run(http.get("/api/studies"))
    http.close()
    assert least <= sum(slept) <= most


def test_name_that_nobody_has_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    origin = _http.Origin.parse("http://flock.example.org")
    http = _http.Http(origin, "t", sleep=sleep, clock=lambda: sum(slept))
    with pytest.raises(hyperflock.ServerUnreachableError, match="Name or service not known"):
        _loop.run(http.get("/api/studies"))
    http.close()
    assert sum(slept) <= _http._FIRST_PATIENCE_S


def test_back_off_doubles_with_jitter_up_to_its_limit() -> None:
    for attempt, most in ((1, 0.5), (2, 1.0), (5, 8.0), (7, 30.0), (1000, 30.0)):
        waits = [_http.back_off_s(attempt, 0.5, 30.0) for _ in range(200)]
        assert most / 2 <= min(waits) < max(waits) <= most
        assert len(set(waits)) > 1


def test_refusals_in_a_proxy_s_own_words_still_have_a_code() -> None:
    for status, code in ((401, "unauthorized"), (404, "not_found"), (418, "server_error")):
        for body in (b"", b"<html>", b'{"error": 1}', b"[]"):
            error = _http._refusal(status, body)
            assert error.code == code
    odd = _http._refusal(422, b'{"error": {"code": "x\\u001b[2J", "message": "a\\nb\\u0007"}}')
    assert (odd.code, odd.message) == ("x[2J", "a b")


def test_refusal_names_its_request_for_the_operator() -> None:
    request = "4f2a6f0de1c04b3f8d1f3c5a7be90142"

    def refusal(request_id: str) -> hyperflock.HyperflockError:
        told = {"code": "unknown_study", "message": "No such study.", "request_id": request_id}
        return _http._refusal(404, json.dumps({"error": told}).encode())

    error = refusal(request)
    assert isinstance(error, hyperflock.NotFoundError)
    assert error.request_id == request
    assert str(error) == f"No such study. [unknown_study]\nrequest {request}"
    again = pickle.loads(pickle.dumps(error))
    assert again.request_id == request
    for odd in ("", "x" * 32, request.upper(), request + "\n", request + "\x1b[2J"):
        assert str(refusal(odd)) == "No such study. [unknown_study]"


def test_token_goes_to_the_given_origin_only(server: FakeConsole) -> None:
    with Client(server.url, server.token) as client:
        server._answer = lambda *_: _redirect()  # type: ignore[assignment,method-assign]
        with pytest.raises(hyperflock.ServerError):
            client.studies()
    assert len(server.requests) == 1


def _redirect() -> object:
    from fakes.answers import Answer

    return Answer(302)


FORKS = """
import os, sys, hyperflock
client = hyperflock.Client(sys.argv[1], sys.argv[2])
client.studies()
child = os.fork()
client.studies()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.studies()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_child_has_connections_of_its_own(server: FakeConsole) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKS, server.url, server.token]
    subprocess.run(command, check=True, timeout=LIMIT_S)
    assert len(server.requests) == 4
    assert len(server.connections) == 2
