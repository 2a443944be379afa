"""Researchers who submit grids and own Optuna studies while servers die.

    researcher = Researcher("ada", console, token)
    researcher.begin()
    results = researcher.end()            # what it has read: {study: {trial: value}}

Each has two threads with the package of researchers: one submits a grid and reads its results as
they arrive, one asks for the trials of an Optuna study. Whoever has finished begins the next study,
so that at any moment a study of each kind goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import hyperflock
import hyperflock.optuna
import optuna
from fleet import PARAMETER
from patience import LIMIT_S

Results = dict[int, dict[int, float]]


def computed(trial: Any) -> float:
    """Stand for an objective. The devices of the drill never run it."""
    return float(trial.suggest_float(PARAMETER, 0, 1))


class Researcher:
    """One researcher with a token.

    Parameters
    ----------
    points, trials
        How many trials a grid and an Optuna study have.
    """

    def __init__(self, name: str, console: str, token: str, points: int, trials: int) -> None:
        self._name = name
        self._console = console
        self._token = token
        self._points = points
        self._trials = trials
        self._is_over = threading.Event()
        self._results: Results = {}
        self._failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._until_over, args=(work,), daemon=True)
            for work in (self._grid, self._asked)
        ]

    def begin(self) -> None:
        """Begin the first studies."""
        for thread in self._threads:
            thread.start()

    def check(self) -> None:
        """Raise the error that ended a thread, if there is one."""
        if self._failures:
            raise self._failures[0]

    def end(self) -> Results:
        """Begin no more studies, wait until those that go on have finished, and return all results.

        Raises
        ------
        AssertionError
            The package showed a trial twice, or not at all.
        """
        self._is_over.set()
        for thread in self._threads:
            thread.join(LIMIT_S)
            assert not thread.is_alive(), f"a study of {self._name} does not finish"
        self.check()
        return self._results

    def _until_over(self, work: Callable[[hyperflock.Client, str], None]) -> None:
        try:
            with hyperflock.Client(self._console, self._token, patience_s=LIMIT_S) as client:
                number = 0
                while not self._is_over.is_set():
                    number += 1
                    work(client, f"{work.__name__} {number} of {self._name}")
        except BaseException as error:
            self._failures.append(error)

    def _grid(self, client: hyperflock.Client, name: str) -> None:
        space = {PARAMETER: list(range(self._points))}
        study = client.grid(computed, space, name=name)
        found: dict[int, float] = {}
        for trial in study:
            assert trial.number not in found, f"trial {trial.number} of {name} was shown twice"
            assert trial.value is not None, f"trial {trial.number} of {name} has no value"
            found[trial.number] = trial.value
        assert len(found) == self._points, f"{name} ended after {len(found)} trials"
        self._results[study.id] = found

    def _asked(self, client: hyperflock.Client, name: str) -> None:
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler())
        hyperflock.optuna.optimize(study, computed, n_trials=self._trials, client=client, name=name)
        found = {trial.number: trial.value for trial in study.trials if trial.value is not None}
        assert len(found) == self._trials, f"{name} ended after {len(found)} trials"
        self._results[client.study(name).id] = found
