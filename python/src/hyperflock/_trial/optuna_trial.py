"""A trial of an Optuna study: its values come from the study's own sampler, over the server.

Optuna's own distributions check what is asked for and say it as JSON, so that names, errors and
warnings are Optuna's. What was suggested is logged by the server: another attempt of the trial gets
the very values again. Imported for such trials only, since Optuna is. Lives on the thread that runs
the objective.
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

from hyperflock_worker import bridge
from hyperflock_worker.artifacts import StorageOfTrial
from hyperflock_worker.attributes import Attributes
from hyperflock_worker.metrics import finite, real_number
from hyperflock_worker.trial import SuggestMismatchError, Trial

# The protocol's limits on a suggestion.
MAX_NAME_CHARS = 256
MAX_DISTRIBUTION_BYTES = 16 * 1024


class SuggestInvalidError(ValueError):
    """A ``suggest_*`` cannot be asked over a wire: its name, or its distribution."""

    code = "suggest_invalid"


class StudyElsewhereError(AttributeError):
    """The trial was asked for something that only the study's owner has."""

    code = "study_elsewhere"


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


class AskedTrial(Trial):
    """One trial of an Optuna study, as the objective sees it.

    Parameters
    ----------
    number, data, seed, checkpoint
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
        number: int,
        data: Mapping[str, Any],
        seed: int,
        checkpoint: tuple[str, int, bytes] | None = None,
        *,
        suggested: Mapping[str, tuple[str, str]] | None = None,
        directions: int = 1,
        attributes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(number, {}, data, seed, checkpoint)
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
        return copy.deepcopy(self._distributions)

    @property
    def study(self) -> StudyOfTrial:
        return self._study

    @property
    def relative_params(self) -> NoReturn:
        """Not here: ``suggest_*`` gives them one by one."""
        raise StudyElsewhereError(
            "trial.relative_params is not available inside a trial: the sampler is with the "
            "process that owns the study; suggest_* gives what it drew"
        )

    @property
    def storage(self) -> StorageOfTrial:
        """For `optuna.artifacts.upload_artifact` alone."""
        return StorageOfTrial(self, _no_storage)

    @property
    def _trial_id(self) -> int:
        # What Optuna's functions name a trial by to its storage.
        return self._number

    def __repr__(self) -> str:
        return f"AskedTrial(number={self._number}, params={self._values})"

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

        A step counts once. Curves on the wire are finite: for an infinite value the largest number
        stands, and a NaN is told by the question of `should_prune`, whose step then has no point.

        Raises
        ------
        NotImplementedError
            The study has several objectives.
        TypeError
            The value is no number, or the step none.
        ValueError
            The step is negative.
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
        except (TypeError, ValueError):
            raise TypeError(f"step is a {type(step).__name__}, not a whole number") from None
        if step < 0:
            raise ValueError(f"step must be 0 or more, but is {step}")
        bridge.progress()
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
        bridge.progress()
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
            answer = bridge.call("suggest", {"name": name, "distribution": distribution})
        except bridge.CallError as error:
            if error.code == SuggestMismatchError.code:
                raise SuggestMismatchError(str(error)) from None
            raise
        bridge.progress()
        return str(answer)


def _no_storage(name: str) -> NoReturn:
    raise StudyElsewhereError(
        f"trial.storage.{name} is not available inside a trial: the storage is with the process "
        "that owns the study; here it takes what optuna.artifacts.upload_artifact says"
    )


# Code that asks what it was given finds Optuna's trial.
optuna.trial.Trial.register(AskedTrial)


def _text_of(name: str, distribution: BaseDistribution) -> str:
    """The distribution as JSON text that the owner's Optuna reads.

    Raises
    ------
    SuggestInvalidError
        It has none, or it or the name is longer than the protocol takes.
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
    """The value that a JSON text names, as the objective wrote it where it is a choice."""
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
        raise bridge.CallError(
            "malformed_answer", f"the answer to 'suggest' is no value of {distribution}"
        ) from error
