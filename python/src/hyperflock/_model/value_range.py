"""Checks the range in which the values of a study's objective lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import TypeGuard

from msgspec import UNSET, UnsetType

from hyperflock._base.errors import HyperflockError
from hyperflock._transport.messages import Bounds

#: The lowest and the highest value of an objective; None means that there is no limit.
Range = Sequence[float | None]


def bounds_of(value_range: Range | Sequence[Range] | None, directions: int) -> list[Bounds]:
    """Return the ranges of all values as the server gets them; empty if there are none.

    Parameters
    ----------
    value_range
        A pair ``(low, high)``, or one pair for each direction.
    directions
        How many values a result has.

    Raises
    ------
    HyperflockError
        ``bad_field``: it is not as described.
    """
    if value_range is None:
        return []
    try:
        given = list(value_range)
    except TypeError:
        raise _bad(f"{value_range!r:.100} is not a pair (low, high)") from None
    is_pair = len(given) == 2 and all(one is None or _is_number(one) for one in given)
    pairs = [given] if is_pair else given
    if len(pairs) != directions:
        raise _bad(f"it has {len(pairs)} pairs, but the study has {directions} directions")
    return [_bounds(pair) for pair in pairs]


def _bounds(pair: object) -> Bounds:
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise _bad(f"{pair!r:.100} is not a pair (low, high)")
    low, high = map(_limit, pair)
    if not isinstance(low, UnsetType) and not isinstance(high, UnsetType) and low > high:
        raise _bad(f"low ({low}) is above high ({high})")
    return Bounds(low=low, high=high)


def _limit(given: object) -> float | UnsetType:
    if given is None:
        return UNSET
    if _is_number(given):
        with suppress(OverflowError):
            limit = float(given)
            if math.isfinite(limit):
                return limit
    raise _bad(f"{given!r:.100} is neither a finite number nor None")


def _is_number(value: object) -> TypeGuard[Real]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _bad(why: str) -> HyperflockError:
    return HyperflockError(f"value_range: {why}", code="bad_field", field="value_range")
