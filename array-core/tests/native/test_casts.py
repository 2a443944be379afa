"""Casts of every pair of dtypes over edge values, against NumPy where it defines the result."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from array_core_fuzz import probe
from array_core_fuzz.probe import DTYPES

Array = npt.NDArray[Any]
DType = np.dtype[Any]
PAIRS = list(itertools.product(DTYPES, repeat=2))


def edge_values(dtype: DType) -> Array:
    """Values where a cast may go wrong: ends of ranges, ties, NaN, infinities, -0, subnormals."""
    if dtype.kind == "b":
        return np.array([False, True])
    integers = {0, 1, 2, 3, 100}
    for bits in (7, 8, 10, 11, 12, 15, 16, 23, 24, 25, 31, 32, 52, 53, 54, 62, 63, 64):
        integers |= {2**bits + step for step in (-2, -1, 0, 1, 2, 3)}
    integers |= {-value for value in integers}
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array(sorted(v for v in integers if ends.min <= v <= ends.max), dtype)
    reals = [float(value) for value in sorted(integers)]
    reals += [math.nan, -math.nan, math.inf, -math.inf, -0.0, 0.1, -0.9, 0.5, 1.5, -2.5, 1e300]
    reals += [65503.9, 65519.99, 65520.0, 65536.0, 3.4e38, 3.5e38, 2.0**-14, 2.0**-24, 2.0**-25]
    reals += [2.0**-126, 2.0**-149, 2.0**-150, 5e-324, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40]
    reals += [bound + side for bound in (127, 128, 255, 256) for side in (-0.5, 0.0, 0.5)]
    with np.errstate(over="ignore"):
        if dtype.kind == "f":
            return np.array(reals).astype(dtype)
        imaginary = np.array(reals[::-1])
        return (np.array(reals) + 1j * np.where(np.isfinite(imaginary), imaginary, 0)).astype(dtype)


def numpys_answer(source: Array, target: DType) -> Array:
    """The cast by NumPy, with NaN as 0 and what does not fit saturated, which NumPy leaves open."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        result: Array = source.astype(target)
    if source.dtype.kind in "fc" and target.kind in "iu":
        ends = np.iinfo(target)
        for i, value in enumerate(source.real.astype(np.float64).tolist()):
            if math.isnan(value):
                result[i] = 0
            elif math.isinf(value) or not ends.min <= math.trunc(value) <= ends.max:
                result[i] = ends.max if value > 0 else ends.min
    return result


def bits(array: Array) -> list[str]:
    """Each element's bytes, so that NaN, -0 and payloads count."""
    raw = array.view(np.uint8).reshape(len(array), -1)
    return [row.tobytes().hex() for row in raw]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_edge_values_of_every_pair(source: DType, target: DType) -> None:
    values = edge_values(source)
    result = np.zeros(len(values), target)
    probe.cast(values, result)
    assert bits(result) == bits(numpys_answer(values, target))


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_strides_do_not_change_values(source: DType, target: DType) -> None:
    values = np.tile(edge_values(source), 4)
    dense = np.zeros(len(values), target)
    probe.cast(values, dense)
    spread = np.zeros(len(values) * 3, target)
    probe.cast(values[::-1], spread[::3])
    assert bits(spread[::3].copy()) == bits(dense[::-1].copy())
    assert not spread[1::3].any()


def test_every_half_widens_as_in_numpy() -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    for target in (np.float32, np.float64):
        result = np.zeros(65536, target)
        probe.cast(halves, result)
        with np.errstate(invalid="ignore"):  # signalling NaN
            expected = halves.astype(target)
        assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_random_bit_patterns_narrow_to_half_as_in_numpy(wide: type[np.floating[Any]]) -> None:
    random = np.random.default_rng(11)
    values = np.frombuffer(random.bytes(400_000 * np.dtype(wide).itemsize), wide)
    # Most patterns lie far outside of half's range; these lie within.
    near = (random.standard_normal(400_000) * 2.0 ** random.integers(-27, 17, 400_000)).astype(wide)
    for source in (values, near):
        result = np.zeros(len(source), np.float16)
        probe.cast(source, result)
        with np.errstate(all="ignore"):
            expected = source.astype(np.float16)
        assert np.array_equal(result.view(np.uint16), expected.view(np.uint16))
