"""A trial of an Optuna study. The study's own sampler suggests its values over the server.

Optuna's own distributions check each suggestion and write it as JSON, so names, errors and warnings
are those of Optuna. The server logs the suggestions, and another attempt of the trial gets the same
values. This module imports Optuna, so it is imported only for such trials. It belongs to the thread
that runs the objective.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import optuna.trial
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    check_distribution_compatibility,
    distribution_to_json,
)

from hyperflock._base.errors import (
    CallError,
    StudyElsewhereError,
    SuggestInvalidError,
    SuggestMismatchError,
)
from hyperflock._trial.artifacts import StorageOfTrial
from hyperflock._trial.attributes import Attributes
from hyperflock._trial.host import Host
from hyperflock._trial.metrics import checked_step, real_number
from hyperflock._trial.trial import Saved, Trial

# The protocol's limits for a suggestion.
MAX_NAME_CHARS = 256
MAX_DISTRIBUTION_BYTES = 16 * 1024


class StudyOfTrial:
    """The object ``trial.study``. The study itself is in its owner's process; `stop` reaches it."""

    def __init__(self) -> None:
        self._stops = False

    def stop(self) -> None:
        """Let the study start no more trials. This trial and others that run continue."""
        self._stops = True

    @property
    def is_stopped(self) -> bool:
        """Whether this trial has called `stop`."""
        return self._stops

    def __getattr__(self, name: str) -> NoReturn:
        raise StudyElsewhereError(
            f"trial.study.{name} is not available inside a trial: the study is with the process "
            "that owns it; here it has stop() alone"
        )


