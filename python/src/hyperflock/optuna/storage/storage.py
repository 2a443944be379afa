"""A server's studies as a read-only Optuna storage, for plots, tables and optuna-dashboard.

    storage = hyperflock.optuna.Storage(hyperflock.Client())
    study = optuna.load_study(study_name="digits", storage=storage)
    optuna_dashboard.run_server(storage)

It contains ask-and-tell studies and grids. Devices run the trials, so no method starts or changes
one.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Container, Sequence
from typing import Any, NoReturn

from optuna.distributions import BaseDistribution
from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage, get_storage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.errors import HyperflockError, NotFoundError
from hyperflock._client.client import Client
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import StudyRow
from hyperflock._transport.pages import whole
from hyperflock._transport.validation import convert
from hyperflock.optuna.internals import FrozenStudy
from hyperflock.optuna.storage.trial_feed import NUMBERS, LiveTrials


class Storage(BaseStorage):
    """A read-only Optuna storage of the studies that a client may see.

    A study has the server's id. Its trials are those that devices have started, and for an
    ask-and-tell study also those that wait for a device. For a missing number between two trials
    the storage shows a failed trial without parameters. Each access asks the server for changes.

    Parameters
    ----------
    client
        The client of a server; None means ``hyperflock.Client()``.
    attributes
        An Optuna storage, or its URL, for attributes of studies, such as notes of optuna-dashboard
        and names of metrics. The server does not store them; None means that studies have no
        attributes and none can be set.

    Raises
    ------
    HyperflockError
        ``read_only_storage``: raised by each method that would create, change or delete a study or
        a trial.
    """

    def __init__(
        self, client: Client | None = None, *, attributes: BaseStorage | str | None = None
    ) -> None:
        self._client = Client() if client is None else client
        self._http = self._client._core._http
        self._attributes = None if attributes is None else get_storage(attributes)
        self._lock = threading.Lock()
        self._live: dict[int, LiveTrials] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the token: the reader of a pickle needs a token of their own."""
        return {"url": self._client.url, "attributes": self._attributes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Connect again with the token of ``hyperflock.Client()``."""
        Storage.__init__(self, Client(state["url"]), attributes=state["attributes"])

    # ---- studies

    def get_study_id_from_name(self, study_name: str) -> int:
        """Return the newest study with a name."""
        for row in self._rows():
            if row.name == study_name:
                return row.study
        raise KeyError(f"no study at {self._client.url} has the name {study_name!r}")

    def get_study_name_from_id(self, study_id: int) -> str:
        """Return a study's name."""
        return self._of(study_id).row.name

    def get_study_directions(self, study_id: int) -> list[StudyDirection]:
        """Return a study's directions."""
        return _directions(self._of(study_id).row)

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        """Return the user attributes that ``attributes`` stores for a study."""
        kept = self._kept(self._of(study_id).row)
        return {} if kept is None else kept[0].get_study_user_attrs(kept[1])

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """Return the system attributes that ``attributes`` stores for a study."""
        kept = self._kept(self._of(study_id).row)
        return {} if kept is None else kept[0].get_study_system_attrs(kept[1])

    def set_study_user_attr(self, study_id: int, key: str, value: Any) -> None:
        """Store an attribute of a study in ``attributes``."""
        storage, kept = self._keeping(self._of(study_id).row)
        storage.set_study_user_attr(kept, key, value)

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        """Store an attribute of a study in ``attributes``."""
        storage, kept = self._keeping(self._of(study_id).row)
        storage.set_study_system_attr(kept, key, value)

    def get_all_studies(self) -> list[FrozenStudy]:
        """Return all studies that the client's token may see, by id."""
        found = []
        for row in sorted(self._rows(), key=lambda row: row.study):
            kept = self._kept(row)
            user = {} if kept is None else kept[0].get_study_user_attrs(kept[1])
            system = {} if kept is None else kept[0].get_study_system_attrs(kept[1])
            directions = _directions(row)
            found.append(
                FrozenStudy(row.name, None, user, system, row.study, directions=directions)
            )
        return found

    # ---- trials

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Return a study's current trials, by number."""
        trials = self._trials(study_id)
        found = [trial for trial in trials if states is None or trial.state in states]
        return [_copied(trial) for trial in found] if deepcopy else found

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """Return a trial's current state."""
        study, number = divmod(trial_id, NUMBERS)
        trials = self._trials(study)
        if number >= len(trials):
            raise KeyError(f"study {study} has no trial {number}")
        return trials[number]

    # ---- what only devices and owners do

    def create_new_study(
        self, directions: Sequence[StudyDirection], study_name: str | None = None
    ) -> int:
        """Raise an error: `hyperflock.optuna.optimize` and `Client.grid` create studies."""
        _refuse("begins no study")

    def delete_study(self, study_id: int) -> None:
        """Raise an error: `hyperflock.Study.delete` deletes ended studies."""
        _refuse("deletes no study")

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        """Raise an error: trials start on devices."""
        _refuse("begins no trial")

    def set_trial_param(
        self,
        trial_id: int,
        param_name: str,
        param_value_internal: float,
        distribution: BaseDistribution,
    ) -> None:
        """Raise an error: a study's owner sets parameters."""
        _refuse("changes no trial")

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        """Raise an error: a device reports how a trial ended."""
        _refuse("changes no trial")

    def set_trial_intermediate_value(
        self, trial_id: int, step: int, intermediate_value: float
    ) -> None:
        """Raise an error: a device reports values."""
        _refuse("changes no trial")

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Raise an error: a trial's attributes come with its outcome."""
        _refuse("changes no trial")

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Raise an error: a trial's attributes come with its outcome."""
        _refuse("changes no trial")

    # ---- inside

    def _rows(self) -> list[StudyRow]:
        """Return the rows of all studies, the newest first."""
        rows = _loop.run(whole(self._http, "/api/studies", "studies"))
        return [convert(row, StudyRow) for row in rows]

    def _trials(self, study_id: int) -> list[FrozenTrial]:
        try:
            return self._of(study_id).trials()
        except NotFoundError:  # it was deleted in the meantime
            with self._lock:
                self._live.pop(study_id, None)
            raise self._unknown(study_id) from None

    def _unknown(self, study_id: int) -> KeyError:
        return KeyError(f"there is no study {study_id} at {self._client.url}")

    def _of(self, study_id: int) -> LiveTrials:
        with self._lock:
            live = self._live.get(study_id)
        if live is not None:
            return live
        try:
            told = _loop.run(self._http.get(f"/api/studies/{int(study_id)}"))
        except NotFoundError:
            raise self._unknown(study_id) from None
        with self._lock:
            return self._live.setdefault(study_id, LiveTrials(self._http, convert(told, StudyRow)))

    def _kept(self, row: StudyRow) -> tuple[BaseStorage, int] | None:
        """Return the storage with a study's attributes, and the study's id there; None if it has no
        attributes.
        """
        if self._attributes is None:
            return None
        try:
            return self._attributes, self._attributes.get_study_id_from_name(self._key(row))
        except KeyError:
            return None

    def _keeping(self, row: StudyRow) -> tuple[BaseStorage, int]:
        kept = self._kept(row)
        if kept is not None:
            return kept
        if self._attributes is None:
            raise HyperflockError(
                "the view of a server's studies has no place for a study's attributes; give "
                "Storage(client, attributes=...) an Optuna storage that keeps them",
                code="read_only_storage",
            )
        try:
            made = self._attributes.create_new_study(_directions(row), self._key(row))
        except DuplicatedStudyError:  # another process was faster
            made = self._attributes.get_study_id_from_name(self._key(row))
        return self._attributes, made

    def _key(self, row: StudyRow) -> str:
        return f"{self._client.url} study {row.study}"


def _copied(trial: FrozenTrial) -> FrozenTrial:
    """Return a copy of a trial that a caller may change, except for its distributions.

    A deep copy of all trials would take longer than asking the server for changes.
    """
    made = FrozenTrial.__new__(FrozenTrial)
    own = vars(made)
    for name, value in vars(trial).items():
        if isinstance(value, list):
            own[name] = value.copy()
        elif isinstance(value, dict):
            nested = value and name.endswith("_attrs")
            own[name] = copy.deepcopy(value) if nested else value.copy()
        else:
            own[name] = value
    return made


def _directions(row: StudyRow) -> list[StudyDirection]:
    return [StudyDirection[aim.upper()] for aim in row.aims]


def _refuse(what: str) -> NoReturn:
    raise HyperflockError(
        f"the view of a server's studies {what}: it reads; hyperflock.optuna.optimize with a study "
        "of your own runs trials, and client.study(...).to_optuna() is a copy to change",
        code="read_only_storage",
    )
