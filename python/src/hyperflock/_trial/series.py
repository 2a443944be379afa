"""Checks what ``trial.log`` is given: rows of named numbers and images.

    book = SeriesBook()
    row = book.row({"loss": 0.5, "acc": array}, step=None, epoch=1)
    row.step, row.numbers, row.images

Every check comes before anything is sent, so either the whole call is logged or nothing. Only the
thread that runs the objective uses this module.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperflock._base.errors import CheckpointError, SeriesError
from hyperflock._trial import checkpoints
from hyperflock._trial.images import Image
from hyperflock._trial.metrics import MAX_STEP, as_float, unwrapped

# The protocol's limits for an attempt.
MAX_NAME_CHARS = 128
MAX_SERIES = 256
MAX_VALUES = 1_000_000
# The most images of an attempt. They are artifacts, of which an attempt may have 256 in all.
MAX_IMAGES = 64
EPOCH = "epoch"
# The file's name in a checkpoint's zip.
MEMBER = "hyperflock_series.json"
_MEMBER_BYTES = 4096


@dataclass(frozen=True)
class Row:
    """A checked row: numbers and images by name at a step."""

    step: int
    numbers: dict[str, float] = field(default_factory=dict)
    images: dict[str, Image] = field(default_factory=dict)


class SeriesBook:
    """What an attempt has logged so far: names, their kinds and steps, and a step counter."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._images: set[str] = set()
        self._values = 0
        self._image_count = 0
        self._step: int | None = None
        self._goes_on_after = -1

    @property
    def last_step(self) -> int | None:
        """The last step that this attempt has logged; None if there is none."""
        return self._step

    def row(self, values: object, step: object, epoch: object) -> Row:
        """Check the arguments of ``trial.log`` and return the row, which then counts as logged.

        Raises
        ------
        SeriesError
            See `Trial.log`.
        """
        if not isinstance(values, Mapping):
            raise SeriesError(
                f"log takes a dict of names and values, not a {type(values).__name__}",
                code="series_value",
            )
        at = self._checked_step(step)
        row = Row(at)
        for name, value in values.items():
            self._check_name(name, at)
            if isinstance(value, Image):
                row.images[name] = value
            else:
                row.numbers[name] = _number(name, value)
        if epoch is not None:
            if EPOCH in values:
                raise SeriesError(
                    "the epoch is given twice, as a series and as epoch=", code="series_name"
                )
            self._check_name(EPOCH, at)
            row.numbers[EPOCH] = _number(EPOCH, epoch)
        self._check_kinds(row)
        self._check_limits(row)
        self._step = at
        self._values += len(row.numbers)
        self._image_count += len(row.images)
        self._images.update(row.images)
        self._last.update(dict.fromkeys((*row.numbers, *row.images), at))
        return row

    def saved(self, before: bytes | None) -> tuple[int | None, dict[str, int]]:
        """Return the last logged step, and a dict with this step for the checkpoint's zip.

        If this attempt has logged nothing, the step is the one in ``before``, the checkpoint with
        which the attempt began.
        """
        step = self._step
        if step is None and before is not None:
            step = _step_in(before)
        return step, {} if step is None else {"step": step}

    def go_on_after(self, content: bytes) -> None:
        """Let the step counter continue after the last step that was logged before a checkpoint.

        Raises
        ------
        CheckpointError
            ``checkpoint_malformed``.
        """
        self._goes_on_after = -1 if (step := _step_in(content)) is None else step

    def _checked_step(self, step: object) -> int:
        last = self._goes_on_after if self._step is None else self._step
        if step is None:
            step = last + 1
        if (
            isinstance(step, bool | np.bool_)
            or not isinstance(step, numbers.Integral)
            or not 0 <= int(step) <= MAX_STEP
        ):
            raise SeriesError(
                f"the step of log is a whole number of 0 to 2^53 - 1, not {step!r:.100}",
                code="series_step",
            )
        if self._step is not None and int(step) < self._step:
            raise SeriesError(
                f"step {int(step)} comes after step {self._step}, but the steps of log must not "
                "go back",
                code="series_step",
            )
        return int(step)

    def _check_name(self, name: object, step: int) -> None:
        if not isinstance(name, str) or not _is_name(name):
            raise SeriesError(
                f"the name of a series is a string of 1 to {MAX_NAME_CHARS} characters that can "
                f"be shown, not {name!r:.200}",
                code="series_name",
            )
        if self._last.get(name) == step:
            raise SeriesError(f"'{name}' has a value at step {step} already", code="series_step")

    def _check_kinds(self, row: Row) -> None:
        for name in row.numbers:
            if name in self._images:
                raise SeriesError(
                    f"'{name}' was logged as images before, and now as a number",
                    code="series_kind",
                )
        for name in row.images:
            if name in self._last and name not in self._images:
                raise SeriesError(
                    f"'{name}' was logged as numbers before, and now as an image",
                    code="series_kind",
                )

    def _check_limits(self, row: Row) -> None:
        names = len({*self._last, *row.numbers, *row.images})
        if names > MAX_SERIES:
            raise SeriesError(
                f"a trial has at most {MAX_SERIES} series, but this would be the {names}th",
                code="series_count",
            )
        if self._values + len(row.numbers) > MAX_VALUES:
            raise SeriesError(
                f"a trial logs at most {MAX_VALUES:,} values: log less often",
                code="series_size",
            )
        if self._image_count + len(row.images) > MAX_IMAGES:
            raise SeriesError(
                f"a trial logs at most {MAX_IMAGES} images: log them less often",
                code="series_size",
            )


def _number(name: str, value: object) -> float:
    """Return a value as a float, which may be NaN or infinite."""
    inner = unwrapped(value)
    real = isinstance(inner, numbers.Real | np.bool_)
    # array-core's arrays and scalars, and those of other libraries, have `__float__` and so count
    # as numbers. A string has none.
    other = not isinstance(inner, numbers.Complex) and hasattr(type(inner), "__float__")
    try:
        if real or (other and getattr(inner, "size", 1) == 1):
            return as_float(inner)
    except (TypeError, ValueError):
        pass
    raise SeriesError(
        f"'{name}' must be a number or a hyperflock.Image, but is of type {type(value).__name__}",
        code="series_value",
    )


def _is_name(name: str) -> bool:
    # Lone surrogates are not printable, so each name can be encoded as UTF-8.
    return 1 <= len(name) <= MAX_NAME_CHARS and name.isprintable()


def _step_in(content: bytes) -> int | None:
    told: Any = checkpoints.read_member(content, MEMBER, _MEMBER_BYTES)
    if told is None or told == {}:  # nothing was logged before it
        return None
    step = told.get("step") if isinstance(told, dict) else None
    if type(step) is not int or not 0 <= step <= MAX_STEP:
        raise CheckpointError(
            "the checkpoint's last logged step is invalid", code="checkpoint_malformed"
        )
    return step


def text_of(number: float) -> float | str:
    """Return a number in the form that messages contain: a finite number unchanged, any other as
    the text ``NaN``, ``Infinity`` or ``-Infinity``.
    """
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
