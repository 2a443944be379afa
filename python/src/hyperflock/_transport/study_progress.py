"""What follows from a study's row. Plain data; any thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UnsetType

if TYPE_CHECKING:
    from hyperflock._transport.messages import Direction, Runtime


class StudyProgress:
    """What `StudyRow` knows beyond its fields."""

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

    @property
    def done(self) -> int:
        """How many trials have finished."""
        return self.complete + self.pruned + self.failed

    @property
    def goal(self) -> int:
        """How many trials there will be, as far as that is known: an owner may ask for more."""
        return max(self.total, self.wanted) if isinstance(self.wanted, int) else self.total

    @property
    def aims(self) -> list[Direction]:
        """The direction of each objective."""
        return self.directions if isinstance(self.directions, list) else [self.direction]

    @property
    def runtime_name(self) -> str:
        """What its trials run on, by the name of the runtime's piece."""
        return f"chainer-{self.runtime.chainer}"
