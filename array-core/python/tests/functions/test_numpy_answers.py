"""Tests functions where NumPy's answer needs care: NaN, zeros, single rows, orders of elements,
unsigned sizes. Every result is compared with NumPy's: value, dtype, shape, zeros' signs, error.
"""

# ruff: noqa: B023 - every function is called before its loop goes on
from __future__ import annotations

import io
import itertools
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest

NAN, INF = float("nan"), float("inf")
Call = Callable[[Any], Any]


def outcome(call: Call, m: Any) -> Any:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            return call(m)
    except (TypeError, ValueError, IndexError) as error:
        return next(kind for kind in (IndexError, TypeError, ValueError) if isinstance(error, kind))


def check(call: Call, tolerance: float = 0) -> None:
    """Compare what a call makes of arraycore with what it makes of NumPy."""
    mine, theirs = outcome(call, ac), outcome(call, np)
    if isinstance(theirs, type | bool):
        assert mine is theirs
        return
    if isinstance(theirs, tuple | list):
        assert type(mine) is type(theirs)
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs, strict=True):
            same(one, other, tolerance)
        return
    same(mine, theirs, tolerance)


def same(mine: Any, theirs: Any, tolerance: float) -> None:
    assert isinstance(mine, ac.ndarray), mine
    assert mine.dtype == theirs.dtype
    assert mine.shape == theirs.shape
    np.testing.assert_allclose(mine.get(), theirs, rtol=tolerance)
    if theirs.dtype.kind == "f":
        zeros = np.asarray(theirs) == 0
        np.testing.assert_array_equal(
            np.signbit(mine.get())[zeros], np.signbit(np.asarray(theirs))[zeros]
        )


# ---- orders of elements

VIEWS: dict[str, Callable[[Any], Any]] = {
    "rows reversed": lambda x: x[::-1],
    "gaps": lambda x: x[:, ::2],
    "columns reversed": lambda x: x[:, :, ::-1],
    "one row": lambda x: x[:, 1:2],
    "all": lambda x: x,
    "a new axis": lambda x: x[:, None],
    "empty": lambda x: x[:, :0],
}


@pytest.mark.parametrize("name", VIEWS)
def test_elements_are_flattened_in_numpys_orders(name: str) -> None:
    theirs = np.arange(24, dtype="int32").reshape(2, 3, 4)
    mine = ac.array(theirs)
    for axes in itertools.permutations(range(3)):
        views = [VIEWS[name](x.transpose(axes)) for x in (mine, theirs)]
        orders: tuple[Any, ...] = ("C", "F", "A", "K", "k", "f", None)
        for order in orders:
            for method in ("ravel", "flatten"):
                made, wanted = (getattr(view, method)(order) for view in views)
                np.testing.assert_array_equal(made.get(), wanted)
            np.testing.assert_array_equal(
                ac.ravel(views[0], order).get(), np.ravel(views[1], order)
            )


def test_a_broadcast_view_is_flattened_in_numpys_order() -> None:
    theirs = np.arange(3, dtype="int32")
    for axes in itertools.permutations(range(3)):
        mine = ac.broadcast_to(ac.array(theirs)[:, None], (2, 3, 4)).transpose(axes)
        wanted = np.broadcast_to(theirs[:, None], (2, 3, 4)).transpose(axes)
        np.testing.assert_array_equal(mine.ravel("K").get(), wanted.ravel("K"))


def test_ravel_of_a_transposed_array_in_memory_order_is_a_view() -> None:
    a = ac.arange(24).reshape(2, 3, 4)
    a.transpose(2, 0, 1).ravel("K")[5] = 100
    assert a.ravel()[5] == 100
    a.transpose(2, 0, 1).flatten("K")[6] = 100
    assert a.ravel()[6] == 6


@pytest.mark.parametrize("order", ["C", "F", "A", "K", "c", "f", "a", "k", None])
def test_asarray_returns_an_array_of_the_right_layout_itself(order: Any) -> None:
    theirs = np.arange(24.0).reshape(2, 3, 4)
    mine = ac.array(theirs)
    for name in ("all", "rows reversed", "transposed", "rows and columns exchanged"):
        a, b = (
            x.T if name == "transposed" else x.transpose(1, 0, 2) if "exch" in name
            else VIEWS[name](x)
            for x in (mine, theirs)
        )  # fmt: skip
        assert (ac.asarray(a, order=order) is a) == (np.asarray(b, order=order) is b)
        assert ac.array(a, order=order).strides == np.array(b, order=order).strides
        assert a.astype("float32", order=order).strides == b.astype("float32", order=order).strides
        assert a.copy(order).strides == b.copy(order).strides
        pair = (ac.array([a, a], order=order), np.array([b, b], order=order))
        assert pair[0].strides == pair[1].strides
    for make in ("zeros", "ones", "empty"):
        made, wanted = (
            outcome(lambda m: getattr(m, make)((2, 3), order=order), m) for m in (ac, np)
        )
        assert made is wanted or made.strides == wanted.strides


