"""Hyperflock: hyper-parameter search on the phones and browsers of volunteers.

    import hyperflock

    def objective(trial):
        import chainer                       # in the volunteer's browser; not needed here
        ...
        return accuracy

    client = hyperflock.Client("http://127.0.0.1:8790", token)
    study = client.grid(objective, {"channels": [4, 16, 64]}, direction="maximize")
    for trial in study:                      # as results arrive
        print(trial.number, trial.params, trial.value)
    print(study.best_trial)

Names are loaded on first use, so ``import hyperflock`` is fast. In a trial, wherever it runs, the
same import gives what a trial may use; everything else raises an error when it is called
(`hyperflock._trial`). Several threads may use the package. All functions and methods block, except
those of `AsyncClient` and `AsyncStudy`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperflock._base.version import __version__
from hyperflock._trial.elsewhere import in_trial, public_names

if TYPE_CHECKING:
    from hyperflock._base.distributions import choice, integer, uniform
    from hyperflock._base.errors import (
        ArtifactError,
        ArtifactLostError,
        AttributeRefusedError,
        AuthError,
        BundleError,
        CallError,
        CheckpointError,
        DataError,
        DryRunError,
        EmptySpaceError,
        HyperflockError,
        InvalidSpaceError,
        MetricError,
        NoCompleteTrialError,
        NotFoundError,
        NotInTrialError,
        ObjectiveError,
        OptunaMissingError,
        OwnerError,
        ProtocolError,
        ReplayError,
        SeriesError,
        ServerError,
        ServerUnreachableError,
        SklearnMissingError,
        SpaceTooLargeError,
        StudyElsewhereError,
        StudyExistsError,
        SuggestInvalidError,
        SuggestMismatchError,
        WaitTimeoutError,
    )
    from hyperflock._client.artifacts import Artifact
    from hyperflock._client.async_client import AsyncClient
    from hyperflock._client.async_study import AsyncStudy
    from hyperflock._client.client import Client
    from hyperflock._client.deletion import Deleted
    from hyperflock._client.placement import DeviceShare, Placement, Requires
    from hyperflock._client.rejection import Rejected
    from hyperflock._client.study import Study
    from hyperflock._client.webhooks import verify_webhook
    from hyperflock._execution.dry_run import DryRun
    from hyperflock._execution.local import LocalRun, run_local
    from hyperflock._execution.replay import Replay
    from hyperflock._model.grid import grid_point, grid_size, suggest_grid, trial_seed
    from hyperflock._model.provenance import Provenance
    from hyperflock._model.results import Attempt, Rejection, TrialError, TrialResult
    from hyperflock._model.sampling import random_point, sobol_point
    from hyperflock._model.space import Scalar
    from hyperflock._reports.estimate import Progress
    from hyperflock._reports.plots import Plot
    from hyperflock._trial.devices import Device, device
    from hyperflock._trial.fast_step import FastStep, fast_step, scalar
    from hyperflock._trial.images import Image
    from hyperflock._trial.trainer import (
        CheckpointExtension,
        HyperflockPruningExtension,
        LogReport,
    )
    from hyperflock._trial.trial import Trial, TrialPruned

__all__ = [
    "Artifact",
    "ArtifactError",
    "ArtifactLostError",
    "AsyncClient",
    "AsyncStudy",
    "Attempt",
    "AttributeRefusedError",
    "AuthError",
    "BundleError",
    "CallError",
    "CheckpointError",
    "CheckpointExtension",
    "Client",
    "DataError",
    "Deleted",
    "Device",
    "DeviceShare",
    "DryRun",
    "DryRunError",
    "EmptySpaceError",
    "FastStep",
    "HyperflockError",
    "HyperflockPruningExtension",
    "Image",
    "InvalidSpaceError",
    "LocalRun",
    "LogReport",
    "MetricError",
    "NoCompleteTrialError",
    "NotFoundError",
    "NotInTrialError",
    "ObjectiveError",
    "OptunaMissingError",
    "OwnerError",
    "Placement",
    "Plot",
    "Progress",
    "ProtocolError",
    "Provenance",
    "Rejected",
    "Rejection",
    "Replay",
    "ReplayError",
    "Requires",
    "Scalar",
    "SeriesError",
    "ServerError",
    "ServerUnreachableError",
    "SklearnMissingError",
    "SpaceTooLargeError",
    "Study",
    "StudyElsewhereError",
    "StudyExistsError",
    "SuggestInvalidError",
    "SuggestMismatchError",
    "Trial",
    "TrialError",
    "TrialPruned",
    "TrialResult",
    "WaitTimeoutError",
    "__version__",
    "choice",
    "device",
    "fast_step",
    "grid_point",
    "grid_size",
    "integer",
    "random_point",
    "run_local",
    "scalar",
    "sobol_point",
    "suggest_grid",
    "trial_seed",
    "uniform",
    "verify_webhook",
]

_HOMES = dict.fromkeys(__all__, "_base.errors") | {
    "Artifact": "_client.artifacts",
    "AsyncClient": "_client.async_client",
    "AsyncStudy": "_client.async_study",
    "Attempt": "_model.results",
    "Client": "_client.client",
    "Deleted": "_client.deletion",
    "Device": "_trial.devices",
    "device": "_trial.devices",
    "DryRun": "_execution.dry_run",
    "FastStep": "_trial.fast_step",
    "fast_step": "_trial.fast_step",
    "scalar": "_trial.fast_step",
    "LocalRun": "_execution.local",
    "DeviceShare": "_client.placement",
    "Placement": "_client.placement",
    "Requires": "_client.placement",
    "Plot": "_reports.plots",
    "Progress": "_reports.estimate",
    "Provenance": "_model.provenance",
    "Rejected": "_client.rejection",
    "Rejection": "_model.results",
    "Replay": "_execution.replay",
    "run_local": "_execution.local",
    "Scalar": "_model.space",
    "grid_point": "_model.grid",
    "grid_size": "_model.grid",
    "suggest_grid": "_model.grid",
    "random_point": "_model.sampling",
    "sobol_point": "_model.sampling",
    "choice": "_base.distributions",
    "integer": "_base.distributions",
    "uniform": "_base.distributions",
    "trial_seed": "_model.grid",
    "Study": "_client.study",
    "verify_webhook": "_client.webhooks",
    "Trial": "_trial.trial",
    "TrialPruned": "_trial.trial",
    "CheckpointExtension": "_trial.trainer",
    "HyperflockPruningExtension": "_trial.trainer",
    "LogReport": "_trial.trainer",
    "Image": "_trial.images",
    "TrialError": "_model.results",
    "TrialResult": "_model.results",
}

_load, __dir__ = public_names(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in ("optuna", "sklearn"):  # packages, imported on first use because of what they need
        return import_module(f"hyperflock.{name}")
    return _load(name)


if not in_trial():
    from hyperflock import _old_names

    _old_names.install()
