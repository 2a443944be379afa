"""Optuna studies on volunteers' devices: the researcher's own study, sampler and pruner.

    import hyperflock, optuna

    study = optuna.create_study(direction="maximize")
    hyperflock.optuna.optimize(study, objective, n_trials=100, client=hyperflock.Client())

Sampling, pruning, storage and callbacks run in the calling thread; the objective runs on devices.
This package needs Optuna 4 or 5 (``pip install hyperflock[optuna]``).
"""

from typing import TYPE_CHECKING

from hyperflock._trial.elsewhere import in_trial, public_names

if TYPE_CHECKING:
    from hyperflock.optuna.owner.optimize import optimize
    from hyperflock.optuna.storage.artifacts import ArtifactStore
    from hyperflock.optuna.storage.storage import Storage
    from hyperflock.optuna.storage.without_rejected import without_rejected

__all__ = ["ArtifactStore", "Storage", "optimize", "without_rejected"]

__getattr__, __dir__ = public_names(
    __name__,
    {
        "ArtifactStore": "optuna.storage.artifacts",
        "Storage": "optuna.storage.storage",
        "optimize": "optuna.owner.optimize",
        "without_rejected": "optuna.storage.without_rejected",
    },
)

if not in_trial():
    from hyperflock.optuna.version import check_version

    check_version()
