"""Tests the worker's host, with a fake module ``_hyperflock_bridge`` and a fake ``run_sync``."""

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hyperflock._base.errors import CallError
from hyperflock._trial.host import Artifact, Host, LocalHost
from hyperflock_worker import bridge
from hyperflock_worker.bridge import WorkerHost, find_host

YES = '{"ok": true, "value": true}'
LATE = '{"ok": false, "error": {"code": "call_timeout", "message": "late"}}'


class Promise:
    """The value that JavaScript returns if threads share no memory: Python must wait for it."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Module(ModuleType):
    """A fake ``_hyperflock_bridge`` that records calls and gives one answer to all."""

    def __init__(self, answer: str = YES, *, promises: bool = False) -> None:
        super().__init__("_hyperflock_bridge")
        self.promises = promises
        self.answer = answer
        self.room = 2
        self.asked: list[Any] = []
        self.reports: list[tuple[int, float]] = []
        self.steps = 0

    def call(self, method: str, payload_json: str) -> Any:
        self.asked.append((method, json.loads(payload_json)))
        return self._answer()

    def upload(self, head_json: str, content: bytes) -> Any:
        self.asked.append((json.loads(head_json), content))
        return self._answer()

    def report(self, step: int, value: float) -> Promise | None:
        self.reports.append((step, value))
        return Promise(None) if self.promises and len(self.reports) > self.room else None

    def progress(self) -> None:
        self.steps += 1

    def leaving(self) -> bool:
        return self.steps > 0

    def _answer(self) -> Any:
        return Promise(self.answer) if self.promises else self.answer


@pytest.fixture(params=[False, True], ids=["shared", "promises"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Install the fake module. If it returns promises, ``run_sync`` waits for them."""
    found = Module(promises=request.param)
    ffi = ModuleType("pyodide.ffi")
    ffi.run_sync = lambda promise: promise.value  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "_hyperflock_bridge", found)
    monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
    monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
    return found


def test_questions_are_json_and_wait_for_their_answers(module: Module) -> None:
    host = find_host()
    assert host.should_prune(4) is True
    module.answer = json.dumps({"ok": True, "value": "0.5"})
    assert host.suggest("x", "{}") == "0.5"
    suggested = ("suggest", {"name": "x", "distribution": "{}"})
    assert module.asked == [("should_prune", {"step": 4}), suggested]


def test_files_go_with_their_heads(module: Module) -> None:
    host = find_host()
    assert host.save_checkpoint("tree", None, b"abc", 4) is True
    module.answer = '{"ok": true, "value": false}'
    assert host.upload_artifact(Artifact("i", "w.txt", "text/plain", "kept"), b"") is False
    artifact = {"id": "i", "name": "w.txt", "type": "text/plain", "store": "kept"}
    assert module.asked == [
        ({"of": "checkpoint", "format": "tree", "step": None, "logged": 4}, b"abc"),
        ({"of": "artifact", **artifact}, b""),
    ]


def test_a_report_waits_only_where_there_is_no_room() -> None:
    module, waited = Module(promises=True), []
    host = WorkerHost(module, waited.append)
    for step in range(3):
        host.report(step, 0.5)
    assert module.reports == [(0, 0.5), (1, 0.5), (2, 0.5)]
    assert len(waited) == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda host: host.report(0, 0.5),
        lambda host: host.should_prune(0),
        lambda host: host.save_checkpoint("tree", 0, b""),
        lambda host: host.progress(),
    ],
)
def test_each_call_is_a_sign_of_life(act: Callable[[Host], object], module: Module) -> None:
    act(find_host())
    assert module.steps == 1


def test_error_answers_are_raised_with_their_code() -> None:
    error = {"code": "unknown_attempt", "message": "no such attempt"}
    host = WorkerHost(Module(json.dumps({"ok": False, "error": error})))
    with pytest.raises(CallError, match="no such attempt") as caught:
        host.should_prune(0)
    assert caught.value.code == "unknown_attempt"


def test_a_question_that_nobody_answered_in_time_is_asked_again() -> None:
    class Slow(Module):
        def call(self, method: str, payload_json: str) -> Any:
            super().call(method, payload_json)
            return self.answer if len(self.asked) == bridge.CALL_TRIES else LATE

    module = Slow('{"ok": true, "value": "3"}')
    host = WorkerHost(module)
    assert host.suggest("x", "{}") == "3"
    assert len(module.asked) == bridge.CALL_TRIES
    module.asked.clear()
    module.answer = LATE
    with pytest.raises(CallError, match="late"):
        host.suggest("x", "{}")
    assert len(module.asked) == bridge.CALL_TRIES


@pytest.mark.parametrize("answer", ["", "null", "[]", '{"ok": false}', '{"value": 1}'])
def test_answers_that_are_none_are_raised(answer: str) -> None:
    with pytest.raises(CallError) as caught:
        WorkerHost(Module(answer)).should_prune(0)
    assert caught.value.code == "malformed_answer"


def test_every_host_has_what_trials_call() -> None:
    functions = {name for name in vars(Host) if not name.startswith("_")}
    for each in (LocalHost, WorkerHost):
        assert functions <= set(dir(each))


def test_the_page_says_when_the_device_may_soon_be_gone(module: Module) -> None:
    host = find_host()
    assert host.is_leaving() is False
    host.progress()
    assert host.is_leaving() is True
    older = WorkerHost(object())  # the threads of an older page
    assert older.is_leaving() is False
