"""A researcher's process for tests to kill: optimizes until a study has so many good trials.

    python optuna_notebook.py URL TOKEN STORAGE GOAL      # STORAGE "-": in memory

Prints ``begun`` once it is about to optimize, and at the end what its study holds, as JSON.
"""

from __future__ import annotations

import json
import sys

import hyperflock
import hyperflock.optuna
import optuna
from asked_objectives import curved
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.study import MaxTrialsCallback
from optuna.trial import TrialState


def main(url: str, token: str, where: str, goal: int) -> None:
    """Go on with the study ``killed``."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage: optuna.storages.BaseStorage | str | None = None if where == "-" else where
    if where.endswith(".log"):
        # A killed process leaves its lock behind, for half a minute by default.
        lock = JournalFileOpenLock(where, grace_period=1)
        storage = JournalStorage(JournalFileBackend(where, lock_obj=lock))
    study = optuna.create_study(
        study_name="killed",
        storage=storage,
        load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(),
    )
    enough = MaxTrialsCallback(goal, states=(TrialState.COMPLETE, TrialState.PRUNED))
    print("begun", flush=True)
    client = hyperflock.Client(url, token)
    hyperflock.optuna.optimize(study, curved, callbacks=[enough], client=client)
    print(json.dumps([[t.number, t.state.name, t.params, t.values] for t in study.trials]))


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]))
