"""Tests the notice for users who wait for a study while nothing runs, and the same text in
`show`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

import asked_objectives as given
import optuna
import pytest
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import AsyncClient, Client, WaitTimeoutError
from hyperflock._cli import command as _cli
from hyperflock._cli import notice as _notice
from hyperflock._cli import tables as _tables
from hyperflock._client import async_study as _async_study
from hyperflock._client import idle_notice as _waiting
from hyperflock._client.idle_notice import Waiting, placement_text, why_none
from hyperflock._client.placement import DeviceShare, Placement, Requires
from hyperflock._transport.http import Http
from hyperflock._transport.messages import StudyRow
from hyperflock._transport.validation import convert
from hyperflock.optuna import optimize
from objectives import objective
from patience import LIMIT_S, until

SPACE = {"x": [1.0, 2.0]}
NOBODY = {"devices": 0, "matching": 0, "reasons": {}}
NO_DEVICE = "no device is connected; volunteers join by the link of: hyperflock join"
FEW_CORES = {"devices": 2, "matching": 0, "reasons": {"few_cores": 2}}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, server: FakeConsole) -> None:
    monkeypatch.setattr(_waiting, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(_waiting, "_AGAIN_S", 0.05)
    monkeypatch.setattr(_async_study, "SLICE_S", 0.02)
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)


def _asked(server: FakeConsole) -> int:
    with server.lock:
        return sum(line.endswith("/placement") for line in server.requests)


def _was_asked(server: FakeConsole, times: int) -> bool:
    return _asked(server) >= times


def _later(server: FakeConsole, *steps: Callable[[], object]) -> threading.Thread:
    """Run the steps in a thread, each after the server got two more requests."""

    def work() -> None:
        for step in steps:
            begun = _asked(server)
            until("two more questions", partial(_was_asked, server, begun + 2))
            step()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _finish_all(server: FakeConsole) -> None:
    for number in range(2):
        server.finish(1, number, value=1.0)


def test_each_reason_is_said_once(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    server.placement = NOBODY
    study = client.grid(objective, SPACE, requires={"cores": 500}, progress=False)
    thread = _later(
        server,
        lambda: setattr(server, "placement", FEW_CORES),
        lambda: _finish_all(server),
    )
    assert [trial.number for trial in study] == [0, 1]
    thread.join()
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        f"study 1 waits: {NO_DEVICE}",
        "study 1 waits: none of 2 devices has 500 cores",
    ]


def test_watch_notifies_when_devices_run_out_and_at_the_end(
    client: Client, server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(_notice, "notify", lambda *one: told.append(one))
    server.placement = NOBODY
    client.grid(objective, SPACE, name="digits")
    thread = _later(server, lambda: _finish_all(server))
    assert _cli.run(["watch", "digits", "--notify"]) == 0
    thread.join()
    assert told == [
        ("study 1 digits", f"waits: {NO_DEVICE}"),
        ("study 1 digits", "finished: 2 of 2 trials, best 1"),
    ]


def test_nothing_is_said_where_a_device_qualifies_or_something_runs(
    client: Client,
    server: FakeConsole,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = client.grid(objective, SPACE, progress=False)
    thread = _later(server, lambda: server.begin(study.id, 0))
    while thread.is_alive():
        with pytest.raises(WaitTimeoutError):
            study.wait(0.5)
    server.placement = NOBODY
    reasons: list[str] = []
    monkeypatch.setattr(_waiting, "why_none", lambda *told: reasons.append("why"))
    with pytest.raises(WaitTimeoutError):
        study.wait(0.5)
    assert (reasons, capsys.readouterr().err) == ([], "")


def test_a_paused_study_is_named(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    study = client.grid(objective, SPACE, progress=False).pause()
    said = ""
    while not said:
        with pytest.raises(WaitTimeoutError):
            study.wait(0.5)
        said = capsys.readouterr().err
    assert "study 1 waits: it is paused; it goes on by: hyperflock resume 1" in said


@pytest.mark.parametrize("slow", [False, True])
def test_a_page_that_fails_or_hangs_holds_nobody_up(
    client: Client,
    server: FakeConsole,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    slow: bool,
) -> None:
    study = client.grid(objective, SPACE, progress=False)
    asked, get = threading.Event(), client._core._http.get

    async def answer(path: str) -> Any:
        if not path.endswith("/placement"):
            return await get(path)
        asked.set()
        if slow:
            await asyncio.sleep(600)
        raise OSError("no such page")

    def finish() -> None:
        assert asked.wait(LIMIT_S)
        _finish_all(server)

    monkeypatch.setattr(client._core._http, "get", answer)
    thread = threading.Thread(target=finish)
    thread.start()
    assert study.wait(LIMIT_S).row.state == "finished"
    thread.join()
    assert capsys.readouterr().err == ""


def test_the_asynchronous_client_says_it_too(
    server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    server.placement = NOBODY

    async def main() -> None:
        async with AsyncClient(server.url, server.token) as client:
            study = await client.grid(objective, SPACE, progress=False)
            _later(server, lambda: _finish_all(server))
            await study.wait(LIMIT_S)

    asyncio.run(main())
    assert capsys.readouterr().err.splitlines() == [f"study 1 waits: {NO_DEVICE}"]


def test_watch_says_it_beside_its_lines(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    server.placement = NOBODY
    client.grid(objective, SPACE, progress=False)
    thread = _later(server, lambda: _finish_all(server))
    assert _cli.run(["watch", "1", "--json"]) == 0
    thread.join()
    told = capsys.readouterr()
    assert all(line.startswith("{") for line in told.out.splitlines())
    assert told.err == f"study 1 waits: {NO_DEVICE}\n"


def test_optimize_says_it_while_no_device_computes(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    server.placement = NOBODY
    devices = Devices(server, given.square)

    def connect() -> None:
        # The placement is set before the trial runs, because the client may ask for it again
        # between the trial and the study's end.
        server.placement = {"devices": 1, "matching": 1, "reasons": {}}
        devices.__enter__()

    thread = _later(server, connect)
    optimize(optuna.create_study(), given.square, 1, client=client)
    thread.join()
    devices.__exit__(None, None, None)
    said = [line for line in capsys.readouterr().err.splitlines() if "waits" in line]
    assert said == [f"study 1 waits: {NO_DEVICE}"]
    with Devices(server, given.square, study=2):
        optimize(optuna.create_study(), given.square, 3, client=client)
    assert "waits" not in capsys.readouterr().err


def test_an_answer_from_before_a_trial_ran_is_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_waiting, "_PATIENCE_S", 0.0)
    answers: list[Future[str]] = []

    def start(reason: Coroutine[Any, Any, str]) -> Future[str]:
        reason.close()
        answers.append(Future())
        return answers[-1]

    waiting = Waiting(cast(Http, None), study=1)
    waiting.look(start, idle=True)
    waiting.look(start, idle=False)  # a trial runs
    if not answers[0].cancelled():
        answers[0].set_result("no device")
    waiting.look(start, idle=True)  # it has ended
    waiting.look(start, idle=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("kind", "said"), [("asked", NO_DEVICE), ("grid", "")])
def test_of_an_ask_and_tell_study_a_trial_that_waits_does_not_run(
    client: Client, server: FakeConsole, kind: str, said: str
) -> None:
    client.grid(objective, SPACE, progress=False)
    row = {**server.study_row(1), "kind": kind, "running": 1}

    class Pages:
        async def get(self, path: str) -> Any:
            return {**NOBODY, "reasons": []} if path.endswith("/placement") else row

    waiting = Waiting(cast(Http, Pages()), study=1)
    assert asyncio.run(waiting._reason()) == said


def test_show_tells_which_devices_there_are(
    client: Client, server: FakeConsole, capsys: pytest.CaptureFixture[str]
) -> None:
    def devices() -> list[str]:
        assert _cli.run(["show", "1"]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line.split("  ", 1)[1].strip() for line in lines if line.startswith("devices ")]

    study = client.grid(objective, SPACE, requires={"cores": 500})
    assert devices() == [
        "2 connected, 1 matches: 1 lacks WebGPU; all of them compute, and 2 of the researchers "
        "come before you; your weight is 100 of 300"
    ]
    server.placement = FEW_CORES
    assert devices() == ["2 connected, none matches: 2 lack 500 cores"]
    server.placement = NOBODY
    assert devices() == ["none connected; volunteers join by the link of: hyperflock join"]
    server.begin(study.id, 0)
    assert devices() == []
    _finish_all(server)
    assert devices() == []


def test_reasons_in_words(client: Client, server: FakeConsole) -> None:
    wanted: Requires = {"memory_mb": 4096, "buffer_mb": 512, "cores": 8}
    client.grid(objective, SPACE, requires=wanted)
    row = convert(server.study_row(1), StudyRow)

    def words(**reasons: int) -> str:
        return why_none(Placement(sum(reasons.values()), 0, reasons), row)

    assert words(no_webgpu=1) == "the one connected device lacks WebGPU"
    assert words(little_memory=3) == "none of 3 devices has 4096 MiB of memory"
    assert words(no_f16=1, small_buffers=2) == (
        "none of 3 devices qualifies: 2 lack room for arrays of 512 MiB on WebGPU, "
        "1 lacks half precision (f16) on WebGPU"
    )
    assert words(new_code=2) == "none of 2 devices has what it needs (new_code)"
    assert placement_text(Placement(3, 3, {}), row) == "3 connected, 3 match"

    def waiting(waits: str, matching: int = 3, ahead: int = 2) -> str:
        share = DeviceShare(weight=100, weights=400, guaranteed=0, devices=5, ahead=ahead)
        return placement_text(Placement(3, matching, {}, share, waits), row).partition("; ")[2]

    busy = "all of them compute, and "
    assert waiting("busy") == f"{busy}you are next"
    part = "before you; your weight is 100 of 400"
    assert waiting("others_first") == f"{busy}2 of the researchers come {part}"
    assert waiting("others_first", ahead=1) == f"{busy}1 of the researchers comes {part}"
    assert waiting("own_priority") == "another study of yours has a higher priority"
    assert waiting("ceiling") == "you may not use more devices now, 5 compute for you"
    assert waiting("no_trial") == "every trial has begun"
    assert waiting("server") == "the server leases nothing now"
    assert waiting("") == waiting("new_code") == waiting("no_match", matching=0) == ""


def test_who_samples_for_a_study_that_waits_is_paused_or_is_over(
    client: Client, server: FakeConsole
) -> None:
    def texts() -> tuple[str, str]:
        row = convert(server.study_row(1), StudyRow)
        return _tables.sampler_text(row), client.study(1)._repr_html_()

    optimize(optuna.create_study(), given.square, 0, client=client)
    server.asked[1].label, server.asked[1].state = "notebook@vm", "running"
    text, page = texts()
    assert text == "none now, was notebook@vm: the study waits for one"
    assert "the study waits for one" in page
    client.study(1).pause()
    text, page = texts()
    assert text == "none now, was notebook@vm: the study needs one once it is resumed"
    assert "waits" not in page
    assert ">paused<" in page
    client.study(1).resume()
    client.study(1).cancel()
    text, page = texts()
    assert text == "none now, was notebook@vm"
    assert "waits" not in page
