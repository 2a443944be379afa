"""A trial of an Optuna study: what it asks its owner for, and Optuna's own judgement of it."""

from __future__ import annotations

import datetime
import json
import math
import sys
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import optuna
import pytest
from hyperflock_worker import bridge
from hyperflock_worker.asked_trial import AskedTrial, StudyElsewhereError, SuggestInvalidError
from hyperflock_worker.attributes import AttributeRefusedError
from hyperflock_worker.drawing import draw
from hyperflock_worker.trial import SuggestMismatchError, Trial
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)


class Owner(bridge.LocalBridge):
    """Answers suggestions with what is given for each name, and writes down what it is asked."""

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []

    def call(self, method: str, payload_json: str) -> str:
        payload = json.loads(payload_json)
        self.asked.append((method, payload))
        if method == "should_prune":
            return '{"ok": true, "value": true}'
        answer = self.answers[payload["name"]]
        if isinstance(answer, bridge.CallError):
            error = {"code": answer.code, "message": str(answer)}
            return json.dumps({"ok": False, "error": error})
        return json.dumps({"ok": True, "value": json.dumps(answer)})


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    yield
    bridge.set_bridge(None)


def owner(**answers: Any) -> Owner:
    found = Owner(**answers)
    bridge.set_bridge(found)
    return found


def trial(**options: Any) -> AskedTrial:
    return AskedTrial(4, {}, 1, **options)


def test_each_kind_is_asked_for_as_optunas_distribution() -> None:
    there = owner(rate=0.1, step=0.5, units=32, width=7, kind="adam", deep=True)
    one = trial()
    assert one.suggest_float("rate", 0.01, 1.0, log=True) == 0.1
    assert one.suggest_float("step", 0.0, 1.0, step=0.25) == 0.5
    assert one.suggest_int("units", 16, 64, step=16) == 32
    assert one.suggest_int("width", 1, 9, log=True) == 7
    assert one.suggest_categorical("kind", ["sgd", "adam"]) == "adam"
    assert one.suggest_categorical("deep", [1, True]) is True
    asked = {payload["name"]: payload["distribution"] for _, payload in there.asked}
    distributions = {
        "rate": FloatDistribution(0.01, 1.0, log=True),
        "step": FloatDistribution(0.0, 1.0, step=0.25),
        "units": IntDistribution(16, 64, step=16),
        "width": IntDistribution(1, 9, log=True),
        "kind": CategoricalDistribution(["sgd", "adam"]),
        "deep": CategoricalDistribution([1, True]),
    }
    assert asked == {name: distribution_to_json(d) for name, d in distributions.items()}
    assert one.distributions == distributions
    assert one.params == {
        "rate": 0.1,
        "step": 0.5,
        "units": 32,
        "width": 7,
        "kind": "adam",
        "deep": True,
    }


