"""A researcher's process for tests to kill: optimizes a study named ``killed``.

    python optuna_notebook.py URL TOKEN STORAGE OBJECTIVE --goal 50     # so many good trials in all
    python optuna_notebook.py URL TOKEN STORAGE OBJECTIVE --trials 50   # so many trials of this one

STORAGE ``-`` is in memory, OBJECTIVE a name of asked_objectives. Prints ``begun`` once it is about
to optimize, each trial as its callback sees it and at the end all, a list of lists, as JSON.
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

import asked_objectives
import hyperflock
import hyperflock.optuna
import optuna
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.study import MaxTrialsCallback
from optuna.trial import FrozenTrial, TrialState
from patience import LIMIT_S

NAME = "killed"
GOOD = (TrialState.COMPLETE, TrialState.PRUNED)


def storage_of(where: str) -> BaseStorage | str | None:
    """Open what a storage's text names."""
    if not where.endswith(".log"):
        return None if where == "-" else where
    # A killed process leaves its lock behind, for half a minute by default.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        lock = JournalFileOpenLock(where, grace_period=1)
    return JournalStorage(JournalFileBackend(where, lock_obj=lock))


def row(trial: FrozenTrial) -> list[Any]:
    """Give what must stay as it is from when a trial was told."""
    return [trial.number, trial.state.name, trial.params, trial.values]


def show(study: optuna.Study, trial: FrozenTrial) -> None:
    """Print what a callback gets."""
    print(json.dumps(row(trial)), flush=True)


def main() -> None:
    """Go on with the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("url", "token", "storage", "objective"):
        parser.add_argument(name)
    parser.add_argument("--goal", type=int)
    parser.add_argument("--trials", type=int)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        study_name=NAME,
        storage=storage_of(options.storage),
        load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(),
    )
    callbacks = [show]
    if options.goal is not None:
        callbacks.append(MaxTrialsCallback(options.goal, states=GOOD))
    print('"begun"', flush=True)
    hyperflock.optuna.optimize(
        study,
        getattr(asked_objectives, options.objective),
        n_trials=options.trials,
        callbacks=callbacks,
        client=hyperflock.Client(options.url, options.token, patience_s=LIMIT_S),
    )
    print(json.dumps([row(trial) for trial in study.trials]))


if __name__ == "__main__":
    main()
