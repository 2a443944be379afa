"""Tests sorting, searching and counting: NumPy's results, and which calls read from the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

RNG = np.random.default_rng(3)
DTYPES = "?bBhHiIqQefdFD"


def values_of(letter: str, shape: tuple[int, ...]) -> Any:
    """Return random values with ties. Floats include NaN, infinities and both zeros."""
    whole = RNG.integers(-9, 9, size=shape)
    if letter in "?BHIQ":
        return np.abs(whole).astype(letter)
    if letter not in "efdFD":
        return whole.astype(letter)
    imaginary = 1j * RNG.integers(-2, 2, size=shape) if letter in "FD" else 0
    made = (whole / 2 + imaginary).astype(letter)
    flat = made.reshape(-1)
    for place, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0, np.nan)):
        flat[place::17] = value
    if letter in "FD":
        flat[6::17] = complex(2, np.nan)
        flat[7::17] = complex(np.nan, 1)
    return made


def same(ours: Any, theirs: Any) -> None:
    expected = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(ours.get(), expected)


@pytest.mark.parametrize("letter", DTYPES)
def test_sorts_are_numpys(letter: str) -> None:
    for shape, axis in (((90,), 0), ((5, 33, 4), 1), ((7, 20), -1), ((40, 3), 0), ((1,), 0)):
        x = values_of(letter, shape)
        for view in (x, x[::-1]):
            a = ac.array(x) if view is x else ac.array(x)[::-1]
            same(ac.sort(a, axis), np.sort(view, axis))
            same(
                ac.argsort(a, axis).astype("int64"),
                np.argsort(view, axis, kind="stable").astype("q"),
            )
    for shape, axis in (((3, 0), 1), ((0, 3), 1)):
        same(ac.sort(ac.zeros(shape, letter), axis), np.zeros(shape, letter))


@pytest.mark.parametrize("count", [2, 3, 31, 32, 33, 100, 257])
def test_every_length_is_sorted(count: int) -> None:
    x = RNG.permutation(count).astype(np.float32)
    same(ac.sort(ac.array(x)), np.sort(x))


def test_extremes_are_sorted() -> None:
    for letter in "bBhHiIqQ":
        ends = np.iinfo(letter)
        x = np.array([ends.max, 0, ends.min, 1, ends.max - 1, ends.min + 1], letter)
        same(ac.sort(ac.array(x)), np.sort(x))
    for letter in "efd":
        limits = np.finfo(letter)
        x = np.array([limits.max, 1, -limits.max, limits.tiny, -limits.tiny, np.inf, -1, 0], letter)
        same(ac.sort(ac.array(x)), np.sort(x))


def test_methods_sort_in_place() -> None:
    x = RNG.normal(size=(6, 7)).astype(np.float32)
    a = ac.array(x)
    a[:, ::-1].sort()
    np.testing.assert_array_equal(a.get()[:, ::-1], np.sort(x))
    a = ac.array(x)
    a.sort(0)
    same(a, np.sort(x, 0))
    a = ac.array(x)
    a.partition(3)
    assert (a.get()[:, 3] == np.sort(x)[:, 3]).all()
    same(ac.array(x).argsort(), np.argsort(x).astype("q"))
    places = ac.array(x).argpartition(2, 0).get()
    assert (np.take_along_axis(x, places, 0)[2] == np.sort(x, 0)[2]).all()


def test_partitions_are_sorted() -> None:
    x = RNG.normal(size=50).astype(np.float32)
    parted = ac.partition(ac.array(x), [5, -3]).get()
    assert (parted[[5, -3]] == np.sort(x)[[5, -3]]).all()
    places = ac.argpartition(ac.array(x), 9).get()
    assert x[places[9]] == np.sort(x)[9]
    with pytest.raises(ValueError, match="out of bounds"):
        ac.partition(ac.array(x), 50)


def test_several_keys_order_by_the_last_first() -> None:
    keys = RNG.integers(0, 4, size=(3, 40))
    same(ac.lexsort([ac.array(key) for key in keys]), np.lexsort(keys).astype("q"))
    table = RNG.integers(0, 3, size=(2, 5, 30)).astype(np.float32)
    for axis in (0, 1, -1):
        same(ac.lexsort(ac.array(table), axis), np.lexsort(table, axis).astype("q"))


def test_complex_results_of_sort_complex() -> None:
    for letter in "bifdFD":
        x = values_of(letter, (30,))
        same(ac.sort_complex(ac.array(x)), np.sort_complex(x))


@pytest.mark.parametrize("letter", DTYPES)
def test_distinct_values_are_numpys(letter: str) -> None:
    x = values_of(letter, (60,))
    if letter in "FD":
        x = x[~np.isnan(x)]
    a = ac.array(x)
    same(ac.unique(a), np.unique(x))
    ours = ac.unique(a, return_index=True, return_counts=True)
    theirs = np.unique(x, return_index=True, return_counts=True)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.get(), other)


def test_distinct_values_in_all_forms() -> None:
    x = np.array([[3, 1, 3], [2, 1, 9]], np.int32)
    ours = ac.unique(ac.array(x), return_inverse=True)
    theirs = np.unique(x, return_inverse=True)
    np.testing.assert_array_equal(ours[0].get(), theirs[0])
    np.testing.assert_array_equal(ours[0].get()[ours[1].get()], x)
    n = np.array([np.nan, 1, np.nan, 1], np.float32)
    same(ac.unique(ac.array(n), equal_nan=False), np.unique(n, equal_nan=False))
    for values in (np.zeros(0, np.float32), np.ones(1, np.int8)):
        same(ac.unique(ac.array(values)), np.unique(values))
    distinct, indices, inverse, counts = ac.unique_all(ac.array(x))
    assert distinct.tolist() == [1, 2, 3, 9]
    assert indices.tolist() == [1, 3, 0, 5]
    assert counts.tolist() == [2, 1, 2, 1]
    assert inverse.tolist() == [[2, 0, 2], [1, 0, 3]]
    assert [each.tolist() for each in ac.unique_counts(ac.array(x))] == [[1, 2, 3, 9], [2, 1, 2, 1]]
    assert ac.unique_inverse(ac.array(x)).inverse_indices.tolist() == inverse.tolist()
    assert ac.unique_values(ac.array(x)).tolist() == [1, 2, 3, 9]


def test_sets_are_numpys() -> None:
    x, y = (RNG.integers(0, 20, size=30).astype(np.int32) for _ in range(2))
    a, b = ac.array(x), ac.array(y)
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(ac, name)(a, b), getattr(np, name)(x, y))
    same(ac.setdiff1d(a, b, assume_unique=True), np.setdiff1d(x, y, assume_unique=True))
    table = x.reshape(5, 6)
    same(ac.isin(ac.array(table), b), np.isin(table, y))
    same(ac.isin(a, b, invert=True), np.isin(x, y, invert=True))
    same(ac.isin(a, b[:0]), np.isin(x, y[:0]))
    n = np.array([np.nan, 1], np.float32)
    same(ac.isin(ac.array(n), ac.array(n)), np.isin(n, n))


SORTED = np.sort(RNG.integers(0, 30, size=25)).astype(np.float32)
ASKED = np.concatenate([SORTED[::3], SORTED[::4] + 0.5, [-5, 99, np.nan, np.inf, -np.inf]])
Call = Callable[[Any, Callable[..., Any]], Any]
COUNTS: dict[str, Call] = {
    "searchsorted": lambda m, a: [m.searchsorted(a(SORTED), a(ASKED.astype("f"))),
                                  m.searchsorted(a(SORTED), a(ASKED), "right"),
                                  m.searchsorted(a(np.append(SORTED, np.nan)),
                                  a(ASKED[1:].reshape(-1, 2))),
                                  m.searchsorted(a(SORTED.astype("i")), 7),
                                  m.searchsorted(a(SORTED[::-1]), a(ASKED),
                                  sorter=np.arange(25)[::-1]),
                                  a(SORTED).searchsorted(3.5), m.searchsorted(a(SORTED[:0]), 1),
                                  m.searchsorted(a([False, True, True]), True, "right")],
    "digitize": lambda m, a: [m.digitize(a(ASKED), np.unique(SORTED)),
                              m.digitize(a(ASKED), np.unique(SORTED), right=True),
                              m.digitize(a(ASKED), a(np.unique(SORTED)[::-1])),
                              m.digitize(a(ASKED), np.unique(SORTED)[::-1], True)],
    "bincount": lambda m, a: [m.bincount(a(SORTED.astype("i"))),
                              m.bincount(a(np.array([3, 1], "u1"))),
                              m.bincount(a(SORTED.astype("q")), minlength=50),
                              m.bincount(a(SORTED.astype("i")), weights=a(SORTED / 4)),
                              m.bincount(a(np.zeros(0, "i"))), m.bincount(a(np.array([], "i")),
                              None, 3)],
    "histogram": lambda m, a: [m.histogram(a(SORTED)), m.histogram(a(SORTED), 7, (3, 20)),
                               m.histogram(a(SORTED), [0, 3, 3.5, 20]),
                               m.histogram(a(SORTED.astype("h")), 5),
                               m.histogram(a(SORTED), 5, density=True),
                               m.histogram(a(SORTED), 4, weights=a(SORTED / 2)),
                               m.histogram(a(SORTED[:0]), 3), m.histogram(a(SORTED[:1]), 3)],
    "histogram_bin_edges": lambda m, a: [m.histogram_bin_edges(a(SORTED), 6),
                                         m.histogram_bin_edges(a(SORTED), 3, (0, 9))],
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_searches_and_counts_are_numpys(name: str) -> None:
    ours, theirs = COUNTS[name](ac, ac.array), COUNTS[name](np, np.array)
    for one, other in zip(ours, theirs, strict=True):
        pairs = zip(one, other, strict=True) if isinstance(other, tuple) else [(one, other)]
        for result, expected in pairs:
            assert result.shape == np.shape(expected)
            np.testing.assert_allclose(result.get(), expected, rtol=1e-6)
            if np.asarray(expected).dtype != np.intp:
                assert result.dtype == np.asarray(expected).dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda m, a: m.sort(a([1, 2]), 1),
        lambda m, a: m.sort(a(3)),
        lambda m, a: m.sort(a([1, 2]), kind="bubble"),
        lambda m, a: m.lexsort([a([1, 2]), a([1])]),
        lambda m, a: m.searchsorted(a([[1, 2]]), 1),
        lambda m, a: m.searchsorted(a([1, 2]), 1, "middle"),
        lambda m, a: m.digitize(a([1, 2]), [1, 3, 2]),
        lambda m, a: m.bincount(a([1, -2])),
        lambda m, a: m.bincount(a([1.5])),
        lambda m, a: m.bincount(a([1]), minlength=-1),
        lambda m, a: m.bincount(a([1]), weights=a([1.0, 2.0])),
        lambda m, a: m.histogram(a([1, 2]), [3, 1]),
    ],
)
def test_what_numpy_refuses_is_refused(call: Call) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)) as theirs:
        call(np, np.array)
    kind = next(each for each in (ValueError, TypeError) if isinstance(theirs.value, each))
    with pytest.raises(kind):
        call(ac, ac.array)


def test_sorting_stays_where_the_array_lives() -> None:
    a = ac.array(RNG.normal(size=300).astype(np.float32))
    wanted = ac.array(RNG.normal(size=20).astype(np.float32))
    before = ac.counters()
    ac.searchsorted(ac.sort(a), wanted)
    ac.argsort(a)
    ac.lexsort([a, a])
    after = ac.counters()
    for name in ("bytes_up", "bytes_down", "cpu_ops", "sync_waits"):
        assert after[name] == before[name], name
    ac.unique(a)
    assert ac.counters()["bytes_down"] - after["bytes_down"] == 4
