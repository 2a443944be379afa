"""Hyperflock: hyper-parameter search on the phones and browsers of volunteers.

    import hyperflock

    def objective(trial):
        import chainer                       # there in the volunteer's browser; not needed here
        ...
        return accuracy

    client = hyperflock.Client("http://127.0.0.1:8790", token)
    study = client.grid(objective, {"channels": [4, 16, 64]}, direction="maximize")
    for trial in study:                      # as results arrive
        print(trial.number, trial.params, trial.value)
    print(study.best_trial)

Names are loaded when first used, so that ``import hyperflock`` costs next to nothing. The package
is safe to use from several threads; everything here is blocking but `AsyncClient` and `AsyncStudy`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperflock import _old_names
from hyperflock._base.version import __version__

if TYPE_CHECKING:
    from hyperflock._base.errors import (
        ArtifactError,
        ArtifactLostError,
        AuthError,
        BundleError,
        CheckpointError,
        DataError,
        DryRunError,
        EmptySpaceError,
        HyperflockError,
        InvalidSpaceError,
        MetricError,
        NoCompleteTrialError,
        NotFoundError,
        ObjectiveError,
        OptunaMissingError,
        OwnerError,
        ProtocolError,
        ReplayError,
        ServerError,
        ServerUnreachableError,
        SpaceTooLargeError,
        StudyExistsError,
        SuggestMismatchError,
        WaitTimeoutError,
    )
    from hyperflock._client.artifacts import Artifact
    from hyperflock._client.async_client import AsyncClient
    from hyperflock._client.async_study import AsyncStudy
    from hyperflock._client.client import Client
    from hyperflock._client.deletion import Deleted
    from hyperflock._client.placement import Placement, Requires
    from hyperflock._client.study import Study
    from hyperflock._execution.device import Device, device
    from hyperflock._execution.dry_run import DryRun
    from hyperflock._execution.fast_step import FastStep, fast_step, scalar
    from hyperflock._execution.local import LocalRun, run_local
    from hyperflock._execution.replay import Replay
    from hyperflock._execution.trainer import CheckpointExtension
    from hyperflock._execution.trial import Trial, TrialPruned
    from hyperflock._model.grid import Scalar, grid_point, grid_size, suggest_grid, trial_seed
    from hyperflock._model.provenance import Provenance
    from hyperflock._model.results import Attempt, TrialError, TrialResult
    from hyperflock._reports.plots import Plot

__all__ = [
    "Artifact",
    "ArtifactError",
    "ArtifactLostError",
    "AsyncClient",
    "AsyncStudy",
    "Attempt",
    "AuthError",
    "BundleError",
    "CheckpointError",
    "CheckpointExtension",
    "Client",
    "DataError",
    "Deleted",
    "Device",
    "DryRun",
    "DryRunError",
    "EmptySpaceError",
    "FastStep",
    "HyperflockError",
    "InvalidSpaceError",
    "LocalRun",
    "MetricError",
    "NoCompleteTrialError",
    "NotFoundError",
    "ObjectiveError",
    "OptunaMissingError",
    "OwnerError",
    "Placement",
    "Plot",
    "ProtocolError",
    "Provenance",
    "Replay",
    "ReplayError",
    "Requires",
    "Scalar",
    "ServerError",
    "ServerUnreachableError",
    "SpaceTooLargeError",
    "Study",
    "StudyExistsError",
    "SuggestMismatchError",
    "Trial",
    "TrialError",
    "TrialPruned",
    "TrialResult",
    "WaitTimeoutError",
    "__version__",
    "device",
    "fast_step",
    "grid_point",
    "grid_size",
    "run_local",
    "scalar",
    "suggest_grid",
    "trial_seed",
]

_HOME = {
    "Artifact": "_client.artifacts",
    "AsyncClient": "_client.async_client",
    "AsyncStudy": "_client.async_study",
    "Attempt": "_model.results",
    "Client": "_client.client",
    "Deleted": "_client.deletion",
    "Device": "_execution.device",
    "device": "_execution.device",
    "DryRun": "_execution.dry_run",
    "FastStep": "_execution.fast_step",
    "fast_step": "_execution.fast_step",
    "scalar": "_execution.fast_step",
    "LocalRun": "_execution.local",
    "Placement": "_client.placement",
    "Requires": "_client.placement",
    "Plot": "_reports.plots",
    "Provenance": "_model.provenance",
    "Replay": "_execution.replay",
    "run_local": "_execution.local",
    "Scalar": "_model.grid",
    "grid_point": "_model.grid",
    "grid_size": "_model.grid",
    "suggest_grid": "_model.grid",
    "trial_seed": "_model.grid",
    "Study": "_client.study",
    "Trial": "_execution.trial",
    "TrialPruned": "_execution.trial",
    "CheckpointExtension": "_execution.trainer",
    "TrialError": "_model.results",
    "TrialResult": "_model.results",
}


def __getattr__(name: str) -> Any:
    if name == "optuna":  # the package of that name, once Optuna is wanted
        return import_module("hyperflock.optuna")
    if name not in __all__:
        raise AttributeError(f"module 'hyperflock' has no attribute '{name}'")
    value = getattr(import_module(f"hyperflock.{_HOME.get(name, '_base.errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


_old_names.install()