class OptunaTrial(Trial):
    """One trial of an Optuna study, as the objective sees it.

    Parameters
    ----------
    number, seed, data, checkpoint, host
        See `Trial`.
    suggested : Mapping
        The suggestions of earlier attempts: for each name the JSON texts of distribution and value.
    directions : int
        How many objectives the study has.
    attributes : Mapping
        The attributes at the start, as for `Attributes`; an enqueued trial may have some.
    """

    def __init__(
        self,
        *,
        number: int,
        seed: int,
        data: Mapping[str, Any],
        checkpoint: Saved | None = None,
        host: Host | None = None,
        suggested: Mapping[str, tuple[str, str]] | None = None,
        directions: int = 1,
        attributes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__({}, number=number, seed=seed, data=data, checkpoint=checkpoint, host=host)
        self._attributes = Attributes(attributes or {})
        self._log = dict(suggested or {})
        self._directions = directions
        self._values: dict[str, Any] = {}
        self._distributions: dict[str, BaseDistribution] = {}
        self._reported: set[int] = set()
        self._study = StudyOfTrial()

    @property
    def params(self) -> dict[str, Any]:
        """A copy of the values that this attempt has asked for so far, by name."""
        return copy.deepcopy(self._values)

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """A copy of the distributions of `params`, by name."""
        return copy.deepcopy(self._distributions)

    @property
    def study(self) -> StudyOfTrial:
        """The part of the study that a trial can use: only `stop`."""
        return self._study

    @property
    def relative_params(self) -> NoReturn:
        """Not available: ``suggest_*`` returns these values one by one."""
        raise StudyElsewhereError(
            "trial.relative_params is not available inside a trial: the sampler is with the "
            "process that owns the study; suggest_* gives what it drew"
        )

    @property
    def storage(self) -> StorageOfTrial:
        """A storage that only `optuna.artifacts.upload_artifact` can use."""
        return StorageOfTrial(self._host, self.set_system_attr, _no_storage)

    @property
    def _trial_id(self) -> int:
        # Optuna's functions pass this number to the storage.
        return self._number

    def __repr__(self) -> str:
        return f"OptunaTrial(number={self._number}, params={self._values})"

    def attributes_text(self, more: Mapping[str, Any]) -> str:
        return super().attributes_text(
            {**more, **({"stop": True} if self._study.is_stopped else {})}
        )

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Ask the study's sampler for a number in [low, high]; errors are those of Optuna."""
        return float(self._suggest(name, FloatDistribution(low, high, log=log, step=step)))

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Ask the study's sampler for a whole number in [low, high]; errors are those of Optuna."""
        return int(self._suggest(name, IntDistribution(low, high, log=log, step=step)))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Ask the study's sampler for one of ``choices``; errors are those of Optuna."""
        return self._suggest(name, CategoricalDistribution(choices))

    def report(self, value: object, step: int) -> None:
        """Report one point of the learning curve, as with Optuna's trial.

        Only the first report of a step counts. Curves in messages are finite: an infinite value is
        sent as the largest number, and NaN is not sent, so `should_prune` may ask at a step without
        a point.

        Raises
        ------
        NotImplementedError
            The study has several objectives.
        TypeError
            The value or the step is not a number.
        ValueError
            The step is negative or above 2^53 - 1.
        """
        self._check_single("report")
        try:
            number = real_number(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"the value reported is a {type(value).__name__}, not a number"
            ) from None
        try:
            step = int(step)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"step is a {type(step).__name__}, not a whole number") from None
        step = checked_step(step)
        if step in self._reported:
            warnings.warn(f"step {step} was reported before; its first value stays", stacklevel=2)
            return
        self._reported.add(step)
        self._report(number, step)

    def should_prune(self) -> bool:
        """Return whether the study's pruner wants the trial to stop here; wait for the answer.

        Raises
        ------
        NotImplementedError
            The study has several objectives.
        """
        self._check_single("should_prune")
        return super().should_prune()

    def _check_single(self, method: str) -> None:
        if self._directions > 1:
            raise NotImplementedError(
                f"Trial.{method} is not supported for multi-objective optimization."
            )

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        self._host.progress()
        known = self._distributions.get(name)
        if known is not None:
            check_distribution_compatibility(known, distribution)
            if known != distribution:
                warnings.warn(
                    f"'{name}' was asked for with another distribution before; "
                    f"its first value stays, of {known}",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return self._values[name]
        text = _text_of(name, distribution)
        logged = self._log.get(name)
        if logged is None:
            value = self._ask(name, text)
        elif logged[0] == text:
            value = logged[1]
        else:
            raise SuggestMismatchError(
                f"'{name}' was suggested to an earlier attempt of this trial from {logged[0]}, "
                f"but is asked for from {text}"
            )
        self._values[name] = _value_of(distribution, value)
        self._distributions[name] = distribution
        return self._values[name]

    def _ask(self, name: str, distribution: str) -> str:
        try:
            return self._host.suggest(name, distribution)
        except CallError as error:
            if error.code == SuggestMismatchError.default_code:
                raise SuggestMismatchError(error.message) from None
            raise


def _no_storage(name: str) -> NoReturn:
    raise StudyElsewhereError(
        f"trial.storage.{name} is not available inside a trial: the storage is with the process "
        "that owns the study; here it takes what optuna.artifacts.upload_artifact says"
    )


# isinstance(trial, optuna.trial.Trial) is true for this class.
optuna.trial.Trial.register(OptunaTrial)


def _text_of(name: str, distribution: BaseDistribution) -> str:
    """Return the distribution as JSON text that the owner's Optuna reads.

    Raises
    ------
    SuggestInvalidError
        The distribution cannot be written as JSON, or it or the name is longer than the protocol
        allows.
    """
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME_CHARS:
        raise SuggestInvalidError(
            f"a parameter's name is a string of 1 to {MAX_NAME_CHARS} characters, not {name!r:.300}"
        )
    try:
        text = distribution_to_json(distribution)
    except (TypeError, ValueError):
        raise SuggestInvalidError(
            f"the choices of '{name}' have no JSON form: give None, bools, numbers and strings, "
            "and look up what they stand for"
        ) from None
    if len(text.encode()) > MAX_DISTRIBUTION_BYTES:
        raise SuggestInvalidError(
            f"the distribution of '{name}' takes more than {MAX_DISTRIBUTION_BYTES} bytes as JSON"
        )
    return text


def _value_of(distribution: BaseDistribution, text: str) -> Any:
    """Return the value in a JSON text; a choice is returned as the objective wrote it."""
    try:
        value = json.loads(text)
        if not isinstance(distribution, CategoricalDistribution):
            return distribution.to_external_repr(distribution.to_internal_repr(value))
        # Choices are compared as JSON texts, so that a tuple equals its list, and True does not
        # equal 1.
        texts = [json.dumps(choice) for choice in distribution.choices]
        written = json.dumps(value)
        if written in texts:
            return distribution.choices[texts.index(written)]
        return distribution.choices[int(distribution.to_internal_repr(value))]
    except (ValueError, TypeError) as error:
        raise CallError(
            f"the answer to 'suggest' is no value of {distribution}", code="malformed_answer"
        ) from error
