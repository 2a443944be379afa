"""Tests reductions and running totals: arguments, dtypes, errors, launches. The parity suite
compares more values.
"""

from __future__ import annotations

from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._core.reduction_calls import tolerance
from arraycore._math import reductions

A = np.array([[1.5, -2.0, 0.25], [4.0, 8.0, -1.0]], np.float32)


def same(result: Any, expected: Any) -> None:
    wanted = np.asarray(expected)
    assert result.dtype == wanted.dtype
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result.get(), wanted, rtol=2e-6)


@pytest.mark.parametrize("name", sorted(reductions.__all__))
def test_every_function_is_numpys_over_all_and_along_an_axis(name: str) -> None:
    a = ac.array(A)
    theirs = getattr(np, name)
    same(getattr(ac, name)(a), _as_ours(theirs(A)))
    same(getattr(ac, name)(a, axis=1), _as_ours(theirs(A, axis=1)))
    same(getattr(ac, name)(a, -2), _as_ours(theirs(A, -2)))


def _as_ours(value: Any) -> Any:
    """Convert NumPy's integer results to int64, which arraycore returns on every platform."""
    result = np.asarray(value)
    return result.astype(np.int64) if result.dtype.kind == "i" else result


@pytest.mark.parametrize(
    "name",
    [
        "sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin",
        "cumsum", "cumprod",
    ],
)  # fmt: skip
def test_arrays_have_the_method(name: str) -> None:
    same(getattr(ac.array(A), name)(0), _as_ours(getattr(A, name)(0)))
    same(getattr(ac.array(A), name)(), _as_ours(getattr(A, name)()))


def test_numbers_are_summed_in_the_dtype_that_numpy_takes() -> None:
    for given, wanted in (("?", "q"), ("b", "q"), ("B", "Q"), ("I", "Q"), ("e", "e"), ("F", "F")):
        a = ac.ones(5, given)
        assert a.sum().dtype == np.dtype(wanted)
        assert a.prod().dtype == np.dtype(wanted)
        assert a.cumsum().dtype == np.dtype(wanted)
        assert a.max().dtype == np.dtype(given)
    bytes_ = ac.full(3, 100, "int8")
    assert int(bytes_.sum()) == 300
    assert int(bytes_.sum(dtype="int8")) == 300 - 256
    assert bytes_.mean().dtype == np.float64
    assert bytes_.std(dtype="float32").dtype == np.float32
    assert ac.ones(3, "complex64").var().dtype == np.float32
    out = ac.zeros((), "int8")
    assert bytes_.sum(out=out) is out
    assert int(out) == 300 - 256


def test_a_half_is_summed_in_single_precision() -> None:
    a = ac.full(5000, 1, "float16")
    assert float(a.sum()) == 5000 - 5000 % 4  # the nearest half
    assert float(a.mean()) == 1


def test_axes_may_be_several_or_kept() -> None:
    box = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    a = ac.array(box)
    same(a.sum((0, 2)), box.sum((0, 2)))
    same(a.sum((0, -1), keepdims=True), box.sum((0, -1), keepdims=True))
    same(a.max((), keepdims=True), box)
    same(a.argmax(1, keepdims=True), _as_ours(box.argmax(1, keepdims=True)))
    same(a[:, ::-1].T.sum(1), box[:, ::-1].T.sum(1))


def test_results_go_where_they_are_told() -> None:
    a = ac.array(A)
    out = ac.zeros((2, 3), "float32")
    assert ac.cumsum(a, 1, out=out) is out
    np.testing.assert_allclose(out.get(), A.cumsum(1))
    wide = ac.zeros((2, 2), "float64")
    a.sum(1, out=wide[:, 0])
    np.testing.assert_allclose(wide.get(), np.stack([A.sum(1), [0, 0]], axis=1))
    a.cumsum(0, out=a)  # a scan may write what it reads
    np.testing.assert_allclose(a.get(), A.cumsum(0))
    with pytest.raises(ValueError, match="shape") as error:
        a.sum(1, out=ac.zeros(3, "float32"))
    assert getattr(error.value, "code", "") == "out_shape"
    with pytest.raises(TypeError, match="Results go to"):
        a.sum(out=np.zeros(()))


