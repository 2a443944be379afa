"""Compares the numbers behind Optuna's plots with ``tests/figures/golden/cases.json``.

The researcher's page computes the same numbers in TypeScript, and
``web-client/src/research/plots/analysis/optuna_figures.test.ts`` compares them with that file. Each
case is a study made to be awkward: its trials as rows of the console, and what Optuna draws of
them. ``python python/tests/optuna/test_figures.py`` writes the file anew.
"""

from __future__ import annotations

import json
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import optuna
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState, create_trial
from optuna.visualization import plot_contour, plot_edf, plot_hypervolume_history
from optuna.visualization._rank import _get_order_with_same_order_averaging as _order

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "figures" / "golden" / "cases.json"
STATES = {
    TrialState.COMPLETE: "complete",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
}

Direction = Literal["minimize", "maximize"]
Suggested = Mapping[str, tuple[Any, BaseDistribution]]
Draw = Callable[[random.Random, int], Suggested]
Value = Callable[[Mapping[str, Any], int], Sequence[float] | TrialState]

LR = FloatDistribution(1e-5, 1.0, log=True)
UNIT = FloatDistribution(0.0, 1.0)
STEPS = FloatDistribution(-1.0, 1.0, step=0.25)
WIDTH = IntDistribution(4, 64, log=True)
LAYERS = IntDistribution(1, 9)
EVEN = IntDistribution(2, 200, step=2)
MIXED = CategoricalDistribution([None, True, 1, "1.5", "relu"])
SIZES = CategoricalDistribution([8, 16, 32.5])
NAMES = CategoricalDistribution(["Adam", "SGD", "日本", "\U0001f426", "\ufb01"])


def _value(rng: random.Random, kind: BaseDistribution) -> Any:
    if isinstance(kind, CategoricalDistribution):
        return rng.choice(kind.choices)
    assert isinstance(kind, FloatDistribution | IntDistribution)
    if kind.log:
        value = math.exp(rng.uniform(math.log(kind.low), math.log(kind.high)))
        return round(value) if isinstance(kind, IntDistribution) else _short(value)
    if kind.step is None:
        return _short(rng.uniform(kind.low, kind.high))
    value = kind.low + kind.step * rng.randint(0, round((kind.high - kind.low) / kind.step))
    return int(value) if isinstance(kind, IntDistribution) else value


def _short(value: float) -> float:
    """Return a number with few digits, so that the file is not long."""
    return float(f"{value:.5g}")


def _from(**kinds: BaseDistribution) -> Draw:
    """Return a function that draws a value of each distribution."""
    return lambda rng, _: {name: (_value(rng, kind), kind) for name, kind in kinds.items()}


def _conditional(rng: random.Random, number: int) -> Suggested:
    chosen = _from(rule=CategoricalDistribution(["Adam", "SGD"]), lr=LR)(rng, number)
    extra = _from(momentum=UNIT) if chosen["rule"][0] == "SGD" else _from(beta=LR)
    return {**chosen, **extra(rng, number)}


def _moving(rng: random.Random, number: int) -> Suggested:
    """Change the range of a parameter after some trials."""
    return _from(x=FloatDistribution(0.0, 1.0 if number < 12 else 2.0), k=LAYERS)(rng, number)


def _smooth(params: Mapping[str, Any], _: int) -> Sequence[float]:
    total = 0.0
    for index, value in enumerate(params.values()):
        number = float(value) if isinstance(value, int | float) else len(str(value))
        total += (index + 1) * (math.log10(abs(number) + 0.1) - 0.3) ** 2
    return [total]


def _several(count: int) -> Value:
    def values(params: Mapping[str, Any], number: int) -> Sequence[float]:
        first = _smooth(params, number)[0]
        return [first, 3 - math.sqrt(first), math.sin(number) + 1, first * (number % 3)][:count]

    return values


class Case:
    """A study and its trials."""

    def __init__(
        self,
        name: str,
        draw: Draw,
        count: int,
        value: Value = _smooth,
        *,
        directions: Sequence[Direction] = ("minimize",),
        constraint: Callable[[int], Sequence[float]] | None = None,
        reference: Sequence[float] | None = None,
    ) -> None:
        self.name = name
        self.directions = list(directions)
        self.reference = None if reference is None else list(reference)
        self.study = optuna.create_study(directions=self.directions)
        rng = random.Random(name)
        for number in range(count):
            suggested = draw(rng, number)
            params = {key: chosen for key, (chosen, _) in suggested.items()}
            outcome = value(params, number)
            state = outcome if isinstance(outcome, TrialState) else TrialState.COMPLETE
            attrs = {"constraints": list(constraint(number))} if constraint else {}
            self.study.add_trial(
                create_trial(
                    state=state,
                    params=params,
                    distributions={key: kind for key, (_, kind) in suggested.items()},
                    values=None if isinstance(outcome, TrialState) else list(outcome),
                    system_attrs=attrs,
                )
            )

    def rows(self) -> list[dict[str, Any]]:
        """Return the trials as a server's rows, without what plots do not read."""
        return [_row(trial) for trial in self.study.get_trials(deepcopy=False)]


