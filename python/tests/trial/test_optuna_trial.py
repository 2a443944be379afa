"""Tests a trial of an Optuna study: its questions to the owner, and Optuna's own checks of its
calls.
"""

from __future__ import annotations

import datetime
import json
import math
import sys
import warnings
from typing import Any

import numpy as np
import optuna
import pytest
from hyperflock._base.errors import (
    AttributeRefusedError,
    CallError,
    StudyElsewhereError,
    SuggestInvalidError,
    SuggestMismatchError,
)
from hyperflock._trial.host import Host
from hyperflock._trial.optuna_trial import OptunaTrial
from hyperflock._trial.trial import Trial
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from recording_host import Owner


def trial(host: Host | None = None, **options: Any) -> OptunaTrial:
    return OptunaTrial(number=4, seed=1, data={}, host=host, **options)


def grid_trial() -> Trial:
    return Trial({}, number=0, seed=1, data={})


def test_each_kind_is_asked_for_as_optunas_distribution() -> None:
    there = Owner(rate=0.1, step=0.5, units=32, width=7, kind="adam", deep=True)
    one = trial(there)
    assert one.suggest_float("rate", 0.01, 1.0, log=True) == 0.1
    assert one.suggest_float("step", 0.0, 1.0, step=0.25) == 0.5
    assert one.suggest_int("units", 16, 64, step=16) == 32
    assert one.suggest_int("width", 1, 9, log=True) == 7
    assert one.suggest_categorical("kind", ["sgd", "adam"]) == "adam"
    assert one.suggest_categorical("deep", [1, True]) is True
    asked = dict(there.asked)
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
    one = trial(Owner(sizes=[3, 4], number=math.nan))
    sizes = [(1, 2), (3, 4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna warns of tuples.
        assert one.suggest_categorical("sizes", sizes) is sizes[1]
    assert math.isnan(one.suggest_categorical("number", [0.5, math.nan]))


def test_a_name_asked_for_twice_is_asked_once() -> None:
    there = Owner(rate=0.1, kind="a")
    one = trial(there)
    assert one.suggest_float("rate", 0, 1) == one.suggest_float("rate", 0, 1)
    one.suggest_categorical("kind", ["a", "b"])
    assert [name for name, _ in there.asked] == ["rate", "kind"]
    with pytest.warns(RuntimeWarning, match="first value stays"):
        assert one.suggest_float("rate", 0.5, 1) == 0.1
    with pytest.raises(ValueError, match="different distribution kind"):
        one.suggest_int("rate", 0, 1)
    with pytest.raises(ValueError, match="dynamic value space"):
        one.suggest_categorical("kind", ["a", "c"])


def test_what_an_earlier_attempt_was_given_is_given_again() -> None:
    there = Owner(units=3)
    logged = {"rate": (distribution_to_json(FloatDistribution(0, 1)), "0.25")}
    one = trial(there, suggested=logged)
    assert one.params == {}, "only what this attempt asked for"
    assert one.suggest_float("rate", 0, 1) == 0.25
    assert one.suggest_int("units", 0, 9) == 3
    assert [name for name, _ in there.asked] == ["units"]
    with pytest.raises(SuggestMismatchError, match="an earlier attempt"):
        trial(there, suggested=logged).suggest_float("rate", 0, 2)


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
    there = Owner()
    with pytest.raises(error):
        ask(trial(there))
    assert there.asked == []


def test_an_owners_refusal_and_a_senseless_answer_are_told() -> None:
    one = trial(
        Owner(
            a=CallError("another distribution", code="suggest_mismatch"),
            b=CallError("the sampler failed", code="owner_error"),
            c="no number",
            d="c",
        )
    )
    with pytest.raises(SuggestMismatchError, match="another distribution"):
        one.suggest_float("a", 0, 1)
    with pytest.raises(CallError, match="the sampler failed"):
        one.suggest_float("b", 0, 1)
    with pytest.raises(CallError, match="no value of"):
        one.suggest_float("c", 0, 1)
    with pytest.raises(CallError, match="no value of"):
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
    one = trial(Owner(x=0.5))
    with pytest.warns(FutureWarning, match=method):
        assert getattr(one, method)("x", *arguments) == 0.5
    assert one.distributions == {"x": same}


def test_reports_are_judged_as_optuna_judges_them() -> None:
    there = Owner()
    one = trial(there)
    assert one.should_prune() is False
    one.report("0.5", 3.0)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="reported before"):
        one.report(0.7, 3)
    one.report(-math.inf, 4)
    one.report(math.nan, 5)
    assert there.points == [(3, 0.5), (4, -sys.float_info.max)]
    assert one.should_prune() is True
    assert there.asked == [("should_prune", 5)], "which has no point: it was NaN"
    for value, step, error in (("x", 6, TypeError), (1, "x", TypeError), (1, -1, ValueError)):
        with pytest.raises(error):
            one.report(value, step)  # type: ignore[arg-type]


def test_several_objectives_have_no_curve() -> None:
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
    assert not isinstance(grid_trial(), optuna.Trial)
    assert isinstance(trial().datetime_start, datetime.datetime)


def test_it_has_all_that_optunas_trial_offers() -> None:
    offered = {name for name in dir(optuna.trial.Trial) if not name.startswith("_")}
    assert offered <= {*dir(OptunaTrial)}
    of_version_4 = {"set_system_attr", "system_attrs"}
    assert of_version_4 <= {*dir(OptunaTrial)}


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
    return [trial(), grid_trial()]


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
