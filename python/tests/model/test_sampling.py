"""Tests points that are drawn from a space: they are inside their ranges, uniform and independent.
Sobol's points are those that SciPy computes, and are spread more evenly than random ones.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hyperflock import choice, integer, random_point, sobol_point, uniform
from hyperflock._model.sampling import (
    UNIT_BITS,
    in_range,
    portable_exp,
    portable_log,
    random_unit,
    sobol_bits,
    sobol_unit,
)
from hyperflock._model.space import dimensions_of
from hyperflock._transport.messages import MAX_DIMENSIONS
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import qmc

# With a correct generator, a test's p-value is below this limit in one of a thousand cases. The
# seeds are fixed, so a test always has the same outcome.
LEAST_P = 1e-3
SEEDS = (0, 1, 2, 12345, 2**53 - 1)

_numbers = st.floats(-1e300, 1e300)
_units = st.integers(0, 2**53 - 1)


def _coordinates(unit: Any, seed: int, points: int, dimensions: int) -> Any:
    return np.array([[unit(seed, n, d) for d in range(dimensions)] for n in range(points)])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unit", [random_unit, sobol_unit])
def test_each_coordinate_is_uniform(unit: Any, seed: int) -> None:
    points = _coordinates(unit, seed, 2000, 6)
    for column in points.T:
        counts, _ = np.histogram(column, 20, (0, 1))
        assert stats.chisquare(counts).pvalue > LEAST_P
        assert stats.kstest(column, "uniform").pvalue > LEAST_P


@pytest.mark.parametrize("seed", SEEDS)
def test_random_coordinates_are_independent_of_each_other_and_of_the_trial_before(
    seed: int,
) -> None:
    points = _coordinates(random_unit, seed, 2000, 4)
    pairs = list(itertools.combinations(points.T, 2))
    pairs += [(column[:-1], column[1:]) for column in points.T]
    for one, other in pairs:
        counts, _, _ = np.histogram2d(one, other, 6, [(0, 1), (0, 1)])
        assert stats.chisquare(counts.ravel()).pvalue > LEAST_P


def test_neighbouring_seeds_give_independent_points() -> None:
    one, other = (_coordinates(random_unit, seed, 2000, 1)[:, 0] for seed in (7, 8))
    counts, _, _ = np.histogram2d(one, other, 6, [(0, 1), (0, 1)])
    assert stats.chisquare(counts.ravel()).pvalue > LEAST_P


def test_sobol_s_points_are_scipy_s_before_scrambling() -> None:
    theirs = qmc.Sobol(MAX_DIMENSIONS, scramble=False, bits=UNIT_BITS).random(512)
    mine = np.array(
        [[sobol_bits(n, d) * 2.0**-UNIT_BITS for d in range(MAX_DIMENSIONS)] for n in range(512)]
    )
    np.testing.assert_array_equal(mine, theirs)


def test_a_late_point_of_sobol_s_sequence_is_scipy_s() -> None:
    # With more than 30 bits, SciPy 1.17's fast_forward raises an error. The first 2^30 points of
    # the sequence need no more bits.
    sampler = qmc.Sobol(5, scramble=False, bits=30)
    sampler.fast_forward(1_000_003)
    mine = [sobol_bits(1_000_003, d) * 2.0**-UNIT_BITS for d in range(5)]
    np.testing.assert_array_equal(mine, sampler.random(1)[0])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 5])
def test_sobol_s_discrepancy_is_below_random_s(seed: int, dimensions: int) -> None:
    mine = qmc.discrepancy(_coordinates(sobol_unit, seed, 256, dimensions))
    random = qmc.discrepancy(_coordinates(random_unit, seed, 256, dimensions))
    assert mine < random / 4


@pytest.mark.parametrize("dimension", [0, 1, 17, MAX_DIMENSIONS - 1])
def test_each_interval_has_one_point_of_a_scrambled_sequence(dimension: int) -> None:
    for seed in SEEDS:
        cells = {int(sobol_unit(seed, n, dimension) * 128) for n in range(128)}
        assert len(cells) == 128


def test_the_seed_changes_the_points_and_the_trial_alone_determines_them() -> None:
    space = {"x": uniform(0, 1), "c": choice(["a", "b", "c"])}
    for point in (random_point, sobol_point):
        first = [point(space, n, seed=1) for n in range(20)]
        assert first == [point(space, n, seed=1) for n in range(20)]
        assert first != [point(space, n, seed=2) for n in range(20)]
        assert first != [point(space, n + 1, seed=1) for n in range(20)]


def test_values_have_python_s_types() -> None:
    space: Any = {
        "float": uniform(1, 2),
        "whole": integer(1, 2),
        "tuples": [(32, 64)],
        "dicts": choice([{"name": "sgd", "lr": 1}]),
        "numpy": integer(np.int64(3), np.int64(3)),
    }
    point = random_point(space, 0)
    assert type(point["float"]) is float
    assert type(point["whole"]) is int
    assert repr([point["tuples"], point["dicts"], point["numpy"]]) == (
        "[(32, 64), {'name': 'sgd', 'lr': 1}, 3]"
    )


def test_steps_and_whole_numbers_come_equally_often_with_both_ends() -> None:
    space = {"step": uniform(0, 0.9, step=0.3), "whole": integer(2, 14, step=4)}
    points = [random_point(space, n, seed=3) for n in range(2000)]
    for name, wanted in (("step", [0.0, 0.3, 0.6, 0.9]), ("whole", [2, 6, 10, 14])):
        values, counts = np.unique([p[name] for p in points], return_counts=True)
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
        assert stats.chisquare(counts).pvalue > LEAST_P
    assert {p["step"] for p in points} >= {0.0, 0.9}


def test_logarithms_are_uniform_and_whole_ones_as_often_as_in_optuna() -> None:
    space = {"rate": uniform(1e-5, 0.1, log=True), "width": integer(1, 8, log=True)}
    points = [random_point(space, n, seed=5) for n in range(3000)]
    share = [math.log(p["rate"] / 1e-5) / math.log(1e4) for p in points]
    assert stats.kstest(share, "uniform").pvalue > LEAST_P
    counts = np.bincount([p["width"] for p in points], minlength=9)[1:]
    edges = np.log(np.arange(0.5, 9))
    expected = 3000 * np.diff(edges) / (edges[-1] - edges[0])
    assert stats.chisquare(counts, expected).pvalue > LEAST_P


@given(low=_numbers, width=st.floats(0, 1e300), unit=_units)
def test_floats_stay_inside_their_range(low: float, width: float, unit: int) -> None:
    high = low + width
    assert low <= _at(uniform(low, high), unit) <= high
    if low > 0:
        assert low <= _at(uniform(low, high, log=True), unit) <= high


@given(
    low=st.integers(-(2**40), 2**40),
    steps=st.integers(0, 2**20),
    step=st.integers(1, 2**20),
    unit=_units,
)
def test_whole_numbers_stay_on_their_steps(low: int, steps: int, step: int, unit: int) -> None:
    high = low + steps * step
    value = _at(integer(low, high, step=step), unit)
    assert low <= value <= high
    assert (value - low) % step == 0
    if low > 0:
        assert low <= _at(integer(low, high, log=True), unit) <= high


def _at(range_: Any, unit: int) -> Any:
    """Return the number at position ``unit`` * 2^-53 of a range, where 0 is its low end."""
    numbers: Any = dimensions_of({"x": range_}, "random")[0].range
    return in_range(numbers, unit * 2.0**-UNIT_BITS)


@given(x=st.floats(5e-324, 1.7e308, exclude_min=False))
def test_logarithm_and_exponential_are_close_to_libm_s(x: float) -> None:
    log = math.log(x)
    assert math.isclose(portable_log(x), log, rel_tol=1e-15, abs_tol=0)
    if -700 < log < 700:
        assert math.isclose(portable_exp(log), math.exp(log), rel_tol=1e-15)


def test_negative_number_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        random_point({"x": [1]}, -1)
