"""Computes the points of a grid or of a list of points in the server's order, and trials' seeds.

The module is pure; any thread may use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperflock._base.param_values import from_wire
from hyperflock._model.sampling import sampled_point
from hyperflock._model.space import Space, dimensions_of, is_drawn, kind_of, size_of
from hyperflock._transport.messages import Dimension, StudyKind

_MASK64 = 2**64 - 1


def suggest_grid(space: Space) -> Iterator[dict[str, Any]]:
    """Yield every point of ``space`` exactly once: those of a dict with the last name varying
    fastest, those of a list in its order.

    Raises
    ------
    EmptySpaceError
        The space has no names, or a name has no values.
    InvalidSpaceError
        A name or a value cannot be sent to a server.
    """
    kind = kind_of(space)
    dimensions = dimensions_of(space, kind)
    for number in range(count_of(kind, dimensions)):
        yield point_of(kind, dimensions, number)


def grid_size(space: Space) -> int:
    """Return the number of points of ``space``.

    It raises `SpaceTooLargeError` and the errors of `suggest_grid`.
    """
    kind = kind_of(space)
    return count_of(kind, dimensions_of(space, kind))


def grid_point(space: Space, number: int) -> dict[str, Any]:
    """Return point ``number`` of ``space``: the parameters of the trial with this number.

    Raises
    ------
    IndexError
        The space has no such point.
    """
    kind = kind_of(space)
    dimensions = dimensions_of(space, kind)
    count = count_of(kind, dimensions)
    if not 0 <= number < count:
        raise IndexError(f"the space has {count} points, none with number {number}")
    return point_of(kind, dimensions, number)


def trial_seed(study_seed: int, number: int) -> int:
    """Return a trial's seed, 0 to 2^32-1: the upper half of splitmix64(study_seed + number).

    splitmix64 is from Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
    (2014).
    """
    z = (study_seed + number + 0x9E3779B97F4A7C15) & _MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return (z ^ (z >> 31)) >> 32


def count_of(kind: StudyKind, dimensions: Sequence[Dimension]) -> int:
    """Return the number of points of a checked grid or list of points."""
    return len(dimensions[0].values) if kind == "points" else size_of(dimensions)


def point_of(
    kind: StudyKind, dimensions: Sequence[Dimension], number: int, seed: int = 0
) -> dict[str, Any]:
    """Return the parameters of trial ``number`` for a space that has been checked."""
    if is_drawn(kind):
        picked = sampled_point(kind, seed, dimensions, number)
    elif kind == "points":
        picked = {d.name: d.values[number] for d in dimensions}
    else:
        backwards = []
        for dimension in reversed(dimensions):
            number, index = divmod(number, len(dimension.values))
            backwards.append((dimension.name, dimension.values[index]))
        picked = dict(reversed(backwards))
    return {name: from_wire(value) for name, value in picked.items()}
