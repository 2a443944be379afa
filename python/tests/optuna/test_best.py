"""Compares the best trials of a study by the package, the command and REST with those of plain
Optuna.

tests/best/cases.json has the cases. web-client/src/research/best.test.ts reads them too. Needs
``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hyperflock
import hyperflock.optuna
import optuna
import pytest
from hyperflock import Client, Study
from hyperflock._cli import command as _cli
from hyperflock._transport import background_loop as _loop
from optuna.samplers import TPESampler
from optuna.trial import FrozenTrial
from real_server import Server
from socket_phones import Phones
from typer.testing import CliRunner

optuna.logging.set_verbosity(optuna.logging.ERROR)

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parents[3] / "tests" / "best" / "cases.json").read_text()
)
NAMES = [case["name"] for case in CASES]
OPTUNA_5 = int(optuna.__version__.split(".")[0]) >= 5
WAYS = ["sampler", *(["objective"] if OPTUNA_5 else [])]


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


def _objective(trials: list[dict[str, Any]], *, sets: bool) -> Callable[[Any], Any]:
    """Return an objective that returns the values of a case. With ``sets`` it also sets the
    constraints.
    """

    def objective(trial: Any) -> Any:
        told = trials[trial.number]
        for index, value in enumerate(told.get("constraints", ()) if sets else ()):
            trial.set_constraint(str(index), value)
        values = tuple(float(value) for value in told["values"])
        return values if len(values) > 1 else values[0]

    return objective


def _study(case: dict[str, Any], way: str) -> optuna.Study:
    def constraints(trial: FrozenTrial) -> list[float]:
        return list(case["trials"][trial.number]["constraints"])

    constrained = way == "sampler" and any("constraints" in one for one in case["trials"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Optuna 5 prefers `set_constraint`
        sampler = TPESampler(seed=1, constraints_func=constraints if constrained else None)
    return optuna.create_study(directions=case["directions"], sampler=sampler)


def _best(study: optuna.Study) -> int | None:
    try:
        return study.best_trial.number if len(study.directions) == 1 else None
    except ValueError:
        return None


def _numbers(trials: list[Any]) -> list[int]:
    return sorted(trial.number for trial in trials)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_table_is_what_plain_optuna_says(case: dict[str, Any], way: str) -> None:
    plain = _study(case, way)
    plain.optimize(_objective(case["trials"], sets=way == "objective"), len(case["trials"]))
    assert (_best(plain), _numbers(plain.best_trials)) == (case["best"], case["best_trials"])


@pytest.mark.server
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_an_optuna_study_at_the_server(
    real: Server, client: Client, case: dict[str, Any], way: str
) -> None:
    study = _study(case, way)
    objective = _objective(case["trials"], sets=way == "objective")
    with Phones(real, objective):
        hyperflock.optuna.optimize(
            study, objective, len(case["trials"]), client=client, name=f"{case['name']} {way}"
        )
    assert (_best(study), _numbers(study.best_trials)) == (case["best"], case["best_trials"])
    found = client.studies()[0]
    assert found.state == "finished"
    _check(real, found, case)
    copy = found.to_optuna()
    assert (_best(copy), _numbers(copy.best_trials)) == (case["best"], case["best_trials"])


@pytest.mark.server
@pytest.mark.parametrize("case", [one for one in CASES if len(one["directions"]) == 1], ids=str)
def test_a_grid_at_the_server(real: Server, client: Client, case: dict[str, Any]) -> None:
    """The trials of a grid may have constraints too, and finish in any order."""
    trials = case["trials"]
    study = client.grid(
        _objective(trials, sets=False),
        {"i": [*range(len(trials))]},
        direction=case["directions"][0],
    )
    with real.device() as device:
        lease: Any = device.ready()
        while lease:
            told = trials[lease.trial]
            values = [float(value) for value in told["values"]]
            system = {f"constraints:{i}": v for i, v in enumerate(told.get("constraints", ()))}
            attrs = json.dumps({"user": {"note": math.nan}, "system": system})
            more: dict[str, Any] = {"attrs": attrs}
            if any(map(math.isnan, values)):
                error = hyperflock._transport.messages.Failure(
                    "invalid", "metric_not_finite", "nan"
                )
                lease = device.result(lease, outcome="failed", error=error, **more).lease
            else:
                lease = device.result(lease, outcome="complete", values=values, **more).lease
    _check(real, study.wait(60), case)


def _check(real: Server, study: Study, case: dict[str, Any]) -> None:
    best, front = case["best"], case["best_trials"]
    _check_package(study, case)
    row = _loop.run(study._core._http.get(f"/api/studies/{study.id}"))
    assert (row.get("best") or {"trial": None})["trial"] == best
    several = len(case["directions"]) > 1
    assert row.get("best_trials", []) == (front if several else [])
    _check_rest(study, case)
    _check_command(real, study, case)


def _check_package(study: Study, case: dict[str, Any]) -> None:
    best = case["best"]
    assert [trial.number for trial in study.best_trials] == case["best_trials"]
    if best is not None:
        assert study.best_trial.number == best
        assert study.best_value == case["trials"][best]["values"][0]
        return
    with pytest.raises(hyperflock.NoCompleteTrialError) as caught:
        _ = study.best_trial
    assert caught.value.code == case.get("code", "no_complete_trial")


def _check_rest(study: Study, case: dict[str, Any]) -> None:
    asked = study._core._http.get(f"/api/studies/{study.id}/best")
    if "code" in case:
        with pytest.raises(hyperflock.NotFoundError) as caught:
            _loop.run(asked)
        assert caught.value.code == case["code"]
        return
    best = case["best"]
    numbers = [row["trial"] for row in _loop.run(asked)["trials"]]
    assert numbers == ([best] if best is not None else case["best_trials"])


def _check_command(real: Server, study: Study, case: dict[str, Any]) -> None:
    settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]

    def said(*words: str) -> str:
        run = CliRunner().invoke(_cli.app, [*words, *settings])
        assert run.exit_code == 0, run.output
        return run.output

    number, best, front = str(study.id), case["best"], case["best_trials"]
    (line,) = [one for one in said("show", number).splitlines() if one.startswith("best ")][:1]
    told = json.loads(said("show", number, "--json"))
    assert (told["best"] or {"trial": None})["trial"] == best
    rows = [one.split() for one in said("trials", number).splitlines()]
    marked = [int(row[0]) for row in rows if row[-1] == "best"]
    (listed,) = [one for one in json.loads(said("studies", "--json")) if one["id"] == study.id]
    assert listed == told
    if "code" in case:
        assert line.endswith(f"[{case['code']}]")
        assert marked == []
    elif best is None:
        assert line.split("beats ")[1] == ", ".join(map(str, front))
        assert marked == told["best_trials"] == front
    else:
        assert line.endswith(f"trial {best}")
        assert marked == [best]


@pytest.mark.server
def test_a_new_owner_sends_the_constraints_that_the_last_one_could_not(
    real: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner leaves after it has stored an outcome, before it sends the constraints."""
    case = CASES[NAMES.index("a constraint that is not met: a worse trial that meets it")]
    study = _study(case, "sampler")
    objective = _objective(case["trials"], sets=False)
    with monkeypatch.context() as patch, Phones(real, objective):
        patch.setattr("hyperflock.optuna.owner.run.Run._judged", lambda run: [])
        hyperflock.optuna.optimize(study, objective, 2, client=client, name="left")
        found = client.studies()[0]
        assert found.row.complete == 2
        assert found.best_trials == []
        patch.undo()
        hyperflock.optuna.optimize(study, objective, 1, client=client, name="left")
    assert client.study(found.id).best_trial.number == study.best_trial.number == 2
