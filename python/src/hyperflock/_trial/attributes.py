"""Keeps the attributes and constraints of a trial, as Optuna defines them.

    attributes = Attributes()
    attributes.set("user", "epochs", 12)
    attributes.text({"stop": True})      # '{"user": {"epochs": 12}, "stop": true}'

Attributes are sent with the result as JSON text, which only the researcher's side reads. A
checkpoint contains them too, so that the next attempt has them. Only the thread that runs the
objective uses this module.
"""

from __future__ import annotations

import copy
import json
import math
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from hyperflock._base.errors import AttributeRefusedError, CheckpointError
from hyperflock._trial import checkpoints

Kind = Literal["user", "system"]

# The protocol allows 64 KiB. This limit is lower, because the runner adds fields of its own.
MAX_BYTES = 56 * 1024
# The file's name in a checkpoint's zip.
MEMBER = "hyperflock_attributes.json"
CONSTRAINT_PREFIX = "constraints:"
_CONSTRAINTS_LIST = "constraints"


class Attributes:
    """The attributes of one trial; the last value of a key counts.

    Parameters
    ----------
    begins_with : Mapping
        The attributes that the study's owner gave the trial: ``{"user": {...}, "system": {...}}``.
        Either may be missing.
    """

    def __init__(self, begins_with: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> None:
        self._values: dict[Kind, dict[str, Any]] = {"user": {}, "system": {}}
        self._bytes: dict[tuple[Kind, str], int] = {}
        self._own: set[tuple[Kind, str]] = set()
        for kind, values in self._values.items():
            for key, value in begins_with.get(kind, {}).items():
                values[key] = value
                self._bytes[kind, key] = len(json.dumps({key: value}))

    def of(self, kind: Kind) -> dict[str, Any]:
        """Return a copy of the attributes of a kind ("user" or "system"), as Optuna returns
        them.
        """
        return copy.deepcopy(self._values[kind])

    def set(self, kind: Kind, key: str, value: Any) -> None:
        """Set a value that JSON can represent, or a NumPy scalar or array of such values.

        Raises
        ------
        AttributeRefusedError
            ``attribute_not_json``; ``attributes_too_large``: the trial's attributes have more than
            56 KiB together.
        """
        if not isinstance(key, str):
            raise AttributeRefusedError(f"an attribute's key is a string, not {key!r:.100}")
        try:
            told = json.loads(json.dumps(value, default=plain))
            kept = copy.deepcopy(value)  # which nests less deeply than JSON may
        except (TypeError, ValueError, RecursionError) as error:
            raise AttributeRefusedError(
                f"the attribute '{key:.100}' has no JSON form: {error}"
            ) from None
        size = len(json.dumps({key: told}))
        others = sum(self._bytes.values()) - self._bytes.get((kind, key), 0)
        if others + size > MAX_BYTES:
            raise AttributeRefusedError(
                f"with '{key:.100}' the trial's attributes take {others + size} bytes, "
                f"but may take {MAX_BYTES} at most",
                code="attributes_too_large",
            )
        self._bytes[kind, key] = size
        self._values[kind][key] = kept
        self._own.add((kind, key))

    def going_on_from(self, content: bytes) -> Attributes:
        """Return these attributes and those of a checkpoint.

        A value that `set` has set in this attempt takes precedence over the checkpoint's.

        Raises
        ------
        CheckpointError
            ``checkpoint_malformed``: the checkpoint's attributes are invalid.
        AttributeRefusedError
            ``attributes_too_large``: both together are too large.
        """
        merged = copy.deepcopy(self)
        told = _told_by(content)
        for kind in self._values:
            for key, value in told.get(kind, {}).items():
                if (kind, key) not in self._own:
                    merged.set(kind, key, value)
        merged._own = set(self._own)
        return merged

    @property
    def constraints(self) -> dict[str, float]:
        """Return the constraints' values by name, as Optuna 5 does."""
        system = self._values["system"]
        found = dict(enumerate(system.get(_CONSTRAINTS_LIST) or ()))
        named = {
            key.removeprefix(CONSTRAINT_PREFIX): value
            for key, value in system.items()
            if key.startswith(CONSTRAINT_PREFIX)
        }
        return {**{str(number): value for number, value in found.items()}, **named}

    def set_constraint(self, key: str, value: Any) -> None:
        """Set a constraint's value in Optuna 5's storage form. The first value of a key counts.

        Raises
        ------
        TypeError
            The value is not a number.
        ValueError
            The value is NaN.
        """
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"the constraint '{key}' is a number, not a {type(value).__name__}"
            ) from None
        if math.isnan(number):
            raise ValueError(f"the constraint '{key}' is NaN, which says nothing")
        stored = f"{CONSTRAINT_PREFIX}{key}"
        if stored in self._values["system"]:
            warnings.warn(
                f"the constraint '{key}' is set already; its first value stays", stacklevel=3
            )
            return
        self.set("system", stored, number)

    def text(self, more: Mapping[str, Any]) -> str:
        """Return the attributes and ``more`` as JSON text; an empty text if there are none."""
        told = {kind: values for kind, values in self._values.items() if values}
        told.update(more)  # type: ignore[arg-type]
        return json.dumps(told, default=plain) if told else ""


def _told_by(content: bytes) -> dict[str, dict[str, Any]]:
    """Read the attributes that an earlier attempt set, perhaps on another person's device."""
    told = checkpoints.read_member(content, MEMBER, 2 * MAX_BYTES)
    if told is None:
        return {}
    kinds = ("user", "system")
    if not isinstance(told, dict) or not all(isinstance(told.get(k, {}), dict) for k in kinds):
        raise CheckpointError("the checkpoint's attributes are none", code="checkpoint_malformed")
    return told


def plain(value: object) -> Any:
    """Return a NumPy scalar as a Python scalar and an array as lists, for `json.dumps`.

    Raises
    ------
    TypeError
        The value is of another kind.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no JSON")
