"""Shows the studies of an Optuna storage without results that were rejected at the server.

    storage = without_rejected(JournalStorage(JournalFileBackend("study.log")))
    study = optuna.load_study(study_name="digits", storage=storage)

Optuna's storages do not change a trial that has finished. In memory and in a database the package
changes it anyway (`internals`). A journal cannot be changed, nor what is behind a proxy. There, an
attribute of the study names the rejected trials, and this storage shows them as failed.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.storages import BaseStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hyperflock.optuna.internals import FrozenStudy, can_change_finished, trial_id_of
from hyperflock.optuna.rejection import REJECTED, RESULTS, Note, without_result


def without_rejected(storage: BaseStorage) -> BaseStorage:
    """Return a view of an Optuna storage in which rejected trials are failed.

    `hyperflock.optuna.optimize` puts it in front of a study's storage by itself. It is for other
    processes that open the same journal or proxy. Storages in memory and databases are returned as
    they are, because rejected trials are failed in them.

    Parameters
    ----------
    storage
        Any storage of Optuna.
    """
    if isinstance(storage, WithoutRejected) or can_change_finished(storage):
        return storage
    return WithoutRejected(storage)


class WithoutRejected(BaseStorage):
    """A view of a storage in which trials that the attribute `REJECTED` of their study names are
    failed and have no values. Everything else is read from the storage and written to it.

    Parameters
    ----------
    storage
        The storage. Each access to the trials of a study reads the attribute again.
    """

    def __init__(self, storage: BaseStorage) -> None:
        self._inner = storage
        self._notes: dict[int, Note] = {}
        self._failed: dict[int, FrozenTrial] = {}
        for study in storage.get_all_studies():
            self._read(study.system_attrs)

    def reject(self, study_id: int, notes: Mapping[int, Note]) -> None:
        """Show these trials as failed from now on.

        Parameters
        ----------
        study_id
            The study's number in the storage.
        notes
            The notes by the trials' numbers in the storage.
        """
        stored = list(self._inner.get_study_system_attrs(study_id).get(REJECTED) or ())
        by_note: dict[tuple[Any, ...], list[int]] = {}
        for trial_id, note in sorted(notes.items()):
            by_note.setdefault(tuple(sorted(note.items())), []).append(trial_id)
        stored += [{**dict(note), "trials": ids} for note, ids in by_note.items()]
        self._inner.set_study_system_attr(study_id, REJECTED, stored)
        self._read({REJECTED: stored})

    def _read(self, system_attrs: Mapping[str, Any]) -> bool:
        """Read the notes of a study, and return whether it has any."""
        stored = system_attrs.get(REJECTED) or ()
        for one in stored:
            note = {key: value for key, value in one.items() if key != "trials"}
            for trial_id in one["trials"]:
                self._notes.setdefault(trial_id, note)
        return bool(stored)

    def _shown(self, trial: FrozenTrial) -> FrozenTrial:
        trial_id = trial_id_of(trial)
        note = self._notes.get(trial_id)
        if note is None or trial.state not in RESULTS:
            return trial
        if trial_id not in self._failed:  # a finished trial does not change any more
            self._failed[trial_id] = without_result(trial, note)
        return self._failed[trial_id]

    # ---- trials

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Return a study's trials, by number."""
        if not self._read(self._inner.get_study_system_attrs(study_id)):
            return self._inner.get_all_trials(study_id, deepcopy=deepcopy, states=states)
        trials = map(self._shown, self._inner.get_all_trials(study_id, deepcopy=False))
        found = [trial for trial in trials if states is None or trial.state in states]
        return copy.deepcopy(found) if deepcopy else found

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """Return a trial."""
        found = self._inner.get_trial(trial_id)
        shown = self._shown(found)
        return found if shown is found else copy.deepcopy(shown)

    def get_trial_id_from_study_id_trial_number(self, study_id: int, trial_number: int) -> int:
        """Return the id of a trial."""
        return self._inner.get_trial_id_from_study_id_trial_number(study_id, trial_number)

    def get_trial_number_from_id(self, trial_id: int) -> int:
        """Return the number of a trial in its study."""
        return self._inner.get_trial_number_from_id(trial_id)

    def get_trial_param(self, trial_id: int, param_name: str) -> float:
        """Return the internal value of a parameter."""
        return self._inner.get_trial_param(trial_id, param_name)

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        """Create a trial and return its id."""
        return self._inner.create_new_trial(study_id, template_trial)

    def set_trial_param(
        self,
        trial_id: int,
        param_name: str,
        param_value_internal: float,
        distribution: BaseDistribution,
    ) -> None:
        """Set a parameter of a trial."""
        self._inner.set_trial_param(trial_id, param_name, param_value_internal, distribution)

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        """Set a trial's state and values."""
        return self._inner.set_trial_state_values(trial_id, state, values)

    def set_trial_intermediate_value(
        self, trial_id: int, step: int, intermediate_value: float
    ) -> None:
        """Set an intermediate value of a trial."""
        self._inner.set_trial_intermediate_value(trial_id, step, intermediate_value)

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Set an attribute of a trial."""
        self._inner.set_trial_user_attr(trial_id, key, value)

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Set an attribute of a trial."""
        self._inner.set_trial_system_attr(trial_id, key, value)

    # ---- studies

    def create_new_study(
        self, directions: Sequence[StudyDirection], study_name: str | None = None
    ) -> int:
        """Create a study and return its id."""
        return self._inner.create_new_study(directions, study_name)

    def delete_study(self, study_id: int) -> None:
        """Delete a study."""
        self._inner.delete_study(study_id)

    def set_study_user_attr(self, study_id: int, key: str, value: Any) -> None:
        """Set an attribute of a study."""
        self._inner.set_study_user_attr(study_id, key, value)

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        """Set an attribute of a study."""
        self._inner.set_study_system_attr(study_id, key, value)

    def get_study_id_from_name(self, study_name: str) -> int:
        """Return the id of a study."""
        return self._inner.get_study_id_from_name(study_name)

    def get_study_name_from_id(self, study_id: int) -> str:
        """Return the name of a study."""
        return self._inner.get_study_name_from_id(study_id)

    def get_study_directions(self, study_id: int) -> list[StudyDirection]:
        """Return a study's directions."""
        return self._inner.get_study_directions(study_id)

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        """Return the user attributes of a study."""
        return self._inner.get_study_user_attrs(study_id)

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """Return the system attributes of a study."""
        return self._inner.get_study_system_attrs(study_id)

    def get_all_studies(self) -> list[FrozenStudy]:
        """Return all studies."""
        return self._inner.get_all_studies()

    def remove_session(self) -> None:
        """Close the storage's connections to its database."""
        self._inner.remove_session()
