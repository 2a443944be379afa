"""Optuna studies on volunteers' devices: the researcher's own study, sampler and pruner.

    import hyperflock, optuna

    study = optuna.create_study(direction="maximize")
    hyperflock.optuna.optimize(study, objective, n_trials=100, client=hyperflock.Client())

Sampling, pruning, storage and callbacks happen here, in the thread that calls; the objective runs
on devices. Needs Optuna 4 or 5 (``pip install hyperflock[optuna]``).
"""

from hyperflock.optuna.version import check_version

check_version()

from hyperflock.optuna.owner.optimize import optimize  # noqa: E402
from hyperflock.optuna.storage.artifacts import ArtifactStore  # noqa: E402
from hyperflock.optuna.storage.storage import Storage  # noqa: E402

__all__ = ["ArtifactStore", "Storage", "optimize"]
