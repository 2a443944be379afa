"""Compares casts of every pair of dtypes, on edge values, with NumPy where NumPy defines the
result.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from array_core_fuzz import probe
from array_core_fuzz.probe import DTYPES
from parity.reference import cast
from parity.values import cast_values

Array = npt.NDArray[Any]
DType = np.dtype[Any]
PAIRS = list(itertools.product(DTYPES, repeat=2))


def edge_values(dtype: DType) -> Array:
    """Return the parity suite's values, and a NaN with a sign."""
    values = cast_values(dtype)
    return np.append(values, np.array(-math.nan, dtype)) if dtype.kind in "fc" else values


def bits(array: Array) -> list[str]:
    """Return each element's bytes as text, so that comparisons include the sign of 0 and NaN's
    payload.
    """
    raw = array.view(np.uint8).reshape(len(array), -1)
    return [row.tobytes().hex() for row in raw]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_edge_values_of_every_pair(source: DType, target: DType) -> None:
    values = edge_values(source)
    result = np.zeros(len(values), target)
    probe.cast(values, result)
    assert bits(result) == bits(cast(values, target))


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
    # Most bit patterns are far outside of float16's range; these numbers are within it.
    near = (random.standard_normal(400_000) * 2.0 ** random.integers(-27, 17, 400_000)).astype(wide)
    for source in (values, near):
        result = np.zeros(len(source), np.float16)
        probe.cast(source, result)
        with np.errstate(all="ignore"):
            expected = source.astype(np.float16)
        assert np.array_equal(result.view(np.uint16), expected.view(np.uint16))
