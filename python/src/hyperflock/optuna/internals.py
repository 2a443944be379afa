"""Contains every use of Optuna's private names, so that a change of them affects only this module.

    storage, study_id = storage_of(study), study_id_of(study)

`NAMES` lists the private names, and a test looks each of them up in Optuna 4 and 5. No other module
of this package names one, apart from ``_bundle/capture_stores.py``, which must not import Optuna,
and ``_trial/artifacts.py``, which browsers have without this module.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import optuna
from optuna import logging as optuna_logging
from optuna.pruners import PercentilePruner
from optuna.samplers import BaseSampler, GridSampler, TPESampler
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.storages._cached_storage import _CachedStorage
from optuna.study._frozen import FrozenStudy as FrozenStudy
from optuna.study._tell import _tell_with_warning
from optuna.trial import FrozenTrial, TrialState

# The private names by object or module; `tests/optuna/test_internals.py` creates these objects.
NAMES: Mapping[str, tuple[str, ...]] = {
    "artifact store in a folder": ("_base_path",),
    "artifact store that retries": ("_backend",),
    "grid sampler": ("_all_grids", "_same_search_space"),
    "memory storage": ("_get_trial", "_lock", "_set_trial", "_studies", "_update_cache"),
    "memory storage's study": ("best_trial_id", "trials"),
    "percentile pruner": (
        *("_interval_steps", "_n_min_trials", "_n_startup_trials"),
        *("_n_warmup_steps", "_percentile"),
    ),
    "storage with a cache": ("_backend", "_lock", "_studies"),
    "storage with a cache, its study": ("trials", "unfinished_trial_ids"),
    "storage in a database": ("engine",),
    "study": ("_log_completed_trial", "_stop_flag", "_storage", "_study_id", "_thread_local"),
    "study's thread": ("cached_all_trials", "in_optimize_loop"),
    "TPE sampler": ("_constant_liar", "_constraints_func"),
    "trial": ("_cached_frozen_trial", "_trial_id"),
    "trial of the past": ("_trial_id",),
    "optuna.logging": ("_default_handler", "_get_library_root_logger"),
    "optuna.storages._cached_storage": ("_CachedStorage",),
    "optuna.storages._rdb.models": ("TrialModel", "TrialSystemAttributeModel", "TrialValueModel"),
    "optuna.study._frozen": ("FrozenStudy",),
    "optuna.study._tell": ("_tell_with_warning",),
}

# The beginnings of names that Optuna gives: to a study without a name, and to attributes of trials.
UNNAMED = "no-name-"
ARTIFACTS = "artifacts:"
CONSTRAINTS = "constraints"
_GRID_POINT, _GRID = "grid_id", "search_space"
_RUNG = "completed_rung_"
_PARENTS = ":parent:"
# The most trials in one statement of a database.
_AT_ONCE = 500


def storage_of(study: optuna.Study) -> BaseStorage:
    """Return a study's storage."""
    return study._storage


def study_id_of(study: optuna.Study) -> int:
    """Return a study's number in its storage."""
    return study._study_id


def trial_id_of(trial: optuna.Trial | FrozenTrial) -> int:
    """Return a trial's number in its storage."""
    return trial._trial_id


def with_ids(trial: FrozenTrial, number: int, trial_id: int) -> FrozenTrial:
    """Set a trial's number in its study and in its storage."""
    trial.number, trial._trial_id = number, trial_id
    return trial


def memory_of(trial: optuna.Trial) -> FrozenTrial:
    """Return the copy of itself that a running trial keeps in memory."""
    return trial._cached_frozen_trial


def forget_trials(study: optuna.Study) -> None:
    """Let a study read its trials from its storage again."""
    study._thread_local.cached_all_trials = None


def is_optimizing(study: optuna.Study) -> bool:
    """Return whether this thread is inside `optimize` of the study."""
    return bool(study._thread_local.in_optimize_loop)


@contextmanager
def optimizing(study: optuna.Study) -> Iterator[None]:
    """Let callbacks and samplers call `study.stop`, as inside Optuna's `optimize`."""
    study._stop_flag = False
    study._thread_local.in_optimize_loop = True
    try:
        yield
    finally:
        study._thread_local.in_optimize_loop = False
        study._storage.remove_session()


def is_stopped(study: optuna.Study) -> bool:
    """Return whether somebody called `study.stop`."""
    return bool(study._stop_flag)