def test_only_chosen_elements_count() -> None:
    a, mask = ac.array(A), ac.array(A > 0)
    same(a.sum(where=mask), A.sum(where=A > 0))
    same(a.mean(1, where=mask), A.mean(1, where=A > 0))
    same(a.max(0, where=mask, initial=-5), A.max(0, where=A > 0, initial=np.float32(-5)))
    same(ac.sum(a, where=mask[0]), A.sum(where=A[0] > 0))
    same(a.sum(initial=10), A.sum(initial=10))
    with pytest.raises(ValueError, match="specify 'initial'") as error:
        a.max(where=mask)
    assert getattr(error.value, "code", "") == "where_needs_initial"
    with pytest.raises(TypeError, match="bool"):
        a.sum(where=a)


def test_nothing_has_an_identity_or_raises() -> None:
    none = ac.zeros((0, 3), "float32")
    same(none.sum(0), np.zeros(3, np.float32))
    same(none.prod(), np.float32(1))
    same(none.max(1), np.zeros(0, np.float32))
    same(none.max(0, initial=2), np.full(3, 2, np.float32))
    assert np.isnan(none.mean().get())
    for wrong in (none.max, none.argmin, lambda: none.sum(initial=None), none.ptp):
        with pytest.raises(ValueError, match=r"which has no identity|empty sequence") as error:
            wrong()
        assert getattr(error.value, "code", "") == "empty_reduction"


def test_axes_that_are_not_there_raise_as_numpys_do() -> None:
    a = ac.array(A)
    with pytest.raises(np.exceptions.AxisError):
        a.sum(2)
    with pytest.raises(IndexError):
        a.cumsum(-3)
    with pytest.raises(ValueError, match="duplicate value"):
        a.sum((0, -2))
    with pytest.raises(TypeError):
        a.argmax((0, 1))
    with pytest.raises(TypeError, match="Unsupported type"):
        ac.sum("text")


def test_the_first_nan_or_the_first_of_the_largest_is_found() -> None:
    values = np.array([3, 7, 7, -7, -7], np.float32)
    assert int(ac.array(values).argmax()) == 1
    assert int(ac.array(values).argmin()) == 3
    values[[2, 4]] = np.nan
    a = ac.array(values)
    assert (int(a.argmax()), int(a.argmin())) == (2, 2)
    assert (int(ac.nanargmax(a)), int(ac.nanargmin(a))) == (1, 3)
    assert int(ac.nanargmax(a[2::2])) == -1  # NumPy raises; CuPy too gives a number
    assert np.isnan(float(a.max()))
    assert float(ac.nanmax(a)) == 7
    ends = np.array([0, -(2**63), 2**63 - 1], np.int64)
    assert (int(ac.array(ends).argmin()), int(ac.array(ends).argmax())) == (1, 2)


def test_a_variance_far_from_zero_keeps_its_digits() -> None:
    values = (10_000 + np.arange(1000) % 7).astype(np.float32)
    np.testing.assert_allclose(float(ac.array(values).var()), values.astype(float).var(), rtol=1e-4)
    np.testing.assert_allclose(float(ac.array(values).std(ddof=1)), values.std(ddof=1, dtype=float),
                               rtol=1e-4)  # fmt: skip


