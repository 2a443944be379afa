"""Compares the rules of promotion and casting with NumPy's, for every combination."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from array_core_fuzz import probe
from array_core_fuzz.probe import CASTINGS, Mode
from array_core_fuzz.steps import DTYPES, ErrorKind

DType = np.dtype[Any]
Scalar = DType | type
PYTHON: tuple[type, ...] = (int, float, complex)
INTEGERS = [dtype for dtype in DTYPES if dtype.kind in "iu"]


def as_numpy(scalar: Scalar) -> Any:
    """Return a scalar operand for NumPy: Python's 1, or a NumPy scalar."""
    return scalar(1) if isinstance(scalar, type) else scalar.type(1)


def numpy2(arrays: Sequence[DType], scalars: Sequence[Scalar]) -> DType:
    """Return NumPy's own common dtype."""
    return np.result_type(*arrays, *(as_numpy(scalar) for scalar in scalars))


def category(dtype: DType) -> int:
    """Return the category by which CuPy compares arrays with scalars: bool < integers < floats."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}[dtype.kind]


def cupy(arrays: Sequence[DType], scalars: Sequence[Scalar]) -> DType:
    """Return NumPy's common dtype after CuPy's weak operands were replaced by Python's numbers.

    Weak operands are NumPy scalars whose category is not above that of the arrays, and arrays of
    integers if another array has floats.
    """
    highest = max((category(dtype) for dtype in arrays), default=-1)
    beside_floats = [1 for dtype in arrays if highest == 2 and category(dtype) == 1]
    arrays = [dtype for dtype in arrays if highest != 2 or category(dtype) != 1]
    weakened: list[Scalar] = []
    for scalar in scalars:
        if isinstance(scalar, np.dtype) and category(scalar) <= highest:
            weakened.append(type(scalar.type(1).item()))
        else:
            weakened.append(scalar)
    return np.result_type(
        *arrays,
        *beside_floats,
        *(as_numpy(scalar) if scalar is not bool else np.bool_(True) for scalar in weakened),
    )


ORACLES = {Mode.NUMPY2: numpy2, Mode.CUPY: cupy}


@pytest.mark.parametrize("a", DTYPES, ids=str)
def test_promote_of_every_pair(a: DType) -> None:
    assert [probe.promote(a, b) for b in DTYPES] == [np.promote_types(a, b) for b in DTYPES]


@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.name)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_result_type_of_every_pair_and_triple_of_arrays(mode: Mode, count: int) -> None:
    for arrays in itertools.product(DTYPES, repeat=count):
        assert probe.result_type(mode, arrays, []) == ORACLES[mode](arrays, []), arrays


def test_integers_give_way_to_floats_in_cupy_mode_only() -> None:
    arrays = [np.dtype("i8"), np.dtype("f4")]
    assert probe.result_type(Mode.NUMPY2, arrays, []) == np.dtype("f8")
    assert probe.result_type(Mode.CUPY, arrays, []) == np.dtype("f4")


def test_result_type_of_four_and_more_arrays() -> None:
    random = np.random.default_rng(7)
    for _ in range(3000):
        arrays = [DTYPES[i] for i in random.integers(0, len(DTYPES), random.integers(4, 9))]
        assert probe.result_type(Mode.NUMPY2, arrays, []) == np.result_type(*arrays), arrays


@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.name)
@pytest.mark.parametrize("array_count", [0, 1, 2])
@pytest.mark.parametrize("scalar_count", [1, 2])
def test_result_type_with_scalars(mode: Mode, array_count: int, scalar_count: int) -> None:
    every: tuple[Scalar, ...] = (*DTYPES, *PYTHON)
    oracle = ORACLES[mode]
    for arrays in itertools.product(DTYPES, repeat=array_count):
        for scalars in itertools.product(every, repeat=scalar_count):
            expected = oracle(arrays, scalars)
            assert probe.result_type(mode, arrays, scalars) == expected, (arrays, scalars)


def test_float32_stays_float32_in_cupy_mode_only() -> None:
    arrays, scalars = [np.dtype("f4")], [np.dtype("f8")]
    assert probe.result_type(Mode.NUMPY2, arrays, scalars) == np.dtype("f8")
    assert probe.result_type(Mode.CUPY, arrays, scalars) == np.dtype("f4")


@pytest.mark.parametrize("casting", CASTINGS)
def test_can_cast_of_every_pair(casting: Any) -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        assert probe.can_cast(a, b, casting) == np.can_cast(a, b, casting), (a, b)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_weak_int_fits_where_numpy_says_so(dtype: DType) -> None:
    edges = {0}
    for bits in (7, 8, 15, 16, 31, 32, 63, 64, 65):
        edges |= {sign * 2**bits + step for sign in (1, -1) for step in (-1, 0, 1)}
    refused = 0
    for value in sorted(edges):
        kind, message = probe.check_fits(value, dtype)
        numpys = _numpys_refusal(value, dtype)
        assert kind == (ErrorKind.VALUE if numpys else 0), value
        if "out of bounds" in numpys:  # beyond 64 bits NumPy names a C type
            assert message == numpys
            refused += 1
    assert refused > 5 or dtype.itemsize == 8


def _numpys_refusal(value: int, dtype: DType) -> str:
    try:
        np.zeros(1, dtype) + value
    except OverflowError as error:
        return str(error)
    return ""
