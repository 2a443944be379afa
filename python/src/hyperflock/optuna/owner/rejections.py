"""Fails trials of an Optuna study whose results were rejected at the server (R71).

    changed = fail_rejected(study, {17: note})     # the trials that had a result, as they are now

Afterwards a trial's value counts for nothing: not for the best trial, nor for samplers and pruners.
What a sampler had computed from it before stays, such as the state that CMA-ES keeps with later
trials. Functions run in the owner's thread.
"""

from __future__ import annotations

from collections.abc import Mapping

import optuna
from optuna.samplers import BruteForceSampler
from optuna.trial import FrozenTrial

from hyperflock.optuna import internals
from hyperflock.optuna.internals import storage_of, study_id_of, trial_id_of
from hyperflock.optuna.rejection import REJECTED, RESULTS, Note, attribute, without_result
from hyperflock.optuna.storage.without_rejected import WithoutRejected, without_rejected


def show_rejections(study: optuna.Study) -> None:
    """Let a study show what was rejected before this process opened it."""
    storage = storage_of(study)
    if storage.get_study_system_attrs(study_id_of(study)).get(REJECTED):
        internals.set_storage(study, without_rejected(storage))


def fail_rejected(study: optuna.Study, notes: Mapping[int, Note]) -> list[FrozenTrial]:
    """Fail finished trials, and return those that had a result until now.

    Parameters
    ----------
    study
        The study. If its storage cannot change finished trials, the study gets a view of the
        storage that shows these trials as failed.
    notes
        The notes about the rejections, by the trials' numbers. Trials that have not finished, and
        trials that have failed, are left as they are.
    """
    if not notes:
        return []
    internals.refresh_trials(study, notes)
    trials = study.get_trials(deepcopy=False)
    found = {
        trial_id_of(trial): trial
        for trial in trials
        if trial.number in notes and trial.state in RESULTS
    }
    if not found:
        return []
    by_id = {trial_id: notes[trial.number] for trial_id, trial in found.items()}
    storage = storage_of(study)
    if internals.can_change_finished(storage):
        attributes = {i: attribute(trial, by_id[i]) for i, trial in found.items()}
        internals.fail_finished(
            study,
            {i: without_result(trial, by_id[i]) for i, trial in found.items()},
            {i: {REJECTED: value} for i, value in attributes.items()},
        )
    else:
        view = storage if isinstance(storage, WithoutRejected) else WithoutRejected(storage)
        view.reject(study_id_of(study), by_id)
        internals.set_storage(study, view)
    internals.forget_trials(study)
    internals.forget_parents(study, found.keys())
    _ask_again(study, list(found.values()))
    numbers = {trial.number for trial in found.values()}
    return [trial for trial in study.get_trials(deepcopy=False) if trial.number in numbers]


def _ask_again(study: optuna.Study, rejected: list[FrozenTrial]) -> None:
    """Enqueue points that the sampler would not suggest again, because they have a failed trial.

    `optuna.samplers.GridSampler` suggests them again by itself.
    """
    if isinstance(study.sampler, BruteForceSampler):
        for trial in rejected:
            study.enqueue_trial(trial.params)
