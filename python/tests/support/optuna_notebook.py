"""Optimizes a study named ``killed``, as a researcher's process that tests kill.

    python optuna_notebook.py URL TOKEN STORAGE OBJECTIVE --goal 50     # until 50 trials are good
    python optuna_notebook.py URL TOKEN STORAGE OBJECTIVE --trials 50   # 50 trials of this process

STORAGE ``-`` is in memory. OBJECTIVE is the name of a function in asked_objectives.py. The program
prints lines of JSON: ``begun`` before it optimizes, each trial in its callback, and all trials at
the end.
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
    """Open the storage that an argument names."""
    if not where.endswith(".log"):
        return None if where == "-" else where
    # By default, other processes wait half a minute for the lock of a killed process.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        lock = JournalFileOpenLock(where, grace_period=1)
    return JournalStorage(JournalFileBackend(where, lock_obj=lock))


def row(trial: FrozenTrial) -> list[Any]:
    """Return the fields of a trial that must not change once it has finished."""
    return [trial.number, trial.state.name, trial.params, trial.values]


def show(study: optuna.Study, trial: FrozenTrial) -> None:
    """Print the trial that a callback gets."""
    print(json.dumps(row(trial)), flush=True)


def main() -> None:
    """Create or load the study and optimize it."""
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
