"""Contains objectives for tests of ask-and-tell studies. The tests run them in plain Optuna too."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import optuna
from optuna.artifacts import upload_artifact


def curved(trial: Any) -> float:
    """Suggest parameters of three kinds, report a curve, and ask the pruner at each step."""
    x = trial.suggest_float("x", -10, 10)
    n = trial.suggest_int("n", 1, 5)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    for step in range(4):
        trial.report(x * x / (step + 1) + n, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    trial.set_user_attr("kind", kind)
    return float(x * x / 4 + n)


def curve_end(x: float, n: int, kind: str | None) -> float:
    """Return the value that `curved` returns for these parameters."""
    return float(x * x / 4 + n)


def sometimes_nan(trial: Any) -> float:
    """Report NaN in each third trial, which a pruner ends."""
    x = trial.suggest_float("x", -10, 10)
    for step in range(3):
        trial.report(float("nan") if trial.number % 3 == 2 else x * x, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return float(x * x)


def square(trial: Any) -> float:
    """Return the square of x. This is the shortest of the objectives."""
    return float(trial.suggest_float("x", -10, 10)) ** 2


def two_ways(trial: Any) -> tuple[float, float]:
    """Return two values, and set a constraint."""
    x = trial.suggest_float("x", 0, 5)
    y = trial.suggest_float("y", 0, 3)
    if hasattr(trial, "set_constraint"):
        trial.set_constraint("circle", (x - 5) ** 2 + y * y - 25)
    return 4 * x * x + 4 * y * y, (x - 5) ** 2 + (y - 5) ** 2


class NotToday(ValueError):
    """An error class that only the objective's file defines."""


def failing(trial: Any) -> float:
    """Raise an error if x is negative."""
    x = trial.suggest_float("x", -1, 1)
    if x < 0:
        raise NotToday(f"x is {x}")
    return float(x)


def raising(trial: Any) -> float:
    """Raise an error in each trial."""
    raise NotToday("never")


def stopping(trial: Any) -> float:
    """Stop the study in its third trial, by a call from the objective."""
    if trial.number == 2:
        trial.study.stop()
    return float(trial.suggest_float("x", 0, 1))


def endless(trial: Any) -> float:
    """Return an infinity, which JSON cannot represent as a number."""
    return float(trial.suggest_categorical("x", ["inf", "-inf"]))


STEPS = 6


def resumable(trial: Any) -> float:
    """Make several random steps and save each in a checkpoint, so that another device can continue
    after it.
    """
    x = trial.suggest_float("x", 0, 1)
    state = trial.resume() or {"step": 0, "walked": 0.0}
    for step in range(state["step"], STEPS):
        time.sleep(0.05)
        state = {"step": step + 1, "walked": state["walked"] + x * random.random()}
        trial.report(state["walked"], step)
        trial.checkpoint(state)
    return float(state["walked"])


def walked(x: float, seed: int) -> float:
    """Return what `resumable` returns on one device: the trial's generator starts at its seed."""
    chance = random.Random(seed)
    total = 0.0
    for _ in range(STEPS):
        total += x * chance.random()
    return total


def descending(trial: Any) -> float:
    """Report nine values that descend from a start that x sets."""
    x = trial.suggest_float("x", 0, 10)
    rate = trial.suggest_float("rate", 0.1, 1, log=True)
    for step in range(1, 10):
        trial.report(x + 10 / (1 + rate * step), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return float(x + 10 / (1 + rate * 9))


def uploading(*stores: Any) -> Callable[[Any], float]:
    """Build an objective that uploads a file to each store, as Optuna's documentation shows."""

    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", -10, 10)
        with open("weights.txt", "w") as file:
            file.write(str(x))
        for store in stores:
            upload_artifact(artifact_store=store, file_path="weights.txt", study_or_trial=trial)
        return float(x * x)

    return objective
