"""Tests the casting rule of ufuncs, and scalars that an operand's dtype cannot hold, with NumPy."""

# ruff: noqa: B023 - every function is called before its loop goes on
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

CASTINGS: tuple[Any, ...] = ("no", "equiv", "safe", "same_kind", "unsafe")


def ints(m: Any, first: int) -> Any:
    return m.arange(first, first + 3, dtype="int64")  # NumPy's default depends on the machine


#: Calls of `f` with arrays and numbers, by `m`, which is NumPy or arraycore, and a casting rule.
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "int and float": lambda m, f, c: f(ints(m, 0), m.arange(3.0), casting=c),
    "ints": lambda m, f, c: f(ints(m, 0), ints(m, 1), casting=c),
    "int8 and a float": lambda m, f, c: f(m.array([1], dtype="int8"), 1.5, casting=c),
    "int8 and int16": lambda m, f, c: f(m.array([1], dtype="int8"), np.int16(1), casting=c),
    "to int32": lambda m, f, c: f(m.arange(3.0), m.arange(1.0, 4), dtype="int32", casting=c),
    "to float32": lambda m, f, c: f(m.arange(3.0), m.arange(1.0, 4), dtype="float32", casting=c),
    "to complex64": lambda m, f, c: f(
        m.arange(3.0), m.arange(1.0, 4), dtype="complex64", casting=c
    ),
    "out int32": lambda m, f, c: f(
        m.arange(3.0) + 0.5, m.arange(1.0, 4), out=m.zeros(3, dtype="int32"), casting=c
    ),
    "out float32": lambda m, f, c: f(
        m.arange(3.0), m.arange(1.0, 4), out=m.zeros(3, dtype="float32"), casting=c
    ),
}
UNARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "int": lambda m, f, c: f(ints(m, 0), casting=c),
    "to float32": lambda m, f, c: f(ints(m, 0), dtype="float32", casting=c),
    "to int32": lambda m, f, c: f(m.arange(3.0), dtype="int32", casting=c),
    "out int32": lambda m, f, c: f(m.arange(3.0), out=m.zeros(3, dtype="int32"), casting=c),
}
TOLERANT = {"sqrt", "exp"}


def outcome(call: Callable[[], Any]) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            return call()
    except (TypeError, ValueError, OverflowError) as error:
        return next(
            kind for kind in (OverflowError, TypeError, ValueError) if isinstance(error, kind)
        )


def same(mine: Any, theirs: Any, tolerance: float = 0, dtype: Any = None) -> None:
    if isinstance(theirs, type):
        assert mine is theirs
        return
    assert isinstance(mine, ac.ndarray), mine
    assert mine.dtype == (theirs.dtype if dtype is None else dtype)
    assert mine.shape == np.shape(theirs)
    np.testing.assert_allclose(mine.get(), theirs, rtol=tolerance)


@pytest.mark.parametrize("casting", CASTINGS)
@pytest.mark.parametrize("name", ["add", "divide", "maximum", "logical_and"])
def test_a_binary_function_heeds_the_rule(name: str, casting: str) -> None:
    for call in BINARY.values():
        mine, theirs = (outcome(lambda: call(m, getattr(m, name), casting)) for m in (ac, np))
        same(mine, theirs)


@pytest.mark.parametrize("casting", CASTINGS)
@pytest.mark.parametrize("name", ["sqrt", "negative", "exp", "floor"])
def test_a_unary_function_heeds_the_rule(name: str, casting: str) -> None:
    for call in UNARY.values():
        mine, theirs = (outcome(lambda: call(m, getattr(m, name), casting)) for m in (ac, np))
        same(mine, theirs, 1e-6 if name in TOLERANT else 0)


NUMBERS = (256, -1, 300, -129)
LARGE = (*NUMBERS, 2**31, -(2**40), 2**63, 2**64 - 1, 2**64, -(2**70))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("name", ["divide", "logical_and", "logical_or", "logical_xor"])
def test_a_number_beyond_the_dtype_is_divided_and_tested(name: str, dtype: str) -> None:
    theirs = np.array([0, 1, 3]).astype(dtype)
    # NumPy tests only numbers that a C long holds, which may have 32 bits.
    for number in LARGE if name == "divide" else NUMBERS:
        for left in (False, True):
            results = []
            for m, given in ((ac, ac.array(theirs)), (np, theirs)):
                pair = (number, given) if left else (given, number)
                results.append(outcome(lambda: getattr(m, name)(*pair)))
            same(results[0], results[1], 1e-15)


def test_a_number_beyond_float64_cannot_be_divided_by() -> None:
    a = ac.array([1, 2], dtype="uint8")
    with pytest.raises(OverflowError):
        a / 10**400
    with pytest.raises(OverflowError):
        -(10**400) / a
    with pytest.raises(OverflowError):  # as NumPy
        a + 256


SCALARS = (
    np.float32(1), np.float16(1.5), np.int8(3), np.uint8(200), np.float64(2), np.bool_(True),
    np.complex64(1 + 2j), np.array(2, np.int16),
)  # fmt: skip


@pytest.mark.parametrize("name", ["multiply", "add", "divide", "maximum", "less"])
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_a_number_next_to_a_scalar_of_numpys_has_no_dtype(scalar: Any, name: str) -> None:
    for other in (2, 2.5, 1j, True, 300, -1, np.int8(2), np.float32(1.5)):
        for pair in ((scalar, other), (other, scalar)):
            mine, theirs = (outcome(lambda: getattr(m, name)(*pair)) for m in (ac, np))
            # NumPy's default integer has 32 bits on some machines.
            default = scalar.dtype == bool and getattr(theirs, "dtype", None) == np.dtype(int)
            same(mine, theirs, 1e-3, np.int64 if default else None)


def test_numbers_alone_have_numpys_default_dtypes() -> None:
    for pair in ((2, 3), (2, 2.5), (True, 3), (True, True), (1j, 2)):
        same(ac.add(*pair), np.add(*pair))
