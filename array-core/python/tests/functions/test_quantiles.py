"""Tests medians, percentiles and quantiles: NumPy's values, dtypes and errors, without a read from
the device.
"""

from __future__ import annotations

import warnings
from typing import Any

import arraycore as ac
import numpy as np
import pytest

RNG = np.random.default_rng(11)
M = RNG.normal(size=(5, 9, 4)).astype(np.float32)
HOLES = np.where(RNG.random(M.shape) < 0.3, np.float32(np.nan), M)
HOLES[1, :, 2] = np.nan
WHOLE = RNG.integers(-50, 50, (7, 6)).astype(np.int32)
METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
)  # fmt: skip
SHARES = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.999, 1.0]


def same(ours: ac.ndarray, theirs: Any, rtol: float = 3e-6) -> None:
    expected = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(ours.get(), expected, rtol=rtol, atol=rtol)


def numpys(name: str, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name)(*args, **kwargs)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_draws_as_numpy_does(method: str) -> None:
    for name, values, q, axis in (
        ("quantile", M[:, :, 0], 0.3, None),
        ("quantile", M[0], SHARES, 0),
        ("quantile", WHOLE, 0.3, 1),
        ("nanquantile", HOLES[:2], 0.3, 1),
        ("nanquantile", HOLES[1], SHARES, 0),
    ):
        same(getattr(ac, name)(ac.array(values), q, axis, method=method),
             numpys(name, values, q, axis, method=method))  # fmt: skip


def test_axes_shapes_and_outputs() -> None:
    a = ac.array(M)
    same(ac.quantile(a, 0.25, (0, 2)), np.quantile(M, 0.25, (0, 2)))
    same(ac.quantile(a, [0.25, 0.5], (-1, 0), keepdims=True),
         np.quantile(M, [0.25, 0.5], (-1, 0), keepdims=True))  # fmt: skip
    same(ac.quantile(a, [[0.25, 0.5]], 1), np.quantile(M, [[0.25, 0.5]], 1))
    same(ac.percentile(a[::-1, :, ::2], 40, 0), np.percentile(M[::-1, :, ::2], 40, 0))
    same(ac.nanpercentile(ac.array(HOLES), [5, 95], 0), numpys("nanpercentile", HOLES, [5, 95], 0))
    out = ac.empty((9, 4), "float32")
    assert ac.quantile(a, 0.5, 0, out) is out
    same(out, np.quantile(M, 0.5, 0))
    with pytest.raises(ValueError, match="shape"):
        ac.median(a, 0, ac.empty(3, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int64", "bool"])
def test_medians(dtype: str) -> None:
    values = (RNG.integers(0, 40, (4, 7, 6)) * (0.5 if "float" in dtype else 1)).astype(dtype)
    for axis in (None, 1):
        same(ac.median(ac.array(values), axis), np.median(values, axis), 0)
    same(ac.nanmedian(ac.array(values), (0, 2), keepdims=True),
         np.nanmedian(values, (0, 2), keepdims=True), 0)  # fmt: skip
    same(ac.median(ac.array(HOLES), 1), numpys("median", HOLES, 1))
    same(ac.nanmedian(ac.array(HOLES), 1), numpys("nanmedian", HOLES, 1))
    same(ac.median([3, 1, 2, 4]), np.median([3, 1, 2, 4]))
    # The mean of two infinities is infinity. To interpolate between them gives NaN.
    ends = ac.array(np.array([np.inf, np.inf], "float32"))
    assert (float(ac.median(ends)), np.isnan(float(ac.quantile(ends, 0.5)))) == (np.inf, True)


def test_of_nothing_there_is_none() -> None:
    none = ac.zeros((0, 3), "float32")
    same(ac.median(none, 0), np.full(3, np.nan, np.float32))
    same(ac.nanquantile(none, 0.5, 0), np.full(3, np.nan, np.float32))
    same(ac.median(none, 1), np.zeros(0, np.float32))
    with pytest.raises(IndexError, match="no element"):
        ac.quantile(none, 0.5, 0)


def test_dtypes_follow_numpy() -> None:
    a = ac.array(M)
    assert ac.quantile(a, 0.5).dtype == "float32"
    assert ac.quantile(a, [0.5]).dtype == np.quantile(M, [0.5]).dtype == "float64"
    assert ac.quantile(a, np.array([0.5], "float32")).dtype == "float32"
    assert ac.quantile(ac.array(WHOLE), 0.5).dtype == "float64"
    assert ac.quantile(ac.array(WHOLE), 0.5, method="lower").dtype == "int32"


def test_what_is_refused() -> None:
    a = ac.array(M)
    with pytest.raises(ValueError, match=r"range \[0, 1\]"):
        ac.quantile(a, 1.5)
    with pytest.raises(ValueError, match=r"range \[0, 100\]"):
        ac.percentile(a, [np.nan])
    with pytest.raises(ValueError, match="not a valid method"):
        ac.quantile(a, 0.5, method="middle")
    with pytest.raises(ValueError, match="1d"):
        ac.quantile(a, np.full((1, 1, 1), 0.5))
    with pytest.raises(ValueError, match="repeated axis"):
        ac.median(a, (0, -3))
    with pytest.raises(TypeError, match="real numbers"):
        ac.quantile(ac.zeros(3, "complex64"), 0.5)
    with pytest.raises(TypeError, match="discrete method"):
        ac.quantile(ac.zeros(3, "bool"), 0.5)
    with pytest.raises(NotImplementedError, match="real numbers"):
        ac.median(ac.zeros(3, "complex64"))
    with pytest.raises(ValueError, match="weights"):
        ac.quantile(a, 0.5, weights=M)


def test_weights_and_quantiles_of_the_device() -> None:
    weights = np.arange(1, M.size + 1, dtype=np.float32).reshape(M.shape)
    q = np.array([0.25, 0.5], np.float32)
    for axis in (None, 0):
        ours = ac.quantile(ac.array(M), ac.array(q), axis)
        np.testing.assert_allclose(ours.get(), np.quantile(M, q, axis), 1e-6)
        options = {"axis": axis, "method": "inverted_cdf"}
        ours = ac.quantile(ac.array(M), q, weights=ac.array(weights), **options)
        theirs = np.quantile(M, q, weights=weights, **options)
        np.testing.assert_array_equal(ours.get(), theirs)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_nothing_comes_back(name: str) -> None:
    a = ac.array(HOLES)
    for call in (lambda: getattr(ac, name)(a, 1), lambda: ac.nanquantile(a, 0.2, 1)):
        call()
        before = ac.counters()
        call()
        after = ac.counters()
        assert [after[key] - before[key] for key in ("cpu_ops", "bytes_down")] == [0, 0]