def tell(
    study: optuna.Study, number: int, values: Sequence[float] | None, state: TrialState
) -> None:
    """Set a trial's outcome as `Study.tell` does, without the copy of the trial that it returns."""
    _tell_with_warning(study, number, values, state, skip_if_finished=True)


def log_completed(study: optuna.Study, trial: FrozenTrial) -> None:
    """Write Optuna's log line of a complete trial."""
    study._log_completed_trial(trial.values, trial.number, trial.params)


def change_stored(
    storage: InMemoryStorage, trial_id: int, change: Callable[[FrozenTrial], FrozenTrial]
) -> None:
    """Replace a trial of a storage in memory by the result of ``change`` on a copy of it."""
    with storage._lock:
        storage._set_trial(trial_id, change(copy.copy(storage._get_trial(trial_id))))


@contextmanager
def stored_trials(storage: InMemoryStorage, study_id: int) -> Iterator[list[FrozenTrial]]:
    """Lock a storage in memory and return its own list of a study's trials."""
    with storage._lock:
        yield storage._studies[study_id].trials


def set_storage(study: optuna.Study, storage: BaseStorage) -> None:
    """Let a study use another storage, which has the same study under the same number."""
    study._storage = storage
    forget_trials(study)


def is_of_result(key: str) -> bool:
    """Return whether a sampler or pruner keeps in a trial's system attribute what it knows from the
    trial's result: that a point of a grid is done, or a value with which others are compared.
    """
    return key in (_GRID_POINT, _GRID) or key.startswith(_RUNG)


def can_change_finished(storage: BaseStorage) -> bool:
    """Return whether `fail_finished` can change finished trials of a storage."""
    return isinstance(storage_behind(storage), InMemoryStorage | RDBStorage)


def fail_finished(
    study: optuna.Study,
    failed: Mapping[int, FrozenTrial],
    added: Mapping[int, Mapping[str, Any]],
) -> None:
    """Change finished trials of a storage in memory or in a database into failed ones.

    Optuna's own methods refuse this. Another process that has read a trial from a database before
    keeps it in its cache as it was.

    Parameters
    ----------
    study
        The study.
    failed
        The trials as they are from now on, by their numbers in the storage.
    added
        The system attributes that they did not have before.
    """
    storage, study_id = storage_of(study), study_id_of(study)
    if isinstance(storage, InMemoryStorage):
        with storage._lock:
            for trial_id, trial in failed.items():
                storage._set_trial(trial_id, trial)
            storage._studies[study_id].best_trial_id = None
            for trial in storage._studies[study_id].trials:
                storage._update_cache(trial._trial_id, study_id)
        return
    database = storage_behind(storage)
    assert isinstance(database, RDBStorage)
    ids = sorted(failed)
    for begin in range(0, len(ids), _AT_ONCE):
        _fail_in_database(database, {i: added[i] for i in ids[begin : begin + _AT_ONCE]})
    if isinstance(storage, _CachedStorage):
        with storage._lock:
            known = storage._studies[study_id].trials
            known.update((trial.number, trial) for trial in failed.values())


