"""Computes properties of a study from the fields of its row. The module has plain data only; any
thread may use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UnsetType

if TYPE_CHECKING:
    from hyperflock._transport.messages import Direction, Runtime


class StudyProgress:
    """The properties of `StudyRow` that are computed from its fields."""

    __slots__ = ()

    if TYPE_CHECKING:
        complete: int
        pruned: int
        failed: int
        total: int
        wanted: int | UnsetType
        direction: Direction
        directions: list[Direction] | UnsetType
        runtime: Runtime
        priority: int | UnsetType
        code_version: int | UnsetType

    @property
    def done(self) -> int:
        """How many trials have finished."""
        return self.complete + self.pruned + self.failed

    @property
    def goal(self) -> int:
        """How many trials the study will have, as far as is known. Its owner may ask for more."""
        return max(self.total, self.wanted) if isinstance(self.wanted, int) else self.total

    @property
    def aims(self) -> list[Direction]:
        """The direction of each objective."""
        return self.directions if isinstance(self.directions, list) else [self.direction]

    @property
    def rank(self) -> int:
        """The study's priority among those of its owner; 0 if the row has none."""
        return self.priority if isinstance(self.priority, int) else 0

    @property
    def code_count(self) -> int:
        """How many versions of its code the study has had."""
        return self.code_version if isinstance(self.code_version, int) else 1

    @property
    def runtime_name(self) -> str:
        """The name of the runtime of the study's trials, such as ``chainer-7.8.1``."""
        return f"chainer-{self.runtime.chainer}"
