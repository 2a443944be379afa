"""Runs the candidates of a `SearchCV`: on devices, or in this process.

    study_id, outcomes = run_on_devices(client, objective, points, data, name="digits", options={})
    outcomes = run_here(objective, points, data, raises=False)

The calling thread waits.
"""

from __future__ import annotations

import contextlib
import random
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hyperflock._base.errors import HyperflockError
from hyperflock._client.client import Client
from hyperflock._execution.local import run_local
from hyperflock._model.grid import trial_seed
from hyperflock._model.results import TrialResult
from hyperflock.sklearn.outcomes import Outcome

Objective = Callable[[Any], Any]
# The longest part of a failed trial's traceback that is kept, in characters.
_MAX_ERROR = 3000


def run_on_devices(
    client: Client | None,
    objective: Objective,
    points: Sequence[Mapping[str, Any]],
    data: Mapping[str, Any],
    *,
    name: str,
    options: dict[str, Any],
) -> tuple[int, list[Outcome]]:
    """Submit a study with a trial for each point, and wait for its end.

    Returns
    -------
    int, list of Outcome
        The study's id, and the outcome of each point.

    Raises
    ------
    HyperflockError
        ``search_incomplete``: trials were cancelled. Also the errors of `Client.grid`.
    """
    # A failed fit gives its error score, so failures do not pause the study.
    options = {"direction": "maximize", "max_failures": None, **options}
    with contextlib.ExitStack() as stack:
        connected = client if client is not None else stack.enter_context(Client())
        study = connected.grid(objective, list(points), data, name, **options)
        found = {trial.number: _outcome(trial) for trial in study}
    outcomes = [found.get(number) for number in range(len(points))]
    told = [outcome for outcome in outcomes if outcome is not None]
    if len(told) < len(points):
        raise HyperflockError(
            f"study {study.id} ended with {len(told)} of {len(points)} candidates computed",
            code="search_incomplete",
        )
    return study.id, told


def _outcome(trial: TrialResult) -> Outcome | None:
    """Return what a trial has told; None if it was cancelled."""
    if trial.state == "complete":
        folds = trial.user_attrs.get("folds")  # a device may have sent anything
        return Outcome(folds if isinstance(folds, list) else [])
    if trial.error is None:
        return None
    return Outcome([], (trial.error.traceback or trial.error.message)[-_MAX_ERROR:])


def run_here(
    objective: Objective,
    points: Sequence[Mapping[str, Any]],
    data: Mapping[str, Any],
    *,
    raises: bool,
) -> list[Outcome]:
    """Run every point in this process. The generators of random numbers are as before then.

    If ``raises`` is true, an exception of a fit is raised here.
    """
    outcomes = []
    with _same_generators():
        for number, point in enumerate(points):
            try:
                run = run_local(objective, point, trial_seed(0, number), data, number=number)
            except Exception:
                if raises:
                    raise
                outcomes.append(Outcome([], traceback.format_exc()[-_MAX_ERROR:]))
                continue
            outcomes.append(Outcome(list(run.user_attrs.get("folds", ()))))
    return outcomes


@contextlib.contextmanager
def _same_generators() -> Iterator[None]:
    """Give the generators of this process the states back that they had."""
    state, numpy_state = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)