def _row(trial: FrozenTrial) -> dict[str, Any]:
    values = trial.values or []
    row: dict[str, Any] = {
        "trial": trial.number,
        "state": STATES[trial.state],
        "params": json.dumps(trial.params),
        "suggested": [
            [name, distribution_to_json(trial.distributions[name]), json.dumps(value)]
            for name, value in trial.params.items()
        ],
        "values": [min(sys.float_info.max, max(-sys.float_info.max, v)) for v in values],
    }
    if not all(map(math.isfinite, values)):
        row["attrs"] = json.dumps(
            {"values": [v if math.isfinite(v) else str(v) for v in values]}, allow_nan=False
        )
    if any(value > 0 for value in trial.constraints.values()):
        row["infeasible"] = True
    return row


def _at(value: Value, number: int, outcome: Sequence[float] | TrialState) -> Value:
    """Give every trial with this remainder of 5 another outcome."""
    return lambda params, n: outcome if n % 5 == number else value(params, n)


def cases() -> Iterator[Case]:
    """Yield the studies."""
    two = _from(lr=LR, drop=UNIT)
    yield Case("no trial", two, 0)
    yield Case("one trial", two, 1)
    yield Case("two trials", two, 2)
    yield Case("two parameters", two, 25)
    yield Case("two parameters, maximize", two, 25, directions=["maximize"])
    yield Case("all pruned", two, 5, lambda *_: TrialState.PRUNED)
    yield Case("pruned and failed among others", two, 25, _at(_smooth, 2, TrialState.PRUNED))
    yield Case("failed", two, 30, _at(_smooth, 0, TrialState.FAIL))
    yield Case("every value is the same", two, 20, lambda *_: [1.5])
    yield Case("many ties", two, 25, lambda _, number: [float(number % 3)])
    yield Case("infinite values", two, 30, _at(_smooth, 3, [math.inf]))
    yield Case("both infinities", two, 30, _at(_at(_smooth, 3, [math.inf]), 1, [-math.inf]))
    yield Case("only an infinite value", two, 1, lambda *_: [math.inf])
    yield Case("large values", two, 20, lambda params, _: [1e200 * (params["drop"] - 0.5)])
    yield Case("small values", two, 20, lambda params, _: [5e-324 * int(9 * params["drop"])])
    yield Case("negative zero", two, 12, lambda _, number: [[0.0, -0.0, 1.0][number % 3]])
    yield Case("integers", _from(layers=LAYERS, width=EVEN), 25)
    yield Case("logarithmic integers", _from(width=WIDTH, lr=LR), 25)
    yield Case("steps", _from(shift=STEPS, layers=LAYERS), 25)
    yield Case("None, a truth value and texts", _from(act=MIXED, lr=LR), 25)
    yield Case("numbers to choose from", _from(size=SIZES, act=MIXED), 25)
    yield Case("names in other scripts", _from(rule=NAMES, drop=UNIT), 25)
    yield Case("a name of a parameter in another script", _from(学習率=LR, b=UNIT), 20)
    yield Case("conditional parameters", _conditional, 30)
    yield Case("a range that moves", _moving, 30)
    yield Case("a single choice", _from(only=CategoricalDistribution(["x"]), lr=LR), 20)
    yield Case("a range without length", _from(fixed=FloatDistribution(2.0, 2.0), lr=LR), 20)
    yield Case("no parameter", lambda *_: {}, 10, lambda _, number: [float(number)])
    yield Case("one parameter", _from(lr=LR), 30)
    yield Case("three parameters", _from(lr=LR, drop=UNIT, layers=LAYERS), 30)
    yield Case("the same place again", _from(layers=IntDistribution(1, 3), act=MIXED), 25)
    yield Case("constraints", two, 25, constraint=lambda number: [number % 4 - 2.0, -1.0])
    yield Case("nothing is feasible", two, 20, constraint=lambda _: [1.0])
    yield Case("300 parameters", _from(**{f"layer.{i}.drop": UNIT for i in range(300)}), 3, _smooth)
    yield Case("250 trials", two, 250)
    down: list[Direction] = ["minimize", "minimize"]
    mixed: list[Direction] = ["minimize", "maximize"]
    yield Case("two objectives", two, 25, _several(2), directions=down, reference=[30.0, 4.0])
    yield Case("one up, one down", two, 25, _several(2), directions=mixed, reference=[30.0, -4.0])
    yield Case(
        "several objectives with constraints",
        *(two, 25, _several(2)),
        directions=mixed,
        constraint=lambda number: [number % 3 - 1.0],
        reference=[30.0, -4.0],
    )
    yield Case("a near reference", two, 25, _several(2), directions=down, reference=[5.0, 2.0])
    three: list[Direction] = ["minimize", "maximize", "minimize"]
    yield Case(
        "three objectives", two, 30, _several(3), directions=three, reference=[30.0, -4.0, 2.5]
    )
    yield Case(
        "four objectives",
        *(two, 25, _several(4)),
        directions=[*three, "maximize"],
        reference=[30.0, -4.0, 2.5, -1.0],
    )
    yield Case(
        "equal trials of two objectives",
        *(two, 12, lambda _, number: [float(number % 2), float(-(number % 2))]),
        directions=down,
        reference=[2.0, 2.0],
    )