def test_a_choice_is_the_objectives_own() -> None:
    owner(sizes=[3, 4], number=math.nan)
    one = trial()
    sizes = [(1, 2), (3, 4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna warns of tuples.
        assert one.suggest_categorical("sizes", sizes) is sizes[1]
    assert math.isnan(one.suggest_categorical("number", [0.5, math.nan]))


def test_a_name_asked_for_twice_is_asked_once() -> None:
    there = owner(rate=0.1, kind="a")
    one = trial()
    assert one.suggest_float("rate", 0, 1) == one.suggest_float("rate", 0, 1)
    one.suggest_categorical("kind", ["a", "b"])
    assert [payload["name"] for _, payload in there.asked] == ["rate", "kind"]
    with pytest.warns(RuntimeWarning, match="first value stays"):
        assert one.suggest_float("rate", 0.5, 1) == 0.1
    with pytest.raises(ValueError, match="different distribution kind"):
        one.suggest_int("rate", 0, 1)
    with pytest.raises(ValueError, match="dynamic value space"):
        one.suggest_categorical("kind", ["a", "c"])


def test_what_an_earlier_attempt_was_given_is_given_again() -> None:
    there = owner(units=3)
    logged = {"rate": (distribution_to_json(FloatDistribution(0, 1)), "0.25")}
    one = trial(suggested=logged)
    assert one.params == {}, "only what this attempt asked for"
    assert one.suggest_float("rate", 0, 1) == 0.25
    assert one.suggest_int("units", 0, 9) == 3
    assert [payload["name"] for _, payload in there.asked] == ["units"]
    with pytest.raises(SuggestMismatchError, match="an earlier attempt"):
        trial(suggested=logged).suggest_float("rate", 0, 2)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda t: t.suggest_float("x", 1.0, 0.0), ValueError),
        (lambda t: t.suggest_float("x", 0.0, 1.0, log=True), ValueError),
        (lambda t: t.suggest_int("x", 0, 9, step=0), ValueError),
        (lambda t: t.suggest_categorical("x", []), ValueError),
        (lambda t: t.suggest_float("", 0.0, 1.0), SuggestInvalidError),
        (lambda t: t.suggest_float("x" * 257, 0.0, 1.0), SuggestInvalidError),
        (lambda t: t.suggest_categorical("x", ["y" * 20_000]), SuggestInvalidError),
        (lambda t: t.suggest_categorical("x", [object()]), SuggestInvalidError),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_cannot_be_asked_is_refused_before_the_owner_hears_of_it(ask: Any, error: Any) -> None:
    there = owner()
    with pytest.raises(error):
        ask(trial())
    assert there.asked == []


def test_an_owners_refusal_and_a_senseless_answer_are_told() -> None:
    owner(
        a=bridge.CallError("suggest_mismatch", "another distribution"),
        b=bridge.CallError("owner_error", "the sampler failed"),
        c="no number",
        d="c",
    )
    one = trial()
    with pytest.raises(SuggestMismatchError, match="another distribution"):
        one.suggest_float("a", 0, 1)
    with pytest.raises(bridge.CallError, match="the sampler failed"):
        one.suggest_float("b", 0, 1)
    with pytest.raises(bridge.CallError, match="no value of"):
        one.suggest_float("c", 0, 1)
    with pytest.raises(bridge.CallError, match="no value of"):
        one.suggest_categorical("d", ["a", "b"])
    assert one.params == {}


@pytest.mark.parametrize(
    ("method", "arguments", "same"),
    [
        ("suggest_uniform", (0.0, 1.0), FloatDistribution(0, 1)),
        ("suggest_loguniform", (0.1, 1.0), FloatDistribution(0.1, 1, log=True)),
        ("suggest_discrete_uniform", (0.0, 1.0, 0.5), FloatDistribution(0, 1, step=0.5)),
    ],
)
def test_old_names_warn_as_optunas(method: str, arguments: Any, same: Any) -> None:
    owner(x=0.5)
    one = trial()
    with pytest.warns(FutureWarning, match=method):
        assert getattr(one, method)("x", *arguments) == 0.5
    assert one.distributions == {"x": same}


def test_reports_are_judged_as_optuna_judges_them() -> None:
    there = owner()
    one = trial()
    assert one.should_prune() is False
    one.report("0.5", 3.0)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="reported before"):
        one.report(0.7, 3)
    one.report(-math.inf, 4)
    one.report(math.nan, 5)
    assert there.reports == [(3, 0.5), (4, -sys.float_info.max)]
    assert one.should_prune() is True
    assert there.asked == [("should_prune", {"step": 5})], "which has no point: it was NaN"
    for value, step, error in (("x", 6, TypeError), (1, "x", TypeError), (1, -1, ValueError)):
        with pytest.raises(error):
            one.report(value, step)  # type: ignore[arg-type]


def test_several_objectives_have_no_curve() -> None:
    owner()
    one = trial(directions=2)
    with pytest.raises(NotImplementedError, match="report"):
        one.report(0.5, 1)
    with pytest.raises(NotImplementedError, match="should_prune"):
        one.should_prune()


def test_the_study_is_elsewhere_but_can_be_stopped() -> None:
    one = trial()
    with pytest.raises(StudyElsewhereError, match=r"trial.study.best_value is not available"):
        _ = one.study.best_value
    assert not hasattr(one.study, "trials")
    with pytest.raises(StudyElsewhereError, match="suggest_"):
        _ = one.relative_params
    assert one.attributes_text({}) == ""
    one.study.stop()
    assert json.loads(one.attributes_text({})) == {"stop": True}


def test_it_is_optunas_trial_to_code_that_asks() -> None:
    assert isinstance(trial(), optuna.Trial)
    assert isinstance(trial(), optuna.trial.BaseTrial)
    assert not isinstance(Trial(0, {}, {}, 1), optuna.Trial)
    assert isinstance(trial().datetime_start, datetime.datetime)


