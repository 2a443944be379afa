"""Tests Python's operators: which ufunc each one calls, which operands are refused, how often they
cross into array-core.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

Operator = Callable[[Any, Any], Any]

INTEGERS = (
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.truediv,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
IN_PLACE = (
    operator.iadd, operator.isub, operator.imul, operator.ifloordiv, operator.imod, operator.ipow,
    operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
)  # fmt: skip
A = np.array([[7, -3, 5], [1, 2, 9]], np.int32)
B = np.array([2, 3, 1], np.int16)


def same(result: Any, expected: Any) -> None:
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize("function", INTEGERS, ids=lambda function: function.__name__)
def test_binary_operators_are_numpys(function: Operator) -> None:
    a, b = ac.array(A), ac.array(B)
    same(function(a, b), function(A, B))
    same(function(a, 3), function(A, 3))
    same(function(3, b), function(3, B))
    same(function(a, np.int8(3)), function(A, np.int8(3)))
    same(function(np.int64(3), b), function(np.int64(3), B))
    same(function(np.array(3), b), function(np.array(3), B))


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_in_place_operators_write_to_the_array(function: Operator) -> None:
    for right in (B, 3, np.int32(3)):
        mine, theirs = ac.array(A), A.copy()
        result = function(mine, ac.array(right) if right is B else right)
        assert result is mine
        same(mine, function(theirs, right))


def test_in_place_through_a_view_writes_to_the_base() -> None:
    base, theirs = ac.array(A), A.copy()
    view = base[:, ::2]
    view += 10
    theirs[:, ::2] += 10
    same(base, theirs)
    base[:, 1:] -= base[:, :-1]
    theirs[:, 1:] -= theirs[:, :-1].copy()
    same(base, theirs)


def test_in_place_casts_are_of_the_same_kind_only() -> None:
    a = ac.array(A)
    with pytest.raises(TypeError, match="casting rule"):
        a += 0.5
    with pytest.raises(TypeError, match="casting rule"):
        a /= 2
    half = ac.array(np.float16([1, 2]))
    half *= ac.array(np.float32([1.5, 1.5]))
    same(half, np.float16([1.5, 3]))


def test_unary_operators_and_divmod() -> None:
    a, b = ac.array(A), ac.array(B)
    for function in (operator.neg, operator.pos, operator.abs, operator.invert):
        same(function(a), function(A))
    for given, right in zip(divmod(a, b), divmod(A, B), strict=True):
        same(given, right)
    for given, right in zip(divmod(20, b), divmod(20, B), strict=True):
        same(given, right)
    same(~ac.array(np.array([True, False])), np.array([False, True]))
    with pytest.raises(TypeError, match="negative does not take"):
        -ac.array(np.array([True]))


def test_big_integers_keep_their_digits() -> None:
    a = np.array([2**62, -5], np.int64)
    for number in (2**53 + 1, -(2**60) - 1, 2**63 - 1):
        same(ac.array(a) ^ number, a ^ number)
        same(number & ac.array(a), number & a)
    same(ac.array(a) < 2**70, np.array([True, True]))
    same(ac.array(a) > -(2**70), np.array([True, True]))
    with pytest.raises(OverflowError):
        ac.array(np.uint8([1])) + 300


def test_what_is_no_operand_is_left_to_python() -> None:
    a = ac.array(A)
    for other in (object(), None, "x", {1: 2}):
        with pytest.raises(TypeError, match="unsupported operand"):
            a + other
        with pytest.raises(TypeError, match="unsupported operand"):
            other - a
    with pytest.raises(TypeError, match="not supported"):
        operator.lt(a, None)
    with pytest.raises(TypeError):
        pow(a, 2, 3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.usefixtures("cupys_rules")
def test_operands_of_numpys_are_refused_under_cupys_rules() -> None:
    a = ac.array(A)
    for refused in (lambda: a + B, lambda: B + a, lambda: B * a, lambda: a == B):
        with pytest.raises(TypeError, match="Unsupported type"):
            refused()
    for listed in (lambda: a - [1], lambda: [1] / a, lambda: divmod(a, [1])):
        with pytest.raises(TypeError, match="unsupported operand"):
            listed()


def test_arrays_of_numpys_and_lists_are_operands() -> None:
    a, row = ac.array(A), [1.0, 2.0, 4.0]
    for ours, theirs in (
        (a + B, A + B), (B - a, B - A), (a * row, A * row), (row / a, row / A), (a**[2], A**[2]),
        ((a == B), A == B), (a > row, row < A), (divmod(a, row)[1], divmod(A, row)[1]),
        (divmod(row, a)[0], divmod(row, A)[0]), (a @ B.T, A @ B.T), (A @ a.T, A @ A.T),
        (a @ row, A @ row),
    ):  # fmt: skip
        assert isinstance(ours, ac.ndarray)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.get(), theirs, 1e-6)
    a += B
    a *= [1, 2, 3]
    np.testing.assert_allclose(a.get(), (A + B) * [1, 2, 3], 1e-6)
    with pytest.raises(TypeError, match="no dtype object"):
        ac.add(a, [object()])


def test_the_other_side_may_answer() -> None:
    class Polite:
        def __radd__(self, other: object) -> str:
            return "answered"

        def __rsub__(self, other: object) -> str:
            return "answered"

    assert ac.array(A) + Polite() == "answered"
    assert ac.array(A) - Polite() == "answered"


@pytest.mark.usefixtures("unfused")
def test_each_operator_is_one_crossing() -> None:
    a, b = ac.array(np.ones(8, np.float32)), ac.array(np.ones(8, np.float32))
    before = ac.counters()
    for _ in range(100):
        for function, right in ((operator.add, b), (operator.mul, 2.0), (operator.lt, b)):
            function(a, right)
        operator.sub(3, a)
        operator.neg(a)
        a += 1
    after = ac.counters()
    assert after["crossings"] - before["crossings"] == 600
    assert after["dispatches"] - before["dispatches"] == 600