def _fail_in_database(database: RDBStorage, added: Mapping[int, Mapping[str, Any]]) -> None:
    """Change trials in one transaction."""
    from optuna.storages._rdb.models import (
        TrialModel,
        TrialSystemAttributeModel,
        TrialValueModel,
    )
    from sqlalchemy import delete, insert, or_, update

    attributes = TrialSystemAttributeModel
    gone = or_(
        attributes.key.in_([_GRID_POINT, _GRID]), attributes.key.startswith(_RUNG, autoescape=True)
    )
    rows = [
        {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
        for trial_id, values in added.items()
        for key, value in values.items()
    ]
    with database.engine.begin() as connection:
        connection.execute(
            update(TrialModel)
            .where(TrialModel.trial_id.in_(list(added)))
            .values(state=TrialState.FAIL)
        )
        connection.execute(delete(TrialValueModel).where(TrialValueModel.trial_id.in_(list(added))))
        connection.execute(delete(attributes).where(attributes.trial_id.in_(list(added)), gone))
        connection.execute(insert(attributes), rows)


def refresh_trials(study: optuna.Study, numbers: Iterable[int]) -> None:
    """Let a cache in front of a database read those of these trials again that another process has
    changed although they have finished.
    """
    storage, study_id = storage_of(study), study_id_of(study)
    forget_trials(study)
    if not isinstance(storage, _CachedStorage):
        return
    wanted = set(numbers)
    known = {
        trial._trial_id: trial.state
        for trial in storage.get_all_trials(study_id, deepcopy=False)
        if trial.number in wanted
    }
    stored = _states_in_database(storage._backend, sorted(known))
    changed = {trial_id for trial_id, state in stored.items() if state is not known[trial_id]}
    if changed:
        with storage._lock:
            storage._studies[study_id].unfinished_trial_ids.update(changed)
        storage.get_all_trials(study_id, deepcopy=False)


def _states_in_database(database: RDBStorage, trial_ids: Sequence[int]) -> dict[int, TrialState]:
    from optuna.storages._rdb.models import TrialModel
    from sqlalchemy import select

    found: dict[int, TrialState] = {}
    with database.engine.connect() as connection:
        for begin in range(0, len(trial_ids), _AT_ONCE):
            ids = trial_ids[begin : begin + _AT_ONCE]
            asked = select(TrialModel.trial_id, TrialModel.state).where(
                TrialModel.trial_id.in_(ids)
            )
            found.update((trial_id, state) for trial_id, state in connection.execute(asked))
    return found


def forget_parents(study: optuna.Study, trial_ids: Collection[int]) -> None:
    """Let genetic samplers choose the parents of generations anew for which they had chosen one of
    these trials. They keep the choice in attributes of the study.
    """
    storage, study_id, gone = storage_of(study), study_id_of(study), set(trial_ids)
    for key, chosen in storage.get_study_system_attrs(study_id).items():
        if _PARENTS in key and isinstance(chosen, list) and not gone.isdisjoint(chosen):
            storage.set_study_system_attr(study_id, key, None)


def storage_behind(storage: BaseStorage) -> BaseStorage:
    """Return the storage behind Optuna's cache, or the storage itself."""
    inner: BaseStorage = getattr(storage, "_backend", storage)
    return inner


class PercentileOptions(NamedTuple):
    """The options of a percentile pruner, as its constructor names them."""

    percentile: float
    n_startup_trials: int
    n_warmup_steps: int
    interval_steps: int
    n_min_trials: int


def options_of(pruner: PercentilePruner) -> PercentileOptions:
    """Return a percentile pruner's options."""
    return PercentileOptions(
        pruner._percentile,
        pruner._n_startup_trials,
        pruner._n_warmup_steps,
        pruner._interval_steps,
        pruner._n_min_trials,
    )


def grid_points_left(study: optuna.Study, sampler: GridSampler) -> int:
    """Return for how many points of a grid the study has no trial."""
    asked = {
        trial.system_attrs[_GRID_POINT]
        for trial in study.get_trials(deepcopy=False)
        if _GRID_POINT in trial.system_attrs
        and sampler._same_search_space(trial.system_attrs[_GRID])
    }
    return len(sampler._all_grids) - len(asked)


def has_constant_liar(sampler: TPESampler) -> bool:
    """Return whether a TPE sampler counts running trials as bad ones."""
    return bool(sampler._constant_liar)


def set_constant_liar(sampler: TPESampler, *, on: bool) -> None:
    """Let a TPE sampler count running trials as bad ones, or not."""
    sampler._constant_liar = on


def has_constraints_func(sampler: BaseSampler) -> bool:
    """Return whether a sampler computes each trial's constraints after its result."""
    return getattr(sampler, "_constraints_func", None) is not None


def computed_constraints(system_attrs: Mapping[str, Any]) -> list[float] | None:
    """Return the constraints that a sampler has computed; None if there are none."""
    found = system_attrs.get(CONSTRAINTS)
    return None if found is None else [float(value) for value in found]


def constraints_of(system_attrs: Mapping[str, Any]) -> list[float]:
    """Return a trial's constraints; Optuna 4 keeps a list, Optuna 5 one attribute each."""
    found = list(system_attrs.get(CONSTRAINTS) or ())
    prefix = f"{CONSTRAINTS}:"
    return found + [value for key, value in system_attrs.items() if key.startswith(prefix)]


def root_logger() -> logging.Logger:
    """Return the parent of all of Optuna's loggers."""
    return optuna_logging._get_library_root_logger()


def default_handler() -> logging.Handler | None:
    """Return the handler by which Optuna writes its log lines, if it has one."""
    return optuna_logging._default_handler
