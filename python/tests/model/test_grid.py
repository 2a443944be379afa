"""Grids: each point once in the server's order, types kept, and values that a space refuses."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hyperflock import (
    EmptySpaceError,
    InvalidSpaceError,
    SpaceTooLargeError,
    grid_point,
    grid_size,
    suggest_grid,
    trial_seed,
)
from hyperflock._model.grid import dimensions_of, params_text
from hypothesis import given
from hypothesis import strategies as st

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text
)
_spaces = st.dictionaries(
    _text.filter(bool), st.lists(_scalars, min_size=1, max_size=4), min_size=1, max_size=4
)


@given(space=_spaces)
def test_every_point_comes_once_last_name_fastest(space: dict[str, list[Any]]) -> None:
    points = list(suggest_grid(space))
    expected = [dict(zip(space, p, strict=True)) for p in itertools.product(*space.values())]
    assert repr(points) == repr(expected)
    assert grid_size(space) == len(points)
    for number in {0, len(points) // 2, len(points) - 1}:
        assert repr(grid_point(space, number)) == repr(points[number])


@given(space=_spaces)
def test_kinds_survive_the_wire(space: dict[str, list[Any]]) -> None:
    for point in suggest_grid(space):
        assert repr(json.loads(params_text(point))) == repr(point)


@given(seed=st.integers(0, 2**53 - 1), number=st.integers(0, 2**53 - 1))
def test_seeds_fit_numpy(seed: int, number: int) -> None:
    assert 0 <= trial_seed(seed, number) < 2**32


def test_numpy_scalars_become_python_s() -> None:
    space: Any = {
        "a": np.array([1, 2], np.int64),
        "b": np.linspace(0, 1, 3),
        "c": (np.bool_(True), np.str_("x"), np.float32(0.5)),
        "d": range(2),
    }
    values = [d.values for d in dimensions_of(space)]
    assert repr(values) == "[[1, 2], [0.0, 0.5, 1.0], [True, 'x', 0.5], [0, 1]]"


@pytest.mark.parametrize(
    ("space", "error", "code"),
    [
        ({}, EmptySpaceError, "empty_space"),
        ({"a": []}, EmptySpaceError, "empty_space"),
        ({"": [1]}, InvalidSpaceError, "bad_field"),
        ({1: [1]}, InvalidSpaceError, "bad_field"),
        ({"a": 1}, InvalidSpaceError, "bad_field"),
        ({"a": "abc"}, InvalidSpaceError, "bad_field"),
        ({"a": {1, 2}}, InvalidSpaceError, "bad_field"),
        ({"a": iter([1, 2])}, InvalidSpaceError, "bad_field"),
        ({"a": [[1]]}, InvalidSpaceError, "bad_field"),
        ({"a": [object()]}, InvalidSpaceError, "bad_field"),
        ({"a": [1j]}, InvalidSpaceError, "bad_field"),
        ({"a": ["\ud800"]}, InvalidSpaceError, "bad_field"),
        ({"a": [math.nan]}, InvalidSpaceError, "bad_number"),
        ({"a": [-math.inf]}, InvalidSpaceError, "bad_number"),
        ({"a": [2**63]}, InvalidSpaceError, "bad_number"),
        ({"a": ["x" * 257]}, InvalidSpaceError, "too_long"),
        ({"x" * 257: [1]}, InvalidSpaceError, "too_long"),
        ({str(n): [1] for n in range(65)}, InvalidSpaceError, "too_many"),
        ({str(n): range(2) for n in range(54)}, SpaceTooLargeError, "space_too_large"),
        ([1, 2], InvalidSpaceError, "bad_field"),
    ],
)
def test_wrong_space_has_its_code(space: Any, error: type[Exception], code: str) -> None:
    with pytest.raises(error) as caught:
        grid_size(space)
    assert type(caught.value) is error
    assert caught.value.code == code  # type: ignore[attr-defined]


def test_point_out_of_the_grid_is_an_index_error() -> None:
    for number in (-1, 2):
        with pytest.raises(IndexError):
            grid_point({"a": [1, 2]}, number)
