"""The bridge that stands still for promises, over a module and a ``run_sync`` of the test's own."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hyperflock_worker import bridge


class Promise:
    """What JavaScript would give: a value that is there once it was waited for."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Module(ModuleType):
    """``_hyperflock_bridge`` of a thread that shares no memory."""

    def __init__(self) -> None:
        super().__init__("_hyperflock_bridge")
        self.promises = True
        self.room = 2
        self.reports: list[tuple[int, float]] = []
        self.steps = 0

    def call(self, method: str, payload_json: str) -> Promise:
        return Promise(f'{{"ok": true, "value": "{method} {len(payload_json)}"}}')

    def upload(self, head_json: str, content: bytes) -> Promise:
        return Promise(f'{{"ok": true, "value": "{len(head_json)} {len(content)}"}}')

    def report(self, step: int, value: float) -> Promise | None:
        self.reports.append((step, value))
        return None if len(self.reports) <= self.room else Promise(None)

    def progress(self) -> None:
        self.steps += 1


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Module, list[Promise]]]:
    """The module in its place, and the promises that Python stood still for."""
    module, promises = Module(), []

    def run_sync(promise: Promise) -> Any:
        promises.append(promise)
        return promise.value

    ffi = ModuleType("pyodide.ffi")
    ffi.run_sync = run_sync  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "_hyperflock_bridge", module)
    monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
    monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
    bridge.set_bridge(None)
    yield module, promises
    bridge.set_bridge(None)


def test_a_call_waits_for_its_answer(waited: tuple[Module, list[Promise]]) -> None:
    assert bridge.call("should_prune", {"step": 1}) == "should_prune 11"
    assert len(waited[1]) == 1


def test_an_upload_waits_until_it_is_stored(waited: tuple[Module, list[Promise]]) -> None:
    assert '"2 3"' in bridge.current().upload("{}", b"abc")
    assert len(waited[1]) == 1


def test_every_bridge_has_what_trials_call() -> None:
    functions = {name for name in vars(bridge.Bridge) if not name.startswith("_")}
    for each in (bridge.LocalBridge, bridge.PromisingBridge):
        assert functions <= set(vars(each))


def test_a_report_waits_only_where_there_is_no_room(waited: tuple[Module, list[Promise]]) -> None:
    module, promises = waited
    for step in range(3):
        bridge.report(step, 0.5)
    assert module.reports == [(0, 0.5), (1, 0.5), (2, 0.5)]
    assert len(promises) == 1


def test_progress_never_waits(waited: tuple[Module, list[Promise]]) -> None:
    bridge.progress()
    assert waited[0].steps == 1
    assert waited[1] == []
