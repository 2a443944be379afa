"""Tests attempts of an Optuna study, from spec to outcome: values, attributes and errors."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hyperflock._base.errors import CallError
from hyperflock_worker import compat
from recording_host import Owner
from test_runner import attempt


@pytest.fixture(autouse=True)
def no_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat, "install", lambda on_update, on_train: None)


def asked(
    body: str,
    directions: int = 1,
    suggested: str | None = None,
    attrs: str | None = None,
    owner: Owner | None = None,
) -> dict[str, Any]:
    """Run an attempt of an Optuna study with ``body`` as the objective's body. Return the
    outcome.
    """
    source = f"import math, optuna\ndef objective(trial):\n    {body}"
    spec = {"directions": directions, "suggested": suggested, "attrs": attrs}
    return attempt(source, owner or Owner(x=0.5), asked=spec, params="{}")


def test_an_objective_asks_reports_and_says_something_of_itself() -> None:
    body = "trial.set_user_attr('n', 1); trial.report(1, 0); trial.study.stop(); "
    body += "return trial.suggest_float('x', 0, 1) * (1 + trial.should_prune())"
    outcome = asked(body)
    assert json.loads(outcome.pop("attrs")) == {"user": {"n": 1}, "stop": True}
    assert outcome == {"outcome": "complete", "values": [1.0], "backend": "numpy"}


def test_the_log_of_earlier_attempts_comes_with_the_spec() -> None:
    owner = Owner()
    distribution = '{"name": "FloatDistribution", "attributes": '
    distribution += '{"step": null, "low": 0.0, "high": 1.0, "log": false}}'
    outcome = asked(
        "return trial.suggest_float('x', 0, 1)",
        suggested=json.dumps({"x": [distribution, "0.75"]}),
        owner=owner,
    )
    assert outcome["values"] == [0.75]
    assert owner.asked == []


def test_attributes_that_it_begins_with_come_with_the_spec() -> None:
    outcome = asked("return trial.user_attrs['n']", attrs='{"user": {"n": 3}}')
    assert outcome["values"] == [3.0]
    assert json.loads(outcome["attrs"]) == {"user": {"n": 3}}


@pytest.mark.parametrize(
    ("returned", "directions", "values"),
    [
        ("'0.5',", 1, [0.5]),
        ("np.array([2.0])", 1, [2.0]),
        ("(1, True)", 2, [1.0, 1.0]),
        ("[np.float32(0.5), 2]", 2, [0.5, 2.0]),
    ],
)
def test_values_that_optuna_takes(returned: str, directions: int, values: list[float]) -> None:
    outcome = asked(f"import numpy as np; return {returned}", directions)
    assert outcome == {"outcome": "complete", "values": values, "backend": "numpy"}


def test_infinity_is_a_value_and_the_attributes_tell() -> None:
    outcome = asked("return math.inf, -math.inf, 1", 3)
    largest = sys.float_info.max
    assert outcome["values"] == [largest, -largest, 1.0]
    assert json.loads(outcome["attrs"]) == {"values": ["inf", "-inf", 1.0]}


@pytest.mark.parametrize(
    ("returned", "directions", "code"),
    [
        ("None", 1, "metric_not_number"),
        ("'a'", 1, "metric_not_number"),
        ("{}", 1, "metric_not_number"),
        ("1, 2", 1, "metric_not_number"),
        ("1", 2, "metric_not_number"),
        ("math.nan", 1, "metric_not_finite"),
    ],
)
def test_values_that_optuna_fails_a_trial_for(returned: str, directions: int, code: str) -> None:
    outcome = asked(f"trial.set_user_attr('n', 1); return {returned}", directions)
    assert (outcome["error"]["code"], outcome["error"]["cause"]) == (code, "invalid")
    assert json.loads(outcome["attrs"]) == {"user": {"n": 1}}, "failed trials keep theirs"


def test_what_was_raised_is_named_with_its_bases() -> None:
    outcome = asked("class Mine(ZeroDivisionError): pass\n    raise Mine('no')")
    assert outcome["error"]["code"] == "objective_raised"
    assert json.loads(outcome["attrs"])["raised"] == [
        "study.objective.<locals>.Mine",
        "builtins.ZeroDivisionError",
        "builtins.ArithmeticError",
        "builtins.Exception",
        "builtins.BaseException",
    ]


def test_an_interrupt_of_its_own_is_its_failure_and_no_exception_of_kind_exception() -> None:
    outcome = asked("raise KeyboardInterrupt")
    assert outcome["error"]["cause"] == "user_error"
    assert json.loads(outcome["attrs"])["raised"] == [
        "builtins.KeyboardInterrupt",
        "builtins.BaseException",
    ]


def test_a_pruned_trial_keeps_its_attributes() -> None:
    outcome = asked("trial.set_constraint('c', 1); raise optuna.TrialPruned('bad')")
    assert outcome["outcome"] == "pruned"
    assert json.loads(outcome["attrs"]) == {"system": {"constraints:c": 1.0}}


@pytest.mark.parametrize(
    ("body", "code", "cause"),
    [
        ("trial.suggest_float('', 0, 1)", "suggest_invalid", "user_error"),
        ("trial.study.best_value", "study_elsewhere", "user_error"),
        ("trial.suggest_float('refused', 0, 1)", "owner_error", "user_error"),
        ("trial.suggest_float('over', 0, 1)", "study_stopped", "cancelled"),
        ("trial.suggest_float('slow', 0, 1)", "call_timeout", "worker_lost"),
        ("trial.set_user_attr('a', trial)", "attribute_not_json", "user_error"),
        ("trial.set_user_attr('a', 'x' * 60_000)", "attributes_too_large", "user_error"),
    ],
)
def test_codes_of_what_was_refused(body: str, code: str, cause: str) -> None:
    owner = Owner(
        refused=CallError("sampler: no", code="owner_error"),
        slow=CallError("late", code="call_timeout"),
        over=CallError("no more", code="study_stopped"),
    )
    outcome = asked(body, owner=owner)
    assert (outcome["error"]["code"], outcome["error"]["cause"]) == (code, cause)


@pytest.mark.parametrize("broken", ["None", "lambda more: 1", "lambda more: 1 / 0", "sys.exit"])
def test_attributes_that_the_objective_broke_lose_no_result(broken: str) -> None:
    outcome = asked(f"import sys; trial.attributes_text = {broken}; return 1")
    assert outcome == {"outcome": "complete", "values": [1.0], "backend": "numpy"}


def test_an_exception_that_cannot_be_named_is_a_failure_all_the_same() -> None:
    source = """
class Meta(type):
    @property
    def __qualname__(cls): raise SystemExit
class Odd(Exception, metaclass=Meta): pass
def objective(trial): raise Odd()
"""
    outcome = attempt(source, asked={"directions": 1, "suggested": None}, params="{}")
    assert outcome["error"]["cause"] == "user_error"
    assert json.loads(outcome.get("attrs", '{"raised": []}')) == {"raised": []}
