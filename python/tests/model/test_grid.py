"""Tests grids: each point occurs once in the server's order, types are kept, and invalid values are
refused.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hyperflock import (
    EmptySpaceError,
    InvalidSpaceError,
    SpaceTooLargeError,
    choice,
    grid_point,
    grid_size,
    integer,
    random_point,
    sobol_point,
    suggest_grid,
    trial_seed,
    uniform,
)
from hyperflock._base.param_values import params_text, read_params
from hyperflock._model.space import dimensions_of
from hypothesis import given
from hypothesis import strategies as st


class Named(NamedTuple):
    """A tuple with a class of its own, which would be lost on the way to a trial."""

    a: int
    b: int


def nested(kind: Any, depth: int) -> Any:
    """Return a value that consists of ``depth`` nested lists or tuples."""
    return 1 if depth == 0 else kind([nested(kind, depth - 1)])


def endless() -> list[Any]:
    """Return a list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text
)
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_text | st.just("()"), inner, max_size=3)
    ),
    max_leaves=6,
)
_spaces = st.dictionaries(
    _text.filter(bool), st.lists(_values, min_size=1, max_size=4), min_size=1, max_size=4
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
        assert repr(read_params(params_text(point))) == repr(point)


@given(space=_spaces)
def test_a_list_of_the_points_has_the_points_of_the_grid(space: dict[str, list[Any]]) -> None:
    points = list(suggest_grid(space))
    assert repr(list(suggest_grid(points))) == repr(points)
    assert grid_size(points) == len(points)
    assert repr(grid_point(points, len(points) - 1)) == repr(points[-1])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((32, 64.0), '{"()":[32,64.0]}'),
        ([(), [None]], '[{"()":[]},[null]]'),
        ({"()": 1, "x": ()}, '{"()":1,"x":{"()":[]}}'),
        ({"()": (1,)}, '{"()":{"()":{"()":[1]}}}'),
    ],
)
def test_only_tuples_are_not_plain_json(value: Any, text: str) -> None:
    assert params_text({"a": value}) == f'{{"a":{text}}}'
    assert repr(read_params(f'{{"a":{text}}}')) == repr({"a": value})


def test_scalars_of_older_rows_are_read_as_before() -> None:
    assert repr(read_params('{"()": 3, "b": [1.0], "c": {"d": 1}}')) == (
        "{'()': 3, 'b': [1.0], 'c': {'d': 1}}"
    )


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
    values = [d.values for d in dimensions_of(space, "grid")]
    assert repr(values) == "[[1, 2], [0.0, 0.5, 1.0], [True, 'x', 0.5], [0, 1]]"
    assert repr(grid_point({"a": [(np.int64(1), [np.float32(0.5)])]}, 0)) == "{'a': (1, [0.5])}"


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
        ({"a": [(1, object())]}, InvalidSpaceError, "bad_field"),
        ({"a": [{1: 2}]}, InvalidSpaceError, "bad_field"),
        ({"a": [{1, 2}]}, InvalidSpaceError, "bad_field"),
        ({"a": [Named(1, 2)]}, InvalidSpaceError, "bad_field"),
        ({"a": [np.ones(2)]}, InvalidSpaceError, "bad_field"),
        ({"a": [nested(list, 13)]}, InvalidSpaceError, "bad_field"),
        ({"a": [nested(tuple, 7)]}, InvalidSpaceError, "bad_field"),
        ({"a": [endless()]}, InvalidSpaceError, "bad_field"),
        ({"a": [(1, [math.nan])]}, InvalidSpaceError, "bad_number"),
        ({"a": [{"b": 2**63}]}, InvalidSpaceError, "bad_number"),
        ({"a": [["x" * 257]]}, InvalidSpaceError, "too_long"),
        ({"a": [{"x" * 257: 1}]}, InvalidSpaceError, "too_long"),
        ({"a": [["x" * 256] * 256]}, InvalidSpaceError, "too_long"),
        ({"a": uniform(0, 1)}, InvalidSpaceError, "bad_field"),
        ([], EmptySpaceError, "empty_space"),
        ([{}], EmptySpaceError, "empty_space"),
        ([{"a": 1}, {"b": 1}], InvalidSpaceError, "bad_field"),
        ([{"a": 1}, {}], InvalidSpaceError, "bad_field"),
        ([{"a": 1}, {"a": 1, "b": 2}], InvalidSpaceError, "bad_field"),
        ([{"a": uniform(0, 1)}], InvalidSpaceError, "bad_field"),
        ("abc", InvalidSpaceError, "bad_field"),
        (iter([{"a": 1}]), InvalidSpaceError, "bad_field"),
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


def test_the_deepest_value_that_travels() -> None:
    for value in (nested(list, 12), nested(tuple, 6)):
        assert repr(grid_point({"a": [value]}, 0)) == repr({"a": value})


def test_points_with_other_names_are_named_in_the_error() -> None:
    with pytest.raises(InvalidSpaceError, match="point 1 has no 'net'") as caught:
        grid_size([{"lr": 0.1, "net": "a"}, {"lr": 0.1}])
    assert caught.value.field == "space[1]"
    with pytest.raises(InvalidSpaceError, match="point 1 has 'x' too"):
        grid_size([{"lr": 0.1}, {"lr": 0.1, "x": 1}])


@pytest.mark.parametrize(
    ("distribution", "code"),
    [
        (uniform(2, 1), "bad_range"),
        (uniform(-1.7e308, 1.7e308), "bad_range"),
        (uniform(0, 1, log=True), "bad_range"),
        (uniform(-1, 1, log=True), "bad_range"),
        (uniform(1, 2, log=True, step=0.5), "bad_range"),
        (uniform(0, 1, step=0.3), "bad_range"),
        (uniform(0, 1, step=0), "bad_range"),
        (uniform(0, 1, step=-1), "bad_range"),
        (uniform(0, 1e300, step=1e-300), "bad_range"),
        (integer(0, 8, log=True), "bad_range"),
        (integer(0, 10, step=3), "bad_range"),
        (integer(0, 2**53), "bad_range"),
        (integer(-(2**52) - 1, 2**52), "bad_range"),
        (integer(0, 1.5), "bad_range"),  # type: ignore[arg-type]
        (integer(0, 4, step=0.5), "bad_range"),  # type: ignore[arg-type]
        (uniform(0, math.inf), "bad_number"),
        (uniform(math.nan, 1), "bad_number"),
        (uniform(0, 10**400), "bad_number"),
        (uniform("0", 1), "bad_field"),  # type: ignore[arg-type]
        (uniform(False, True), "bad_field"),
        (choice([]), "empty_space"),
        (choice("abc"), "bad_field"),
        (choice({1, 2}), "bad_field"),  # type: ignore[arg-type]
        (3, "bad_field"),
    ],
)
@pytest.mark.parametrize("point", [random_point, sobol_point])
def test_impossible_distribution_has_its_code(point: Any, distribution: Any, code: str) -> None:
    with pytest.raises((InvalidSpaceError, EmptySpaceError)) as caught:
        point({"x": distribution}, 0)
    assert caught.value.code == code
    assert "'x'" in caught.value.message


def test_a_space_to_draw_from_has_at_most_64_names_and_is_a_dict() -> None:
    for space, code in (
        ({f"n{n}": uniform(0, 1) for n in range(65)}, "too_many"),
        ({}, "empty_space"),
        ([{"x": 1}], "bad_field"),
    ):
        with pytest.raises((InvalidSpaceError, EmptySpaceError)) as caught:
            random_point(space, 0)  # type: ignore[arg-type]
        assert caught.value.code == code
