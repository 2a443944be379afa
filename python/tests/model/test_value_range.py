"""Tests of the range in which the values of an objective lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hyperflock._base.errors import HyperflockError
from hyperflock._model.value_range import bounds_of
from hyperflock._transport.messages import Bounds


def test_a_pair_is_the_range_of_a_single_value() -> None:
    assert bounds_of((0, 1), 1) == [Bounds(0.0, 1.0)]
    assert bounds_of([-0.5, 0.5], 1) == [Bounds(-0.5, 0.5)]


def test_either_end_may_be_open() -> None:
    assert bounds_of((0, None), 1) == [Bounds(low=0.0)]
    assert bounds_of((None, 0), 1) == [Bounds(high=0.0)]


def test_several_directions_have_a_pair_each() -> None:
    assert bounds_of([(0, 1), (None, 5)], 2) == [Bounds(0.0, 1.0), Bounds(high=5.0)]


def test_numbers_of_numpy_are_numbers() -> None:
    assert bounds_of((np.float32(0.5), np.int64(2)), 1) == [Bounds(0.5, 2.0)]
    assert bounds_of(np.array([0, 1]), 1) == [Bounds(0.0, 1.0)]  # type: ignore[arg-type]


def test_nothing_is_no_range() -> None:
    assert bounds_of(None, 2) == []


@pytest.mark.parametrize(
    ("given", "directions", "why"),
    [
        (1, 1, "not a pair"),
        ((0, 1), 2, "1 pairs"),
        ([(0, 1), (0, 1)], 1, "2 pairs"),
        ((1, 0), 1, "above"),
        ((0, float("inf")), 1, "finite"),
        ((0, 10**400), 1, "finite"),
        ((float("nan"), 1), 1, "finite"),
        ([("0", 1)], 1, "finite"),
        ([(0, 1, 2)], 1, "not a pair"),
        ([(True, 1)], 1, "finite"),
    ],
)
def test_anything_else_is_refused(given: Any, directions: int, why: str) -> None:
    with pytest.raises(HyperflockError, match=why) as caught:
        bounds_of(given, directions)
    assert caught.value.code == "bad_field"
    assert caught.value.field == "value_range"
