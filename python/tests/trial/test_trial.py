"""Tests a grid's ``Trial``: its parameters, its requests to the host, and the calls that it
refuses.
"""

from __future__ import annotations

from typing import Any

import pytest
from hyperflock._base.errors import SuggestMismatchError
from hyperflock._trial.host import Host
from hyperflock._trial.trial import Trial
from recording_host import Owner, RecordingHost


def trial(host: Host | None = None, **params: Any) -> Trial:
    return Trial(params, number=0, seed=1, data={}, host=host)


def test_suggestions_give_the_points_value() -> None:
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
    with pytest.raises(SuggestMismatchError):
        ask(trial(rate=0.1, units=32, kind="adam", deep=True, one=1))


def test_point_and_data_cannot_be_changed() -> None:
    point = trial(rate=0.1)
    with pytest.raises(TypeError):
        point.params["rate"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        point.data["x"] = 2  # type: ignore[index]


def test_should_prune_asks_with_the_last_step() -> None:
    host = Owner()
    point = trial(host)
    assert point.should_prune() is False, "before a report there is nothing to judge"
    assert host.asked == []
    point.report(0.5, 4)
    assert point.should_prune() is True
    assert (host.points, host.asked) == ([(4, 0.5)], [("should_prune", 4)])


def test_suggestions_and_early_questions_are_signs_of_life() -> None:
    host = RecordingHost()
    point = trial(host, rate=0.1)
    for act in (point.should_prune, lambda: point.suggest_float("rate", 0, 1)):
        before = host.steps
        act()
        assert host.steps > before