def test_reduced_view_merges_axes() -> None:
    a = ac.arange(24).reshape(2, 3, 4)
    cases = [
        (a, (24,)), (a.T, (4, 3, 2)), (a[:, :2], (2, 8)), (a[:, :, :2], (6, 2)),
        (a[:, 1:2], (2, 4)),
        (a[:, :, None], (24,)), (a[:1], (12,)), (a[:, :0], (0,)), (a[:1, :1, :1], (1,)),
        (a[0, 0], (4,)), (a[0, 0, 0], ()), (a.transpose(1, 0, 2), (3, 2, 4)), (a[::-1], (2, 12)),
        (ac.broadcast_to(a[:1], (2, 3, 4)), (2, 12)),
    ]  # fmt: skip
    for view, shape in cases:
        merged = view.reduced_view()
        assert merged.shape == shape
        np.testing.assert_array_equal(merged.ravel().get(), view.ravel().get())
    a.reduced_view()[5] = 100
    assert a[0, 1, 1] == 100
    assert a.astype("int32").reduced_view("float32").dtype == np.float32


# ---- functions of numbers


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
def test_sinc_is_one_at_zero(dtype: str) -> None:
    values = [0, 1, 2] if dtype.startswith("int") else [0.0, -0.0, 0.5, 6e-8, NAN]
    mine = ac.sinc(ac.array(values, dtype=dtype))
    wanted = np.sinc(np.array(values, dtype))
    assert mine.dtype == wanted.dtype
    error = float(np.finfo(wanted.dtype).eps)
    np.testing.assert_allclose(mine.get(), wanted, atol=4 * error)
    assert (mine.get()[0], wanted[0]) == (1, 1)


EDGES = {
    "falling": [3.0, 2.0, 1.0], "rising": [1.0, 2.0, 3.0], "falling from NaN": [NAN, 2.0, 1.0],
    "rising to NaN": [1.0, 2.0, NAN], "equal": [2.0, 2.0], "equal, then less": [2.0, 2.0, 1.0],
    "equal, then more": [2.0, 2.0, 3.0], "one": [1.0], "none": [], "only NaN": [NAN, NAN],
    "a number and NaN": [1.0, NAN], "not sorted": [1.0, 3.0, 2.0],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", EDGES)
def test_digitize_knows_nan_in_rising_and_falling_bins(name: str, dtype: str) -> None:
    x = [NAN, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, INF, -INF]
    for right in (False, True):
        call: Call = lambda m: m.digitize(m.array(x, dtype=dtype), EDGES[name], right)  # noqa: E731
        made = outcome(call, ac)
        wanted = outcome(call, np)
        if isinstance(wanted, type):
            assert made is wanted
            continue
        np.testing.assert_array_equal(made.get(), wanted)
        on_device = ac.digitize(ac.array(x, dtype=dtype), ac.array(EDGES[name], dtype=dtype), right)
        np.testing.assert_array_equal(on_device.get(), wanted)


@pytest.mark.parametrize("ends", [{}, {"left": -1.0}, {"left": -1.0, "right": -2.0}])
def test_interp_knows_nan_among_the_points(ends: dict[str, float]) -> None:
    x = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, NAN, INF, -INF]
    points = ([0.0, 1.0, 2.0], [NAN, 1.0, 2.0], [0.0, NAN, 2.0], [0.0, 1.0, NAN], [NAN] * 3,
              [-INF, 1.0, INF], [0.0, 1.0, 1.0])  # fmt: skip
    for xp in points:
        for fp in ([10.0, 20.0, 30.0], [10.0, NAN, 30.0], [10.0, INF, 30.0], [5.0, 5.0, 5.0]):
            check(lambda m: m.interp(m.array(x), m.array(xp), m.array(fp), **ends))
    check(lambda m: m.interp(m.array(x), m.array([0.0]), m.array([10.0]), **ends))


SHAPES = ((1, 3), (3, 1), (1, 1), (3,), (2, 3), (0,), (1, 0), (0, 1))


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_covariances_of_one_row_or_column_have_numpys_shape(
    shape: tuple[int, ...], rowvar: bool
) -> None:
    def values(m: Any) -> Any:
        return m.array(np.cos(np.arange(float(np.prod(shape)))).reshape(shape))

    for name in ("cov", "corrcoef"):
        check(lambda m: getattr(m, name)(values(m), rowvar=rowvar), 1e-12)
        check(lambda m: getattr(m, name)(values(m), values(m), rowvar=rowvar), 1e-12)


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64", "bool"])
def test_products_of_polynomials_have_no_leading_zeros(dtype: str) -> None:
    pairs: Any = (([0, 0, 1], [1, 2]), ([0, 1], [0, 0, 2]), ([0], [0]), ([0, 0], [1]),
                  ([1, -1], [1, 1]), ([0, 0], [0, 0]), ([], [1]), (3, [1, 2]))  # fmt: skip
    for p, q in pairs:
        check(lambda m: m.polymul(m.array(p, dtype=dtype), m.array(q, dtype=dtype)))
        if dtype == "float32" and isinstance(p, list):
            mine = ac.polymul([float(each) for each in p], [float(each) for each in q])
            np.testing.assert_array_equal(mine.get(), np.polymul(p, q))


