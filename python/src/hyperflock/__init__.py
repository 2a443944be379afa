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

from hyperflock._version import __version__

if TYPE_CHECKING:
    from hyperflock._artifacts import Artifact
    from hyperflock._async_client import AsyncClient
    from hyperflock._async_study import AsyncStudy
    from hyperflock._client import Client
    from hyperflock._deletion import Deleted
    from hyperflock._device import Device, device
    from hyperflock._dry_run import DryRun
    from hyperflock._errors import (
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
    from hyperflock._fast_step import FastStep, fast_step, scalar
    from hyperflock._grid import Scalar, grid_point, grid_size, suggest_grid, trial_seed
    from hyperflock._local import LocalRun, run_local
    from hyperflock._placement import Placement, Requires
    from hyperflock._plots import Plot
    from hyperflock._provenance import Provenance
    from hyperflock._replay import Replay
    from hyperflock._results import Attempt, TrialError, TrialResult
    from hyperflock._study import Study
    from hyperflock._trainer import CheckpointExtension
    from hyperflock._trial import Trial, TrialPruned

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
    "Artifact": "_artifacts",
    "AsyncClient": "_async_client",
    "AsyncStudy": "_async_study",
    "Attempt": "_results",
    "Client": "_client",
    "Deleted": "_deletion",
    "Device": "_device",
    "device": "_device",
    "DryRun": "_dry_run",
    "FastStep": "_fast_step",
    "fast_step": "_fast_step",
    "scalar": "_fast_step",
    "LocalRun": "_local",
    "Placement": "_placement",
    "Requires": "_placement",
    "Plot": "_plots",
    "Provenance": "_provenance",
    "Replay": "_replay",
    "run_local": "_local",
    "Scalar": "_grid",
    "grid_point": "_grid",
    "grid_size": "_grid",
    "suggest_grid": "_grid",
    "trial_seed": "_grid",
    "Study": "_study",
    "Trial": "_trial",
    "TrialPruned": "_trial",
    "CheckpointExtension": "_trainer",
    "TrialError": "_results",
    "TrialResult": "_results",
}


def __getattr__(name: str) -> Any:
    if name == "optuna":  # the package of that name, once Optuna is wanted
        return import_module("hyperflock.optuna")
    if name not in __all__:
        raise AttributeError(f"module 'hyperflock' has no attribute '{name}'")
    value = getattr(import_module(f"hyperflock.{_HOME.get(name, '_errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
