"""The trial object that an objective gets.

    trial = Trial({"rate": 0.1}, number=0, seed=7, data={})
    trial.suggest_float("rate", 0, 1); trial.report(0.5, 1)

``Trial`` is a trial of a grid: its parameters are known from the start.
``optuna_trial.OptunaTrial`` is a trial of an Optuna study. Both have the interface of Optuna's own
trial, and in addition ``data``, ``seed``, ``checkpoint`` and ``resume``. They belong to the thread
that runs the objective.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hyperflock._base.errors import (
    AttributeRefusedError,
    CallError,
    CheckpointError,
    SuggestMismatchError,
)
from hyperflock._trial import (
    artifacts,
    attributes,
    auto_checkpoint,
    checkpoints,
    images,
    random_state,
    series,
)
from hyperflock._trial.attributes import Attributes
from hyperflock._trial.auto_checkpoint import AutoCheckpoint
from hyperflock._trial.host import Host, LocalHost
from hyperflock._trial.metrics import checked_step, finite, reported_metric
from hyperflock._trial.save_pace import SavePace, checked_interval

# Rounding may move a decimal fraction from low + k * step by this fraction of a step.
_STEP_TOLERANCE = 1e-8
# The packages whose `TrialPruned` ends a trial.
_PRUNING = ("hyperflock", "optuna")
# A checkpoint's format, the last step reported before it (-1 if none was), and its content.
Saved = tuple[str, int, bytes]


class TrialPruned(Exception):
    """Raised by an objective to end its trial early. This is an outcome and not an error."""

    __module__ = "hyperflock"


def is_pruned(error: BaseException) -> bool:
    """Return whether an objective raised a ``TrialPruned`` of this package or of Optuna."""
    return any(
        cls.__name__ == "TrialPruned" and str(cls.__module__).split(".")[0] in _PRUNING
        for cls in type(error).__mro__
    )


class Trial:
    """One trial of a study, as the objective sees it.

    Parameters
    ----------
    params : Mapping
        The parameters by name.
    number : int
        The trial's number in its study, from 0.
    seed : int
        The seed of ``random`` and ``numpy.random``.
    data : Mapping
        The study's data by name: arrays, dicts of arrays, or paths of files.
    checkpoint : (str, int, bytes) or None
        The checkpoint from which the attempt continues: its format, the last step reported before
        it (-1 if none was), and its content.
    host : Host or None
        Answers the trial's questions; None means a `LocalHost`.
    """

    __module__ = "hyperflock"

    def __init__(
        self,
        params: Mapping[str, Any],
        *,
        number: int,
        seed: int,
        data: Mapping[str, Any],
        checkpoint: Saved | None = None,
        host: Host | None = None,
    ) -> None:
        self._params: Mapping[str, Any] = MappingProxyType(dict(params))
        self._number = number
        self._seed = seed
        self._data = MappingProxyType(dict(data))
        self._host: Host = LocalHost() if host is None else host
        self._attributes = Attributes()
        self._started = datetime.datetime.now()
        self._last_step: int | None = None
        self._saved = checkpoint
        self._series = series.SeriesBook()
        self._saves = SavePace()
        self._auto = AutoCheckpoint()

    @property
    def number(self) -> int:
        """The trial's number in its study."""
        return self._number

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters by name, read-only."""
        return self._params

    @property
    def data(self) -> Mapping[str, Any]:
        """The study's data by name: an array, a dict of arrays, or the path of a file."""
        return self._data

    @property
    def seed(self) -> int:
        """The seed of ``random`` and ``numpy.random``."""
        return self._seed

    @property
    def datetime_start(self) -> datetime.datetime:
        """When this attempt began, by the device's clock."""
        return self._started

    @property
    def user_attrs(self) -> dict[str, Any]:
        """A copy of the user attributes by name."""
        return self._attributes.of("user")

    @property
    def system_attrs(self) -> dict[str, Any]:
        """A copy of the system attributes by name."""
        return self._attributes.of("system")

    @property
    def constraints(self) -> dict[str, float]:
        """A copy of the constraints by name."""
        return self._attributes.constraints

    def attributes_text(self, more: Mapping[str, Any]) -> str:
        """Return the attributes and ``more`` as JSON; an empty text if there are none."""
        return self._attributes.text(more)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(number={self._number}, params={dict(self._params)})"

    def report(self, value: object, step: int) -> None:
        """Report one point of the learning curve.

        Curves in messages are finite: an infinite value is sent as the largest number, and NaN is
        not sent.

        Parameters
        ----------
        value : object
            The metric at this step: one real number, in any type that `metric` accepts.
        step : int
            A whole number of 0 to 2^53 - 1.

        Raises
        ------
        ValueError
            The step is not such a number.
        MetricError
            ``metric_not_number``. The attempt ends as ``invalid`` unless the objective catches this
            error.
        """
        step = checked_step(step)
        self._auto.has_output = True
        self._report(reported_metric(value, f"the value reported at step {step}"), step)

    def _report(self, number: float, step: int) -> None:
        """Send a point. NaN is not sent, and only sets the step at which `should_prune` asks."""
        if math.isnan(number):
            self._last_step = step
        else:
            self._send(finite(number), step)

    def _send(self, number: float, step: int) -> None:
        self._last_step = step
        self._host.report(step, number)

    def log(
        self,
        values: Mapping[str, Any],
        step: int | None = None,
        epoch: float | None = None,
    ) -> None:
        """Log one row: named numbers, or images, at a step. Each name is a series of the trial.

        `report` is for the metric that a pruner sees; `log` is for everything that you want to look
        at later. Rows may have different names.

        Parameters
        ----------
        values : Mapping
            Numbers by name, in any type that `metric` accepts; NaN and infinity are kept. Or
            images: `hyperflock.Image`.
        step : int or None
            A whole number of 0 to 2^53 - 1, not below that of the row before. None means one more
            than that of the row before, or 0.
        epoch : float or None
            The epoch of the row. It is the series ``epoch``.

        Raises
        ------
        SeriesError
            ``series_name``: a name is not a string of 1 to 128 characters that can be shown.
            ``series_value``: a value is not a number. ``series_step``: the step is not such a
            number, goes back, or has this series already. ``series_kind``: a series changes between
            numbers and images. ``series_count``: more than 256 series. ``series_size``: more than
            1,000,000 values or 64 images. The attempt ends as ``invalid`` unless the objective
            catches this error.
        ArtifactError, ArtifactLostError
            An image cannot be stored; see `upload_artifact`.
        """
        self._auto.has_output = True
        row = self._series.row(values, step, epoch)
        if row.numbers:
            self._host.log(row.step, row.numbers)
        for name, image in row.images.items():
            artifacts.upload_image(
                self._host, self.set_system_attr, images.file_name(name, row.step), image.png
            )

    def should_prune(self) -> bool:
        """Return whether the trial should stop here; wait for the answer. A grid has no pruner.

        Before the first report the answer is False.
        """
        if self._last_step is None:
            self._host.progress()
            return False
        return self._host.should_prune(self._last_step)

    def set_user_attr(self, key: str, value: Any) -> None:
        """Set an attribute, which is sent with the trial's result as JSON.

        Raises
        ------
        AttributeRefusedError
            ``attribute_not_json``, ``attributes_too_large``.
        """
        self._attributes.set("user", key, value)

    def set_system_attr(self, key: str, value: Any) -> None:
        """Set an attribute of a library, as in Optuna 4; errors are those of `set_user_attr`."""
        self._attributes.set("system", key, value)

    def set_constraint(self, key: str, value: float) -> None:
        """Set by how much a constraint is violated; 0 or less means that it is met.

        Raises
        ------
        TypeError, ValueError
            The value is not a number, or is NaN.
        """
        self._attributes.set_constraint(key, value)

    def checkpoint(self, state: Any) -> bool:
        """Save the trial's state, so that another device can continue it if this one is lost.

        The next attempt of the trial, on any device, begins with the newest checkpoint. The
        checkpoint also contains the states of the generators of ``random``, NumPy and array-core
        and the attributes. Artifacts that were uploaded before it are kept. The call waits until
        the server has the checkpoint, but at most ten seconds, and not at all without a connection:
        the device then keeps the checkpoint, and uploads the newest one while the trial goes on.
        One save every half minute is enough. The server takes about ten saves in a row, and then
        one every two seconds. A local run always starts from the beginning, so it only checks the
        state.

        Parameters
        ----------
        state
            A tree of dicts with string keys, lists, tuples, None, bools, ints, floats, strings,
            bytes and arrays; or an object of Chainer: a link, an optimizer or a trainer.

        Returns
        -------
        bool
            True if the server stored it. False if the server does not have it now, for instance
            without a connection. The trial continues in both cases.

        Raises
        ------
        CheckpointError
            ``checkpoint_not_a_tree``: a value is of another kind. ``checkpoint_too_large``: more
            than 64 MiB, or than the server allows. ``checkpoint_malformed``: the server cannot read
            it.
        """
        self._auto.is_manual = True
        return self._save(state, {})

    def _save(self, state: Any, more: Mapping[str, str]) -> bool:
        """Save a state, with more texts in the checkpoint's zip; see `checkpoint`."""
        self._saves.begin()
        try:
            return self._save_now(state, more)
        finally:
            self._saves.end(is_leaving=self._host.is_leaving())

    def _save_now(self, state: Any, more: Mapping[str, str]) -> bool:
        logged, kept = self._series.saved(self._saved[2] if self._saved else None)
        beside = {
            **more,
            random_state.MEMBER: random_state.snapshot(),
            attributes.MEMBER: self._attributes.text({}) or "{}",
            series.MEMBER: json.dumps(kept),
        }
        kind, content = checkpoints.encode(state, beside)
        step = self._last_step
        if step is None and self._saved is not None and self._saved[1] >= 0:
            step = self._saved[1]
        try:
            return self._host.save_checkpoint(kind, step, content, logged)
        except CallError as error:
            if error.code.startswith("checkpoint_"):
                raise CheckpointError(error.message, code=error.code) from None
            return False

    def checkpoint_due(self, interval_s: float = 30.0) -> bool:
        """Return whether it is time to save: call it in each step, and save if it returns True.

            if trial.checkpoint_due():
                trial.checkpoint({"step": step, "weights": weights})

        It is time when the last save began ``interval_s`` ago, or longer if saves are slow: twenty
        times the duration of the last one, so that saving takes at most a twentieth of the trial's
        time. It is also time, once, when the volunteer puts the page away or pauses. The device has
        about two seconds then.

        Parameters
        ----------
        interval_s : float
            The shortest time between two saves in seconds. With ``math.inf`` it is time only when
            the volunteer leaves.
        """
        self._auto.is_manual = True
        return self._is_due(interval_s)

    def _is_due(self, interval_s: float) -> bool:
        self._host.progress()
        return self._saves.is_due(interval_s, self._host.is_leaving())

    def auto_checkpoint(self, enabled: bool = True, *, interval_s: float = 30.0) -> None:
        """Set whether a Chainer trainer in this trial saves and resumes by itself.

        It does by default, if the objective neither saves nor resumes itself. Call it before
        ``trainer.run()``.

        Parameters
        ----------
        enabled : bool
            False turns it off.
        interval_s : float
            The shortest time between two saves in seconds. If saves are slow, it is twenty times
            the duration of the last one.

        Raises
        ------
        ValueError
            ``interval_s`` is negative or no number.
        """
        self._auto.interval_s = checked_interval(interval_s) if enabled else None

    @property
    def auto(self) -> AutoCheckpoint:
        """Whether the trial's trainer saves itself; for `hyperflock._trial.auto_checkpoint`."""
        return self._auto

    def auto_content(self) -> bytes | None:
        """Return the checkpoint at the start if a trainer has saved it by itself."""
        if self._saved is None or self._saved[0] != "npz":
            return None
        return self._saved[2] if auto_checkpoint.is_auto(self._saved[2]) else None

    def auto_resume(self) -> dict[str, Any] | None:
        """Return that checkpoint's arrays; see `resume`."""
        state: dict[str, Any] | None = self._resumed()
        return state

    def auto_save(self, trainer: Any, interval_s: float) -> None:
        """Save the trainer if it is time to; errors are those of `checkpoint`."""
        if self._is_due(interval_s):
            self._save(trainer, {auto_checkpoint.MEMBER: "{}"})

    def upload_artifact(
        self,
        file_path: str | os.PathLike[str],
        *,
        mimetype: str | None = None,
        encoding: str | None = None,
    ) -> str:
        """Upload a file for the researcher to the server: weights, a picture, a table.

        If another device continues from a checkpoint, the files that were uploaded before that
        checkpoint are kept. Later ones are removed, because they will be uploaded again. In an
        Optuna study `optuna.artifacts.upload_artifact` does the same. A local run only checks the
        file.

        Parameters
        ----------
        file_path
            The file. Its name without the folder is sent with it.
        mimetype, encoding
            The file's type; None means that its name determines them.

        Returns
        -------
        str
            The artifact's id.

        Raises
        ------
        OSError
            The file cannot be read.
        ArtifactError
            ``artifact_too_large``: more than 64 MiB. ``artifact_invalid``: a bad name or type.
            ``artifact_count``: too many files, or too many bytes, in one attempt.
            ``quota_exceeded``, ``artifact_no_room``, ``no_room``: the server has no room for it.
            ``device_share``: this device has uploaded as much as one device may.
        ArtifactLostError
            ``artifact_not_stored``: there was no connection for minutes.
        """
        self._auto.has_output = True
        return artifacts.upload(self._host, self.set_system_attr, file_path, mimetype, encoding)

    def resume(self, target: Any = None) -> Any:
        """Return the newest checkpoint of the trial, or load it into an object of Chainer.

        The random generators continue from the checkpoint's states, and the checkpoint's attributes
        are set again. An attribute that this attempt has set does not change.

        Parameters
        ----------
        target
            None, or a link, optimizer or trainer of the kind that was saved.

        Returns
        -------
        tree, None or bool
            Without a target: the saved tree, or None if there is no checkpoint. A saved object of
            Chainer is returned as a dict of arrays. With a target: whether a checkpoint was loaded.

        Raises
        ------
        TypeError
            The target is not an object of Chainer. This is raised without a checkpoint too, so that
            the first attempt shows the mistake.
        """
        self._auto.is_manual = True
        # A trainer of other code saved it by itself. This objective has its own way to resume.
        if self.auto_content() is not None:
            self._saved = None
        if target is None:
            return self._resumed()
        if not callable(getattr(target, "serialize", None)):
            raise TypeError(
                "resume takes an object of Chainer's, such as a link or an optimizer, "
                f"not a {type(target).__name__}; resume() alone gives the tree that was saved"
            )
        state = self._resumed()
        if state is None or self._saved is None or self._saved[0] != "npz":
            return False
        checkpoints.restore(target, state)
        return True

    def _resumed(self) -> Any:
        if self._saved is None:
            return None
        kind, _, content = self._saved
        try:
            state = checkpoints.decode(kind, content)
            found = self._attributes.going_on_from(content)
            random_state.restore(content)
            self._series.go_on_after(content)
        except (CheckpointError, AttributeRefusedError) as error:
            # Another device saved the checkpoint. It must not be able to make this attempt fail.
            print(f"[{error.code}] {error.message}; the trial begins anew", file=sys.stderr)
            return None
        self._attributes = found
        return state

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Return the value of parameter ``name``, which must be a number in [low, high].

        Raises
        ------
        SuggestMismatchError
            There is no such parameter, or its value is not such a number.
        """
        value = self._suggested(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is no float")
        self._check_range(name, value, low, high, step)
        if log and low <= 0:
            raise SuggestMismatchError(f"'{name}' asks for a logarithmic range from {low}")
        return float(value)

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Return the value of ``name``, a whole number; errors are those of `suggest_float`."""
        value = self._suggested(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is no whole number")
        self._check_range(name, value, low, high, None if log else step)
        return int(value)

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Return the value of ``name``, one of ``choices``; errors are those of `suggest_float`."""
        value = self._suggested(name)
        for choice in choices:
            # True is not 1 here: a parameter of value 1 was not chosen from [True, False].
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return choice
        raise SuggestMismatchError(f"'{name}' is {value!r}, which is none of {list(choices)!r}")

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        """Return ``suggest_float(name, low, high)``. This is Optuna's old name."""
        _warn_of("suggest_uniform", "suggest_float(...)")
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        """Return ``suggest_float(name, low, high, log=True)``. This is Optuna's old name."""
        _warn_of("suggest_loguniform", "suggest_float(..., log=True)")
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(self, name: str, low: float, high: float, q: float) -> float:
        """Return ``suggest_float(name, low, high, step=q)``. This is Optuna's old name."""
        _warn_of("suggest_discrete_uniform", "suggest_float(..., step=...)")
        return self.suggest_float(name, low, high, step=q)

    def _suggested(self, name: str) -> Any:
        self._host.progress()
        if name not in self._params:
            known = ", ".join(sorted(self._params)) or "none"
            raise SuggestMismatchError(f"'{name}' is not in the study's space (names: {known})")
        return self._params[name]

    def _check_range(
        self, name: str, value: float, low: float, high: float, step: float | None
    ) -> None:
        if not low <= value <= high:
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is outside [{low}, {high}]")
        if step is not None:
            steps = (value - low) / step
            if not math.isclose(steps, round(steps), abs_tol=_STEP_TOLERANCE):
                raise SuggestMismatchError(
                    f"'{name}' is {value!r}, which is no multiple of {step} above {low}"
                )


def _warn_of(old: str, new: str) -> None:
    # Optuna 4 and 5 give the same warning.
    warnings.warn(
        f"{old} is deprecated and ends with Optuna 6: use {new}", FutureWarning, stacklevel=3
    )