def test_it_has_all_that_optunas_trial_offers() -> None:
    offered = {name for name in dir(optuna.trial.Trial) if not name.startswith("_")}
    assert offered <= {*dir(AskedTrial)}
    of_version_4 = {"set_system_attr", "system_attrs"}
    assert of_version_4 <= {*dir(AskedTrial)}


def test_what_it_was_enqueued_with_is_there_and_travels_back() -> None:
    given = {"user": {"origin": [1]}, "system": {"fixed_params": {"x": 1.0}}}
    one = trial(attributes=given)
    assert (one.user_attrs, one.system_attrs) == (given["user"], given["system"])
    one.user_attrs["origin"].append(2)
    one.set_user_attr("seen", True)
    told = {"user": {"origin": [1], "seen": True}, "system": given["system"]}
    assert json.loads(one.attributes_text({})) == told
    with pytest.raises(AttributeRefusedError, match="57344"):
        trial(attributes={"user": {"long": "x" * 50_000}}).set_user_attr("more", "x" * 8_000)


def attributes() -> list[Trial]:
    return [trial(), Trial(0, {}, {}, 1)]


@pytest.mark.parametrize("one", attributes(), ids=["asked", "grid"])
def test_attributes_travel_as_json_in_optunas_form(one: Trial) -> None:
    one.set_user_attr("epochs", np.int64(12))
    one.set_user_attr("losses", np.array([0.5, 0.25]))
    one.set_system_attr("lib:state", {"a": [1]})
    one.set_constraint("memory", "-0.5")  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="first value stays"):
        one.set_constraint("memory", 3)
    assert json.loads(one.attributes_text({"values": ["inf"]})) == {
        "user": {"epochs": 12, "losses": [0.5, 0.25]},
        "system": {"lib:state": {"a": [1]}, "constraints:memory": -0.5},
        "values": ["inf"],
    }
    assert one.constraints == {"memory": -0.5}
    assert optuna.trial.create_trial(value=1.0, system_attrs=one.system_attrs).constraints == {
        "memory": -0.5
    }
    one.user_attrs["epochs"] = 1
    assert one.user_attrs["epochs"] == 12, "a copy"


@pytest.mark.parametrize("one", attributes(), ids=["asked", "grid"])
def test_attributes_that_cannot_travel_are_refused(one: Trial) -> None:
    for key, value, code in (
        ("model", object(), "attribute_not_json"),
        (3, 1, "attribute_not_json"),
        ("long", "x" * 60_000, "attributes_too_large"),
    ):
        with pytest.raises(AttributeRefusedError) as caught:
            one.set_user_attr(key, value)  # type: ignore[arg-type]
        assert caught.value.code == code
    one.set_user_attr("a", "x" * 40_000)
    one.set_user_attr("a", "y" * 40_000)
    with pytest.raises(AttributeRefusedError, match="with 'b'"):
        one.set_user_attr("b", "x" * 20_000)
    with pytest.raises(TypeError, match="'c' is a number, not a list"):
        one.set_constraint("c", [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="NaN"):
        one.set_constraint("c", math.nan)
    assert list(one.user_attrs) == ["a"]


@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(-1, 1),
        FloatDistribution(1e-5, 1e-1, log=True),
        FloatDistribution(0, 1, step=0.25),
        IntDistribution(3, 11, step=4),
        IntDistribution(1, 100, log=True),
        IntDistribution(5, 5),
        CategoricalDistribution(["a", None, 2]),
    ],
)
def test_without_a_server_values_are_drawn_from_the_distribution(distribution: Any) -> None:
    text = distribution_to_json(distribution)
    drawn = [draw(text, Random(seed)) for seed in range(200)]
    assert all(distribution._contains(distribution.to_internal_repr(value)) for value in drawn)
    assert (len(set(drawn)) > 1) != distribution.single()
    bridge.set_bridge(bridge.LocalBridge(seed=3))
    first = trial()._suggest("x", distribution)
    bridge.set_bridge(bridge.LocalBridge(seed=3))
    assert trial()._suggest("x", distribution) == first


@pytest.mark.parametrize("text", ['{"name": "Other", "attributes": {}}', "{}", "[1]", "no JSON"])
def test_what_is_no_distribution_is_told(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        draw(text, Random(0))
