"""``Trial``, the bridge's answers, and what ``hyperflock`` refuses inside a trial."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import hyperflock
import pytest
from hyperflock_worker import bridge
from hyperflock_worker.trial import SuggestMismatchError, Trial


class FakeBridge:
    """Records what it is asked and gives a fixed answer."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []
        self.steps = 0

    def call(self, method: str, payload_json: str) -> str:
        self.asked.append((method, json.loads(payload_json)))
        return self.answer

    def report(self, step: int, value: float) -> None:
        self.asked.append(("report", [step, value]))

    def progress(self) -> None:
        self.steps += 1


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    yield
    bridge.set_bridge(None)


def use(answer: str = '{"ok": true, "value": true}') -> FakeBridge:
    fake = FakeBridge(answer)
    bridge.set_bridge(fake)
    return fake


def trial(**params: Any) -> Trial:
    return Trial(0, params, {}, 1)


def test_suggestions_give_the_points_value() -> None:
    use()
    point = trial(rate=0.1, units=32, kind="adam", deep=True, whole=3, fits=4.0)
    assert point.suggest_float("rate", 0.01, 1.0, log=True) == 0.1
    assert point.suggest_float("rate", 0.0, 1.0, step=0.1) == 0.1
    assert point.suggest_int("units", 16, 64, step=16) == 32
    assert point.suggest_int("units", 1, 64, log=True) == 32
    assert point.suggest_categorical("kind", ["sgd", "adam"]) == "adam"
    assert point.suggest_categorical("deep", [True, False]) is True
    assert isinstance(point.suggest_float("whole", 0, 5), float)
    assert isinstance(point.suggest_int("fits", 0, 5), int)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.suggest_float("rate", 0.2, 1.0),
        lambda t: t.suggest_float("rate", 0.0, 1.0, step=0.3),
        lambda t: t.suggest_float("rate", -1.0, 1.0, log=True),
        lambda t: t.suggest_float("kind", 0.0, 1.0),
        lambda t: t.suggest_float("deep", 0.0, 1.0),
        lambda t: t.suggest_int("rate", 0, 1),
        lambda t: t.suggest_int("units", 0, 64, step=10),
        lambda t: t.suggest_int("units", 64, 128),
        lambda t: t.suggest_int("deep", 0, 1),
        lambda t: t.suggest_categorical("kind", ["sgd"]),
        lambda t: t.suggest_categorical("one", [True, False]),
        lambda t: t.suggest_float("unknown", 0.0, 1.0),
    ],
)
def test_suggestions_outside_the_point_are_refused(ask: Any) -> None:
    use()
    with pytest.raises(SuggestMismatchError):
        ask(trial(rate=0.1, units=32, kind="adam", deep=True, one=1))


def test_point_and_data_cannot_be_changed() -> None:
    point = trial(rate=0.1)
    with pytest.raises(TypeError):
        point.params["rate"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        point.data["x"] = 2  # type: ignore[index]


def test_should_prune_asks_with_the_last_step() -> None:
    fake = use()
    point = trial()
    assert point.should_prune() is False, "before a report there is nothing to judge"
    assert fake.asked == []
    point.report(0.5, 4)
    assert point.should_prune() is True
    assert fake.asked == [("report", [4, 0.5]), ("should_prune", {"step": 4})]


def test_report_suggest_and_should_prune_are_progress() -> None:
    fake = use()
    point = trial(rate=0.1)
    for act in (
        lambda: point.report(1, 0),
        lambda: point.suggest_float("rate", 0, 1),
        point.should_prune,
    ):
        before = fake.steps
        act()
        assert fake.steps > before


def test_error_answers_are_raised_with_their_code() -> None:
    use('{"ok": false, "error": {"code": "unknown_attempt", "message": "no such attempt"}}')
    point = trial()
    point.report(1, 0)
    with pytest.raises(bridge.CallError, match="no such attempt") as caught:
        point.should_prune()
    assert caught.value.code == "unknown_attempt"


def test_a_question_that_nobody_answered_in_time_is_asked_again() -> None:
    late = '{"ok": false, "error": {"code": "call_timeout", "message": "late"}}'

    class Slow(FakeBridge):
        def call(self, method: str, payload_json: str) -> str:
            answer = super().call(method, payload_json)
            return answer if len(self.asked) == bridge.CALL_TRIES else late

    slow = Slow('{"ok": true, "value": 3}')
    bridge.set_bridge(slow)
    assert bridge.call("suggest", {"name": "x"}) == 3
    assert slow.asked == [("suggest", {"name": "x"})] * bridge.CALL_TRIES
    slow.asked.clear()
    slow.answer = late
    with pytest.raises(bridge.CallError, match="late"):
        bridge.call("suggest", {})
    assert len(slow.asked) == bridge.CALL_TRIES


@pytest.mark.parametrize("answer", ["", "null", "[]", '{"ok": false}', '{"value": 1}'])
def test_answers_that_are_none_are_raised(answer: str) -> None:
    use(answer)
    with pytest.raises(bridge.CallError) as caught:
        bridge.call("should_prune", {})
    assert caught.value.code == "malformed_answer"


def test_local_bridge_prunes_nothing_and_knows_no_other_call() -> None:
    bridge.set_bridge(bridge.LocalBridge())
    assert bridge.call("should_prune", {"step": 1}) is False
    with pytest.raises(bridge.CallError, match="shell"):
        bridge.call("shell", {})


@pytest.mark.parametrize("name", ["Client", "grid"])
def test_researchers_side_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(hyperflock.NotInTrialError, match=f"hyperflock.{name} is not available"):
        getattr(hyperflock, name)("http://server", token="x")


def test_a_study_is_not_run_inside_of_its_trials() -> None:
    from hyperflock.optuna import optimize

    with pytest.raises(hyperflock.NotInTrialError, match=r"hyperflock.optuna.optimize is not avai"):
        optimize(None, None, n_trials=3)