def figures(case: Case) -> dict[str, Any]:
    """Return the numbers behind Optuna's plots of a study."""
    found: dict[str, Any] = {"objectives": []}
    study = case.study
    several = len(case.directions) > 1
    for index in range(len(case.directions)):
        target: Any = (lambda t, i=index: t.values[i]) if several else None
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        values = np.array([trial.values[index] for trial in complete])
        edf = plot_edf(study, target=target, target_name="v").data
        shares = _order(values) / (len(values) - 1) if len(values) > 1 else np.array([0.5])
        # With a target, Optuna takes the smallest values as the best ones.
        sign = -1 if case.directions[index] == "maximize" else 1
        losses: Any = (lambda t, i=index, s=sign: s * t.values[i]) if several else None
        importance = get_param_importances(
            study, evaluator=PedAnovaImportanceEvaluator(), target=losses, normalize=False
        )
        found["objectives"].append(
            {
                "importance": importance,
                "edf": {"xs": _list(edf[0].x), "shares": _list(edf[0].y)} if edf else None,
                "rank": _list(shares) if len(values) else [],
            }
        )
    if not several:
        names = sorted(
            {name for t in study.get_trials(states=(TrialState.COMPLETE,)) for name in t.params}
        )
        if 2 <= len(names) <= 5:
            found["contour"] = [
                _contour(study, a, b)
                for a in names
                for b in names
                if a < b and {a, b} != {"momentum", "beta"}  # never in the same trial
            ]
    if case.reference is not None:
        history = plot_hypervolume_history(study, case.reference).data[0]
        found["hypervolume"] = {"trials": _list(history.x), "values": _list(history.y)}
    return found


def _list(numbers: Any) -> list[Any]:
    return [] if numbers is None else [_plain(one) for one in numbers]


def _plain(one: Any) -> Any:
    value = one.item() if isinstance(one, np.generic) else one
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _contour(study: optuna.Study, x: str, y: str) -> dict[str, Any]:
    plot = plot_contour(study, params=[x, y])
    if not plot.data:  # no finite value
        return {"params": [x, y], "x": [], "y": [], "z": []}
    drawn = plot.data[0]
    grid = np.empty((0, 0)) if drawn.z is None else np.asarray(drawn.z, dtype=float)
    rows, columns = np.nonzero(~np.isnan(grid))
    return {
        "params": [x, y],
        "x": _list(drawn.x),
        "y": _list(drawn.y),
        "z": [[int(c), int(r), float(grid[r, c])] for r, c in zip(rows, columns, strict=True)],
    }


def golden() -> list[dict[str, Any]]:
    """Return the content of the file."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            {
                "name": case.name,
                "directions": case.directions,
                "reference": case.reference,
                "trials": case.rows(),
                "figures": figures(case),
            }
            for case in cases()
        ]


def write() -> None:
    """Write the file: a line for each case, so that a change of one is seen as such."""
    lines = [json.dumps(one, ensure_ascii=False, allow_nan=False) for one in golden()]
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


@pytest.mark.skipif(optuna.__version__ < "5", reason="the file has the numbers of Optuna 5")
def test_the_file_has_what_optuna_draws() -> None:
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    computed = json.loads(json.dumps(golden()))
    assert [one["name"] for one in stored] == [one["name"] for one in computed]
    for have, want in zip(stored, computed, strict=True):
        assert have["trials"] == want["trials"], have["name"]
        _same(have["figures"], want["figures"], have["name"])


def _same(have: Any, want: Any, where: str) -> None:
    """Compare two trees, numbers to 9 digits: libraries may round the last ones differently."""
    if isinstance(want, float):
        assert have == pytest.approx(want, rel=1e-9, abs=1e-300), where
    elif isinstance(want, dict):
        assert have.keys() == want.keys(), where
        for key in want:
            _same(have[key], want[key], f"{where}: {key}")
    elif isinstance(want, list):
        assert len(have) == len(want), where
        for index, one in enumerate(want):
            _same(have[index], one, f"{where}: {index}")
    else:
        assert have == want, where


if __name__ == "__main__":
    write()
