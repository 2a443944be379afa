"""A trial of an Optuna study: its values come from the study's own sampler, over the server.

Optuna's own distributions check each suggestion and write it as JSON, so that names, errors and
warnings are Optuna's. The server logs what was suggested: another attempt of the trial gets the
same values again. Imported for such trials only, because it imports Optuna. Belongs to the thread
that runs the objective.
"""

from __future__ import annotations

import copy
import json
import math
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
from hyperflock._trial.metrics import checked_step, finite, real_number
from hyperflock._trial.trial import Saved, Trial

# The protocol's limits on a suggestion.
MAX_NAME_CHARS = 256
MAX_DISTRIBUTION_BYTES = 16 * 1024


class StudyOfTrial:
    """``trial.study``: the study itself is with its owner, and can be told to stop."""

    def __init__(self) -> None:
        self._stops = False

    def stop(self) -> None:
        """Ask for no trials after this one; those that run go on, and so does this one."""
        self._stops = True

    @property
    def is_stopped(self) -> bool:
        """Whether this trial has asked for the end."""
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
        As of `Trial`.
    suggested : Mapping
        What earlier attempts were given: for each name the JSON texts of distribution and value.
    directions : int
        How many objectives the study has.
    attributes : Mapping
        What the trial begins with, as of `Attributes`: an enqueued one may have some.
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
        """What this attempt has asked for until now, by name; a copy."""
        return copy.deepcopy(self._values)

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """The distributions of `params`, by name; a copy."""
        return copy.deepcopy(self._distributions)

    @property
    def study(self) -> StudyOfTrial:
        """The study as far as a trial reaches it: it can be told to stop."""
        return self._study

    @property
    def relative_params(self) -> NoReturn:
        """Not available: ``suggest_*`` gives them one by one."""
        raise StudyElsewhereError(
            "trial.relative_params is not available inside a trial: the sampler is with the "
            "process that owns the study; suggest_* gives what it drew"
        )

    @property
    def storage(self) -> StorageOfTrial:
        """What `optuna.artifacts.upload_artifact` needs, and nothing else."""
        return StorageOfTrial(self._host, self.set_system_attr, _no_storage)

    @property
    def _trial_id(self) -> int:
        # What Optuna's functions name a trial by to its storage.
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
        """Ask the study's sampler for a number in [low, high]; errors as Optuna's."""
        return float(self._suggest(name, FloatDistribution(low, high, log=log, step=step)))

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Ask the study's sampler for a whole number in [low, high]; errors as Optuna's."""
        return int(self._suggest(name, IntDistribution(low, high, log=log, step=step)))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Ask the study's sampler for one of ``choices``; errors as Optuna's."""
        return self._suggest(name, CategoricalDistribution(choices))

    def report(self, value: object, step: int) -> None:
        """Report one point of the learning curve, as to Optuna's trial.

        A step counts once. Curves on the wire are finite: an infinite value is sent as the largest
        number, and NaN is not sent. `should_prune` then asks at a step that has no point.

        Raises
        ------
        NotImplementedError
            The study has several objectives.
        TypeError
            The value or the step is no number.
        ValueError
            The step is negative, or beyond 2^53 - 1.
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
        if math.isnan(number):
            self._last_step = step
        else:
            self._send(finite(number), step)

    def should_prune(self) -> bool:
        """Ask the study's pruner whether the trial should stop here; waits for the answer.

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


# Code that asks what it was given finds Optuna's trial.
optuna.trial.Trial.register(OptunaTrial)


def _text_of(name: str, distribution: BaseDistribution) -> str:
    """Return the distribution as JSON text that the owner's Optuna reads.

    Raises
    ------
    SuggestInvalidError
        It has no such text, or it or the name is longer than the protocol allows.
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
    """Return the value of a JSON text; a choice as the objective wrote it."""
    try:
        value = json.loads(text)
        if not isinstance(distribution, CategoricalDistribution):
            return distribution.to_external_repr(distribution.to_internal_repr(value))
        # By their texts, so that a tuple is found by its list, and True is not 1.
        texts = [json.dumps(choice) for choice in distribution.choices]
        written = json.dumps(value)
        if written in texts:
            return distribution.choices[texts.index(written)]
        return distribution.choices[int(distribution.to_internal_repr(value))]
    except (ValueError, TypeError) as error:
        raise CallError(
            f"the answer to 'suggest' is no value of {distribution}", code="malformed_answer"
        ) from error
