"""Tests that comparisons give NumPy's arrays, whatever an array is compared with."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import ANY

import arraycore as ac
import numpy as np
import pytest

Comparison = Callable[[Any, Any], Any]

COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
DTYPES = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64")
#: What an array of shape (2, 3) is compared with. Neither is an array, nor a number.
OTHERS = {
    "list": [1, 2, 4],
    "tuple": (1, 2, 4),
    "floats": [0.5, float("nan"), 3.0],
    "column": [[1], [5]],
    "numpy scalars": [np.int8(1), np.float32(2), np.float64(3)],
    "empty": [[], []],
    "short": [1, 2],
    "ragged": [[1, 2], [1]],
    "large ints": [2**70, 1, -(2**70)],
    "objects": [1, None, 3],
    "range": range(1, 4),
    "None": None,
    "...": ...,
    "type": int,
    "object": object(),
    "text": "a",
    "texts": ["a", "b", "1"],
    "bytes": b"1",
    "set": {1},
    "dict": {},
    "fraction": Fraction(1),
    "anything": ANY,
}


def outcome(compare: Comparison, a: Any, b: Any) -> Any:
    try:
        with np.errstate(invalid="ignore"):
            return compare(a, b)
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_compared_as_numpys_is(dtype: str, name: str) -> None:
    theirs = np.array([[1, 2, 3], [4, 5, 0]]).astype(dtype)
    mine = ac.array(theirs)
    other = OTHERS[name]
    for compare in COMPARISONS:
        for reflected in (False, True):
            pairs = (
                ((other, mine), (other, theirs)) if reflected else ((mine, other), (theirs, other))
            )
            result, expected = (outcome(compare, *pair) for pair in pairs)
            if not isinstance(expected, np.ndarray):  # an error, or the other object's own answer
                assert result is expected
                continue
            assert isinstance(result, ac.ndarray)
            assert result.dtype == expected.dtype == bool
            np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 1, 3)])
def test_nothing_equals_none_in_any_shape(shape: tuple[int, ...]) -> None:
    a = ac.zeros(shape, "float32")
    assert (a == None).shape == (a != None).shape == shape  # noqa: E711
    assert not (a == None).any()  # noqa: E711
    assert (a != None).all()  # noqa: E711


def test_a_list_may_hold_arrays() -> None:
    a = ac.array([[1, 2], [3, 4]])
    assert (a == [ac.array([1, 0]), ac.array([3, 0])]).tolist() == [[True, False], [True, False]]
    reflected: Any = [ac.array(1), 2] == a
    assert reflected.tolist() == [[True, True], [False, False]]


def test_no_element_is_read_to_compare_with_none_or_a_list() -> None:
    a = ac.array([1, 2, 3], "int32")
    before = ac.counters()
    made = (a == None, a == [1, 2, 4], a < (1, 2, 3), a != "a")  # noqa: E711
    after = ac.counters()
    assert after["bytes_down"] == before["bytes_down"]
    assert after["cpu_ops"] == before["cpu_ops"]
    assert len(made) == 4


def test_membership_asks_for_any_equal_element() -> None:
    a = ac.array([[1, 2], [3, 4]])
    assert None not in a
    assert "a" not in a
    assert [1, 0] in a
    assert [0, 0] not in a
    assert 4 in a


@pytest.mark.usefixtures("cupys_rules")
def test_an_array_of_numpys_is_refused_as_in_cupy() -> None:
    a = ac.arange(3)
    for compare in COMPARISONS:
        with pytest.raises(TypeError, match="Unsupported type"):
            compare(a, np.arange(3))


def test_a_type_that_takes_precedence_compares_itself() -> None:
    class Symbol:
        __array_ufunc__ = None

        def __eq__(self, other: object) -> Any:
            return "mine"

        __hash__ = object.__hash__

    class Variable(Symbol):
        __array_priority__ = 200

    for other in (Symbol(), Variable()):
        for a in (ac.arange(3), np.arange(3)):
            assert (a == other) == "mine"
            assert (other == a) == "mine"


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda compare: compare.__name__)
def test_the_flat_elements_are_compared(compare: Comparison) -> None:
    theirs = np.arange(6).reshape(2, 3)
    mine = ac.array(theirs)
    for other in (2, [0, 1, 2, 3, 0, 0]):
        np.testing.assert_array_equal(compare(mine.flat, other).get(), compare(theirs.flat, other))
