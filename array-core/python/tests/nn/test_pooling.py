"""Compares the values and gradients of pooling with NumPy's, window by window."""

from __future__ import annotations

import itertools
from typing import Any

import arraycore as ac
import numpy as np
import pytest

RNG = np.random.default_rng(3)
# A case has a shape, a window, a stride, and the padding before and after the data.
CASES: list[tuple[Any, ...]] = [
    ((3, 2, 8, 6), (2, 2), None, (0, 0), None),
    ((2, 3, 7, 8), (3, 2), (2, 2), (1, 0), (1, 1)),
    ((2, 3, 7, 5), (3, 3), (1, 2), (1, 1), (2, 1)),
    ((2, 2, 7, 7), (7, 7), None, (0, 0), None),
    ((2, 3, 9), (3,), (2,), (1,), None),
    ((2, 2, 4, 5, 6), (2, 3, 2), (2, 1, 2), (0, 1, 0), None),
    ((5, 6), (2, 3), None, (0, 0), None),  # all axes are pooled
    ((2, 3, 5, 4), (1, 1), (2, 3), (0, 0), (2, 2)),  # the last windows are beyond the edge
]
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}


def windows(
    x: Any, window: Any, stride: Any, padding: Any, behind: Any
) -> tuple[tuple[int, ...], Any]:
    """Return the spatial shape of the result, and an iterator over its places.

    For each place, the iterator yields the place's index and the elements of x in its window: each
    as its number in the window and its index into x.
    """
    stride, behind = stride or window, behind or padding
    space = x.shape[-len(window) :]
    shape = tuple(
        (s + p + q - k) // t + 1
        for s, p, q, k, t in zip(space, padding, behind, window, stride, strict=True)
    )

    def each() -> Any:
        for place in itertools.product(*map(range, shape)):
            starts = [at * t - p for at, t, p in zip(place, stride, padding, strict=True)]
            taps = []
            for number, tap in enumerate(itertools.product(*map(range, window))):
                at = tuple(s + k for s, k in zip(starts, tap, strict=True))
                if all(0 <= a < s for a, s in zip(at, space, strict=True)):
                    taps.append((number, (..., *at)))
            yield (..., *place), taps

    return shape, each()


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize(("shape", "window", "stride", "padding", "behind"), CASES)
def test_values_and_gradients(
    shape: Any, window: Any, stride: Any, padding: Any, behind: Any, dtype: str
) -> None:
    # There are few distinct values, so several elements of a window are the largest.
    x = RNG.integers(-3, 4, shape).astype(dtype)
    how = {"stride": stride, "padding": padding, "behind": behind}
    places_shape, each = windows(x, window, stride, padding, behind)
    planes, space = shape[: len(shape) - len(window)], shape[-len(window) :]
    gy = RNG.integers(-8, 9, planes + places_shape).astype(dtype)
    largest = np.full(gy.shape, -np.inf, dtype)
    places = np.full(gy.shape, -1, "int32")
    mean, gx_max, gx_mean = np.zeros(gy.shape), np.zeros(shape), np.zeros(shape)
    for place, taps in each:
        for number, at in taps:
            wins = (places[place] < 0) | (x[at] > largest[place])
            largest[place] = np.where(wins, x[at], largest[place])
            places[place] = np.where(wins, number, places[place])
            mean[place] += x[at].astype("d") / np.prod(window)
            gx_mean[at] += gy[place].astype("d") / np.prod(window)
        for number, at in taps:
            gx_max[at] += np.where(places[place] == number, gy[place], 0)

    data, gradient = ac.array(x), ac.array(gy)
    y, found = ac.nn.max_pool(data, window, **how)
    np.testing.assert_array_equal(y.get(), largest)
    np.testing.assert_array_equal(found.get(), places)
    assert y.dtype == dtype
    assert found.dtype == "int32"
    gx = ac.nn.max_pool_gradient(gradient, found, space, window, **how)
    np.testing.assert_array_equal(gx.get(), gx_max)
    tolerance = TOLERANCE[dtype]
    for got, wanted in (
        (ac.nn.mean_pool(data, window, **how), mean),
        (ac.nn.mean_pool_gradient(gradient, space, window, **how), gx_mean),
    ):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.get(), wanted, rtol=tolerance, atol=tolerance * 4)


def test_views_numbers_and_nan() -> None:
    x = np.arange(2 * 3 * 6 * 6, dtype="float32").reshape(2, 3, 6, 6)
    x[0, 0, 1, 1] = x[0, 0, 1, 0] = np.nan
    turned = ac.array(x).transpose(0, 1, 3, 2)
    y, places = ac.nn.max_pool(turned, 2)
    wanted = x.transpose(0, 1, 3, 2).reshape(2, 3, 3, 2, 3, 2).max((3, 5))
    np.testing.assert_array_equal(y.get(), wanted)
    assert int(places[0, 0, 0, 0]) == 1
    gx = ac.nn.max_pool_gradient(y[..., ::-1], places[..., ::-1], 6, 2)
    assert gx.shape == (2, 3, 6, 6)
    empty = ac.nn.mean_pool(ac.zeros((0, 3, 4, 4), "float32"), 2)
    assert empty.shape == (0, 3, 2, 2)


def test_one_launch_each() -> None:
    x = ac.zeros((2, 3, 6, 6), "float32")
    before = ac.counters()["dispatches"]
    y, places = ac.nn.max_pool(x, 2)
    ac.nn.max_pool_gradient(y, places, 6, 2)
    assert ac.counters()["dispatches"] - before <= 3  # the zeros may have waited


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (lambda x: ac.nn.max_pool(x, 7), ValueError, "pool_shapes"),
        (lambda x: ac.nn.max_pool(x, 2, stride=0), ValueError, "pool_geometry"),
        (lambda x: ac.nn.max_pool(x, 2, padding=-1), ValueError, "pool_geometry"),
        (lambda x: ac.nn.max_pool(x, (1, 1, 1, 1)), ValueError, "pool_geometry"),
        (lambda x: ac.nn.mean_pool(x.astype("int32"), 2), NotImplementedError, "pool_dtype"),
        (lambda x: ac.nn.mean_pool_gradient(x, 4, 2), ValueError, "pool_shapes"),
        (lambda x: ac.nn.max_pool_gradient(x, x, 8, 2), NotImplementedError, "pool_dtype"),
        (lambda x: ac.nn.max_pool(x, 2, stride=(1, 2, 3)), ValueError, ""),
    ],
)
def test_refusals(call: Any, error: Any, code: str) -> None:
    with pytest.raises(error) as caught:
        call(ac.zeros((2, 3, 4, 4), "float32"))
    assert getattr(caught.value, "code", "") == code
