"""Tests functions that write selected elements, ``ufunc.at`` and scatter_add: NumPy's results and
errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

Array = np.ndarray[Any, Any]
Write = Callable[[Any, Any, Callable[[Any], Any]], Any]
ON_DEVICE = session.bridge.device_text() != ""

X = np.random.default_rng(1).integers(-9, 9, (3, 4)).astype("float32")
ORDER = np.argsort(X, axis=1)
F4 = np.arange(12, dtype="float32")
MASK = X > 0


def same(write: Write, source: Array) -> None:
    """Write to a copy with NumPy and to an array with arraycore; assert that both are equal."""
    for base in (source, np.asfortranarray(source)):
        expected, written = base.copy(order="K"), ac.array(base)
        with np.errstate(all="ignore"):
            write(np, expected, np.array)
        write(ac, written, ac.array)
        np.testing.assert_array_equal(written.get(), expected)


WRITES: dict[str, Write] = {
    "put": lambda xp, y, a: xp.put(y, [0, -1, 3], 7),
    "put array": lambda xp, y, a: xp.put(y, a(np.array([0, 5, -2])), a(np.array([1.5, 2, 3]))),
    "put repeats": lambda xp, y, a: xp.put(y, a(np.array([0, 5, -2, 7])), [1.5, 2]),
    "put too many": lambda xp, y, a: xp.put(y, [1, 2], a(F4)),
    "put twice": lambda xp, y, a: xp.put(y, a(np.array([1, 1, 1])), a(np.array([4, 5, 6]))),
    "put one": lambda xp, y, a: xp.put(y, 5, 2.75),
    "put none": lambda xp, y, a: xp.put(y, [], 2),
    "put wrap": lambda xp, y, a: xp.put(y, a(np.array([100, -50])), 3, mode="wrap"),
    "put clip": lambda xp, y, a: xp.put(y, a(np.array([100, -50])), 3, mode="clip"),
    "put method": lambda xp, y, a: y.put([2], 9),
    "put_along_axis": lambda xp, y, a: xp.put_along_axis(y, a(ORDER[:, :1]), 99, axis=1),
    "put_along_axis rows": lambda xp, y, a: xp.put_along_axis(
        y, a(ORDER[:, :2]), a(F4[:6].reshape(3, 2)), axis=-1
    ),
    "place": lambda xp, y, a: xp.place(y, a(MASK), 5),
    "place values": lambda xp, y, a: xp.place(y, a(MASK), a(F4[1:4])),
    "place list": lambda xp, y, a: xp.place(y, MASK.tolist(), [1.5, 2.5]),
    "place one": lambda xp, y, a: xp.place(y, a(MASK), a(F4[3:4])),
    "putmask": lambda xp, y, a: xp.putmask(y, a(MASK), 5),
    "putmask values": lambda xp, y, a: xp.putmask(y, a(MASK), a(F4)),
    "putmask repeats": lambda xp, y, a: xp.putmask(y, a(MASK), a(F4[:5])),
    "putmask numbers": lambda xp, y, a: xp.putmask(y, a(X), a(F4[:1])),
    "copyto where": lambda xp, y, a: xp.copyto(y, a(F4[:4]), where=a(MASK)),
    "copyto where row": lambda xp, y, a: xp.copyto(y, 9, where=a(MASK[0])),
    "copyto nowhere": lambda xp, y, a: xp.copyto(y, 9, where=False),
    "fill_diagonal": lambda xp, y, a: xp.fill_diagonal(y, 5),
    "fill_diagonal values": lambda xp, y, a: xp.fill_diagonal(y, [1, 2]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_function_writes_what_numpys_writes(name: str) -> None:
    same(WRITES[name], X)


def test_put_along_no_axis_writes_the_array_itself_in_every_layout() -> None:
    # NumPy 2.4 refuses arrays that are not C-contiguous, so it writes into a C-contiguous copy
    # here.
    for base in (X, np.asfortranarray(X)):
        expected, written = X.copy(), ac.array(base)
        np.put_along_axis(expected, np.array([3, -1]), 7, None)
        ac.put_along_axis(written, ac.array([3, -1]), 7, None)
        np.testing.assert_array_equal(written.get(), expected)


@pytest.mark.parametrize("shape", [(3, 4), (7, 2), (3, 3, 3), (1, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal_of_every_shape(shape: tuple[int, ...], wrap: bool) -> None:
    for value in (5, [1, 2, 3]):
        same(lambda xp, y, a, value=value: xp.fill_diagonal(y, value, wrap), np.zeros(shape))


MISTAKES: dict[str, Write] = {
    "put out of bounds": lambda xp, y, a: xp.put(y, [12], 1),
    "put floats": lambda xp, y, a: xp.put(y, a(np.array([1.5])), 1),
    "put mode": lambda xp, y, a: xp.put(y, [1], 1, mode="up"),
    "place sizes": lambda xp, y, a: xp.place(y, a(np.array([True])), 1),
    "place nothing": lambda xp, y, a: xp.place(y, a(MASK), []),
    "place wider": lambda xp, y, a: xp.place(y, a(MASK), a(np.ones(3))),
    "putmask sizes": lambda xp, y, a: xp.putmask(y, a(np.array([True])), 1),
    "putmask wider": lambda xp, y, a: xp.putmask(y, a(MASK), a(np.ones(3))),
    "fill_diagonal of a row": lambda xp, y, a: xp.fill_diagonal(y[0], 1),
    "fill_diagonal extents": lambda xp, y, a: xp.fill_diagonal(y.reshape(1, 3, 4), 1),
    "at without value": lambda xp, y, a: xp.add.at(y, [0]),
    "at with a value": lambda xp, y, a: xp.negative.at(y, [0], 1),
    "at out of bounds": lambda xp, y, a: xp.add.at(y, [3], 1),
    "at of shapes": lambda xp, y, a: xp.add.at(y, [0, 1], a(np.ones((3, 4)))),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_an_error_of_numpys_kind(name: str) -> None:
    with pytest.raises((IndexError, ValueError, TypeError)) as expected:
        MISTAKES[name](np, X.copy(), np.array)
    y = ac.array(X)
    with pytest.raises(expected.type):
        MISTAKES[name](ac, y, ac.array)
    np.testing.assert_array_equal(y.get(), X)


# ---- updates

DTYPES = "bBhHiIqQefdFD?"
UPDATES = ("add", "subtract", "multiply", "maximum", "minimum", "bitwise_or", "divide", "power",
           "logical_or", "fmax", "greater", "negative", "square")  # fmt: skip
ROWS = np.array([0, 2, 2, -1, 2, 0])


def update(xp: Any, name: str, y: Any, key: Any, value: Any) -> None:
    function = getattr(xp, name)
    with np.errstate(all="ignore"):
        function.at(y, key, value) if function.nin == 2 else function.at(y, key)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UPDATES)
def test_at_updates_as_often_as_an_element_is_named(name: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    source = rng.integers(1, 5, (6, 3)).astype(dtype)
    rows = rng.integers(1, 4, (6, 3)).astype(dtype)
    for key, value in ((ROWS, rows), (ROWS > 0, rows[:1]), ((ROWS, np.array(1)), rows[:, 0])):
        ours = tuple(map(ac.array, key)) if isinstance(key, tuple) else ac.array(key)
        expected, written = source.copy(), ac.array(source)
        if dtype in "FD" and name not in ("add", "subtract"):
            with pytest.raises((NotImplementedError, TypeError)):
                update(ac, name, written, ours, ac.array(value))
            continue
        try:
            update(np, name, expected, key, value)
        except TypeError:
            with pytest.raises(TypeError):
                update(ac, name, written, ours, ac.array(value))
            continue
        update(ac, name, written, ours, ac.array(value))
        if dtype in "efdFD":
            np.testing.assert_allclose(written.get(), expected, rtol=2e-3, equal_nan=True)
        else:
            np.testing.assert_array_equal(written.get(), expected)


def test_at_takes_views_scalars_and_lists() -> None:
    expected, written = X.copy(), ac.array(X)
    for xp, y in ((np, expected), (ac, written)):
        xp.add.at(y, (slice(None), [0, 0, 1]), 2)
        xp.add.at(y, 1, 2.5)
        xp.add.at(y, (0, slice(1, 3)), [1, 2])
        xp.multiply.at(y, [0, 0], 2)
        xp.negative.at(y, ([0, 0, 1], 3))
    np.testing.assert_array_equal(written.get(), expected)


def test_at_casts_back_by_force_as_numpys() -> None:
    expected, written = np.arange(4), ac.array(np.arange(4))
    np.add.at(expected, [0, 0], 1.75)
    ac.add.at(written, [0, 0], 1.75)
    np.testing.assert_array_equal(written.get(), expected)


def test_functions_of_two_results_have_no_at() -> None:
    with pytest.raises(NotImplementedError, match="one result"):
        ac.divmod.at(ac.array(X), [0], 2)
    with pytest.raises(NotImplementedError, match=r"\.real") as info:
        ac.multiply.at(ac.zeros(3, "complex64"), [0], 2)
    assert info.value.code == "no_update"  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32",
                                   "float64", "complex64"])  # fmt: skip
def test_scatter_add_counts_every_one_of_many(dtype: str) -> None:
    rng = np.random.default_rng(2)
    indices = rng.integers(-20, 20, 2_000)
    values = rng.integers(0, 2, 2_000)
    expected = np.zeros(20, dtype)
    np.add.at(expected, indices, values.astype(dtype))
    written = ac.zeros(20, dtype)
    before = ac.counters()
    ac.scatter_add(written, ac.array(indices), ac.array(values.astype(dtype)))
    if ON_DEVICE and dtype != "float64":
        moved = ac.counters()
        assert moved["cpu_ops"] == before["cpu_ops"]
        assert moved["bytes_down"] == before["bytes_down"]
    # Sums of small whole numbers are exact in any order.
    np.testing.assert_array_equal(written.get(), expected)


def test_scatter_max_and_min_keep_the_extremes_and_nan() -> None:
    values = np.array([1, -3, 7, np.nan, 2], np.float32)
    indices = np.array([0, 0, 1, 2, 2])
    for function, numpys in ((ac.scatter_max, np.maximum), (ac.scatter_min, np.minimum)):
        expected, written = np.zeros(4, np.float32), ac.zeros(4, "float32")
        with np.errstate(invalid="ignore"):
            numpys.at(expected, indices, values)
        function(written, ac.array(indices), ac.array(values))
        np.testing.assert_array_equal(written.get(), expected)


def test_scatter_add_casts_the_value_to_the_arrays_dtype() -> None:
    written = ac.zeros(3, "int32")
    ac.scatter_add(written, ac.array([0, 0, 2]), ac.array(np.array([1.75, 1.75, -2.5])))
    assert written.tolist() == [2, 0, -2]
    ac.scatter_add(written, slice(0, 2), np.array([10, 20]))
    assert written.tolist() == [12, 20, -2]
    view = ac.zeros((4, 3), "float32")
    ac.scatter_add(view.T[::-1], (slice(None), ac.array([1, 1])), 1)
    np.testing.assert_array_equal(view.get(), np.array([[0] * 3, [2] * 3, [0] * 3, [0] * 3]))


def test_an_update_reads_its_value_before_it_writes() -> None:
    expected, written = np.arange(6), ac.arange(6)
    np.add.at(expected, np.array([1, 2, 1]), expected[:3].copy())
    ac.add.at(written, ac.array([1, 2, 1]), written[:3])
    np.testing.assert_array_equal(written.get(), expected)


def test_broadcast_views_cannot_be_written() -> None:
    wide = ac.broadcast_to(ac.zeros(3), (2, 3))
    for try_it in (
        lambda: ac.put(wide, [0], 1),
        lambda: ac.scatter_add(wide, [0], 1),
        lambda: ac.copyto(wide, 1, where=ac.array([True, False, True])),
        lambda: ac.fill_diagonal(wide, 1),
    ):
        with pytest.raises(ValueError, match="read-only"):
            try_it()