def test_averages_are_weighted() -> None:
    a, weights = ac.array(A), np.array([1, 2, 5], np.float32)
    w = ac.array(weights)
    same(ac.average(a), np.average(A))
    same(ac.average(a, 1, w), np.average(A, 1, weights))
    mean, scale = ac.average(a, 1, w, returned=True)
    same(mean, np.average(A, 1, weights))
    same(scale, np.full(2, 8, np.float32))
    _, count = ac.average(a, 0, returned=True)
    same(count, np.full(3, 2, np.float32))
    with pytest.raises(TypeError, match="Axis must be specified"):
        ac.average(a, None, w)
    with pytest.raises(ValueError, match="consistent"):
        ac.average(a, 0, w)


def test_ufuncs_reduce_in_order_where_order_counts() -> None:
    a = ac.array(A)
    same(ac.subtract.reduce(a, axis=1), np.subtract.reduce(A, axis=1))
    same(ac.divide.accumulate(a), np.divide.accumulate(A))
    same(ac.subtract.reduce(a, 1, initial=3), np.subtract.reduce(A, 1, initial=3))
    same(ac.gcd.reduce(ac.array([12, 30, 18], "int64")), np.int64(6))
    with pytest.raises(ValueError, match="not reorderable") as error:
        ac.subtract.reduce(a, axis=(0, 1))
    assert getattr(error.value, "code", "") == "not_reorderable"
    for wrong in (ac.sqrt.reduce, ac.divmod.accumulate, ac.sqrt.outer):
        with pytest.raises(ValueError, match="only supported for"):
            wrong(*(a, a)[: 2 if wrong == ac.sqrt.outer else 1])
    with pytest.raises(TypeError, match="its results are no operands"):
        ac.less.reduce(a)
    with pytest.raises(TypeError, match="scalar"):
        ac.add.accumulate(ac.array(3.0))


def test_outer_takes_each_with_each() -> None:
    a, b = ac.array(A), ac.array(np.array([1, 2], np.float32))
    same(ac.multiply.outer(a, b), np.multiply.outer(A, np.array([1, 2], np.float32)))
    same(ac.add.outer(b, 3), np.add.outer(np.array([1, 2], np.float32), 3))


def test_numpys_functions_of_our_arrays_are_ours() -> None:
    a = ac.array(A)
    same(np.add.reduce(a, axis=1), A.sum(1))
    same(np.maximum.accumulate(a, axis=1), np.maximum.accumulate(A, axis=1))


@pytest.mark.parametrize(
    ("name", "launches"),
    [("sum", 1), ("argmax", 1), ("mean", 1), ("var", 2), ("ptp", 1), ("cumsum", 1), ("any", 1)],
)
def test_a_call_is_one_crossing_and_nothing_comes_back(name: str, launches: int) -> None:
    a = ac.array(np.ones((300, 40), np.float32))
    for axis in (0, 1):
        getattr(ac, name)(a, axis=axis)
        before = ac.counters()
        result = getattr(ac, name)(a, axis=axis)
        after = ac.counters()
        assert after["crossings"] - before["crossings"] == 1
        assert after["dispatches"] - before["dispatches"] == launches
        assert (after["cpu_ops"], after["bytes_down"]) == (0, 0)
        del result


@pytest.mark.parametrize("shape", [(70_001,), (3, 9_000), (5_000, 3), (300, 70), (2_500, 9)])
def test_long_rows_columns_and_short_rows(shape: tuple[int, ...]) -> None:
    values = (np.arange(np.prod(shape)) * 7919 % 1013 - 500).reshape(shape).astype(np.int32)
    a = ac.array(values)
    for axis in (None, *range(len(shape))):
        same(a.sum(axis), values.sum(axis, dtype=np.int64))
        same(a.max(axis), values.max(axis))
        same(a.argmin(axis), _as_ours(values.argmin(axis)))
        same(a.cumsum(axis), values.cumsum(axis, dtype=np.int64))


def test_tolerances_grow_with_what_is_reduced() -> None:
    assert tolerance("max", 1_000) == 0
    assert 5 < tolerance("sum", 1_000) < tolerance("sum", 100_000) < 30
    assert tolerance("prod", 100, True) > tolerance("prod", 100)
