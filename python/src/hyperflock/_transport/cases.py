"""What tells the forms of a message apart. Plain data; any thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True)
class When:
    """When a field belongs to its message; elsewhere it is an unknown field.

    ``value`` is what the field ``other`` has; without one the condition is that ``other`` is there.
    ``holds`` is false for the opposite.
    """

    other: str
    value: str | None
    holds: bool

    def __call__(self, message: Mapping[str, Any]) -> bool:
        """Return whether the condition is met."""
        if self.value is None:
            return (self.other in message) == self.holds
        return bool(message.get(self.other) == self.value) == self.holds


@dataclass(frozen=True)
class Cases:
    """The struct of a message; one for each ``by`` where a field ``subject`` tells them apart."""

    otherwise: type[msgspec.Struct] | None
    subject: str = ""
    by: Mapping[str, type[msgspec.Struct]] = field(default_factory=dict)
    by_presence: bool = False