# ---- axes and sizes


@pytest.mark.parametrize("size", [np.uint64(2), np.uint8(2), np.int8(2), 2])
def test_sizes_may_be_unsigned(size: Any) -> None:
    for call in (
        lambda m: m.eye(size), lambda m: m.eye(3, k=size), lambda m: m.eye(3, size, k=-1),
        lambda m: m.eye(4, size), lambda m: m.identity(size), lambda m: m.diag(m.arange(3.0), size),
        lambda m: m.diag(m.ones((3, 3)), size),
    ):  # fmt: skip
        check(call)
    # NumPy overflows where an unsigned size is subtracted from another.
    for name in ("tri", "tril", "triu"):
        given = (3,) if name == "tri" else (np.ones((3, 3)),)
        mine = getattr(ac, name)(
            *(each if name == "tri" else ac.array(each) for each in given), size
        )
        np.testing.assert_array_equal(mine.get(), getattr(np, name)(*given, 2))


AXES: tuple[Any, ...] = (
    (),
    (0,),
    (1, 0),
    (0, 1),
    None,
    0,
    -1,
    (-1,),
    (0, 2),
    (2, 0, 1),
    np.int8(1),
)


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_gradient_takes_any_axes(axis: Any) -> None:
    for edge_order in (1, 2):
        for spacing in ((), (2.0,)):
            for values in (np.arange(27.0), np.ones(27), -np.ones(27), np.arange(27.0) ** 2):
                check(
                    lambda m: m.gradient(
                        m.array(values.reshape(3, 3, 3)), *spacing, axis=axis, edge_order=edge_order
                    ),
                    1e-12,
                )


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_average_takes_weights_of_several_axes(axis: Any) -> None:
    for shape in ((2, 3, 4), (2, 3), (3, 2), (2,), (3,), (4,), (2, 4), (4, 2), (4, 2, 3)):
        for options in ({}, {"returned": True}, {"keepdims": True}):
            check(
                lambda m: m.average(
                    m.array(np.arange(24.0).reshape(2, 3, 4)), axis=axis,
                    weights=m.array(np.arange(1.0, 1 + np.prod(shape)).reshape(shape)), **options,
                ),
                1e-12,
            )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
@pytest.mark.parametrize("bins", [1, 2, [1, 2]], ids=str)
def test_densities_of_integer_weights_are_shares(bins: Any, dtype: str) -> None:
    def weights(m: Any) -> Any:
        return m.array([1, 2, 3, 4], dtype=dtype)

    rows = np.arange(8.0).reshape(4, 2)
    for density in (True, False):
        check(lambda m: m.histogramdd(m.array(rows), bins, density=density, weights=weights(m))[0])
        check(lambda m: m.histogram2d(
            m.array(rows[:, 0]), m.array(rows[:, 1]), bins, density=density, weights=weights(m)
        )[0])  # fmt: skip
    if isinstance(bins, int):
        check(lambda m: m.histogram(m.array(rows[:, 0]), bins, density=True, weights=weights(m))[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_quotients_that_are_zero_have_numpys_sign(name: str, dtype: str) -> None:
    values = np.array([0, 1, 0.5, 2, 3, 7.5, INF], dtype)
    values = np.concatenate([values, -values, np.array([NAN], dtype)])
    a, b = (each.ravel() for each in np.meshgrid(values, values))
    check(lambda m: getattr(m, name)(m.array(a), m.array(b)))
    if name == "floor_divide":
        check(lambda m: m.divmod(m.array(a), m.array(b)))
        for number in (1.0, -1.0, 0.5, -2, 3):
            check(lambda m: m.array(values) // number)
            check(lambda m: number // m.array(values))


# ---- files


def test_load_returns_what_was_pickled(tmp_path: Path) -> None:
    a = ac.arange(6.0).reshape(2, 3)
    loaded = ac.load(io.BytesIO(a.dumps()), allow_pickle=True)
    assert isinstance(loaded, ac.ndarray)
    np.testing.assert_array_equal(loaded.get(), a.get())
    host = ac.load(io.BytesIO(pickle.dumps(a.get())), allow_pickle=True)
    assert isinstance(host, ac.ndarray)
    assert ac.load(io.BytesIO(pickle.dumps({"a": 1})), allow_pickle=True) == {"a": 1}
    with pytest.raises(ValueError, match="pickle"):
        ac.load(io.BytesIO(a.dumps()))
    ac.savez(tmp_path / "two.npz", a=a, b=a)
    assert ac.load(tmp_path / "two.npz").files == ["a", "b"]
