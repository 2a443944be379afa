"""Describes which struct and which fields a message has, depending on its other fields. The module
has plain data only; any thread may use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True)
class When:
    """The condition under which a message may have a field. If it is not met, the field counts as
    unknown.

    The condition is that the field ``other`` has the value ``value``. If ``value`` is None, the
    condition is that ``other`` is present. If ``holds`` is False, the condition is the opposite.
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
    """The structs that a message of one type may have.

    ``by`` maps a value of the field ``subject`` to the struct of that case, and ``otherwise`` is
    the struct of all other cases. If ``by_presence`` is true, only the presence of ``subject``
    decides, and the only key of ``by`` is the name of that field. A message without cases has only
    ``otherwise``.
    """

    otherwise: type[msgspec.Struct] | None
    subject: str = ""
    by: Mapping[str, type[msgspec.Struct]] = field(default_factory=dict)
    by_presence: bool = False
