"""Tests views, reshapes and assignments: NumPy's results and errors, and one call into array-core
each.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

ALL = slice(None)


def assign(a: Any, index: Any, value: Any) -> None:
    a[index] = value


INDICES: list[Any] = [
    0, -1, np.int8(1), (), (1, 2), (1, 2, 3), ..., None, (..., 0), (0, ...), (None, 0, None),
    ALL, (ALL, 1), (ALL, ALL, ALL, None), slice(1, None), slice(None, None, -1),
    (slice(None, None, -2), ALL, slice(3, 0, -1)), (..., slice(10, 20)), slice(-100, 100, 7),
    slice(1 << 80, None, -1), slice(None, -(1 << 80)), (ALL, slice(np.int64(1), np.uint8(2))),
]  # fmt: skip


def base() -> np.ndarray[Any, Any]:
    return np.arange(2 * 3 * 4, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_an_index_shows_what_numpys_shows(index: Any) -> None:
    expected = base()[index]
    shown = ac.array(base())[index]
    assert shown.shape == np.shape(expected)
    if np.size(expected):
        assert shown.flags.c_contiguous == np.asarray(expected).flags.c_contiguous
    np.testing.assert_array_equal(shown.get(), expected)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_an_assignment_by_an_index_writes_where_numpys_does(index: Any) -> None:
    for value in (7, -2.75, np.float64(3), True):
        expected, written = base(), ac.array(base())
        expected[index] = written[index] = value
        np.testing.assert_array_equal(written.get(), expected)
    source = -np.arange(4)
    expected, written = base(), ac.array(base())
    if np.shape(expected[index])[-1:] == (4,):
        for value in (source, ac.array(source)):
            expected[index], written[index] = source, value
            np.testing.assert_array_equal(written.get(), expected)


MISTAKES: list[Callable[[Any, Any], Any]] = [
    lambda np, a: a[2],
    lambda np, a: a[0, -4],
    lambda np, a: a[0, 0, 0, 0],
    lambda np, a: a[..., ...],
    lambda np, a: a[::0],
    lambda np, a: a[1.0],
    lambda np, a: a["x"],
    lambda np, a: a[:"x"],
    lambda np, a: assign(a, 5, 1),
    lambda np, a: assign(a, 0, np.zeros((5, 3, 4))),
    lambda np, a: assign(a.astype("i1"), 0, 128),
    lambda np, a: assign(a, 0, float("nan")),
    lambda np, a: assign(a, 0, float("inf")),
    lambda np, a: assign(a, 0, float("-inf")),
    lambda np, a: assign(a.astype("i1"), 0, [1 << 20] * 4),
    lambda np, a: a.astype("i1").fill(-129),
    lambda np, a: a.reshape(5, 5),
    lambda np, a: a.reshape(-1, -1),
    lambda np, a: a.reshape(7, -1),
    lambda np, a: a.reshape(2.5),
    lambda np, a: a.transpose(0, 1),
    lambda np, a: a.transpose(0, 1, 1),
    lambda np, a: a.transpose(0, 1, 3),
    lambda np, a: a.swapaxes(0, 3),
    lambda np, a: a.squeeze(0),
    lambda np, a: a.squeeze(3),
    lambda np, a: a.diagonal(0, 1, 1),
    lambda np, a: np.moveaxis(a, 0, 3),
    lambda np, a: np.moveaxis(a, (0, 1), 0),
    lambda np, a: np.moveaxis(a, (0, 0), (0, 1)),
    lambda np, a: np.expand_dims(a, 4),
    lambda np, a: np.flip(a, 3),
    lambda np, a: np.broadcast_to(a, (3, 4)),
    lambda np, a: np.broadcast_to(a, (2, 3, 5)),
    lambda np, a: np.broadcast_to(a, -1),
    lambda np, a: np.broadcast_arrays(a, np.zeros(5)),
    lambda np, a: np.rollaxis(a, 3),
    lambda np, a: np.flipud(a[0, 0, 0, ...]),
    lambda np, a: np.fliplr(a[0, 0]),
    lambda np, a: a[0, 0].mT,
    lambda np, a: a.astype("f4", casting="safe"),
    lambda np, a: np.copyto(a, np.zeros(4)),
    lambda np, a: np.copyto(a, np.zeros(4, "int64"), casting="no"),
    lambda np, a: setattr(a.T, "shape", 24),
    lambda np, a: setattr(a, "imag", 1),
    lambda np, a: a.item(),
    lambda np, a: a.item(24),
    lambda np, a: a.item(1, 2),
    lambda np, a: bool(a),
    lambda np, a: bool(a[:0]),
    lambda np, a: int(a),
    lambda np, a: float(a[0]),
    lambda np, a: operator.index(a),
    lambda np, a: operator.index(a.astype("f4")[0, 0, 0, ...]),
    lambda np, a: len(a[0, 0, 0, ...]),
    lambda np, a: iter(a[0, 0, 0, ...]),
    lambda np, a: a.flags["Q"],
    lambda np, a: a.copy("Q"),
    lambda np, a: a.view("i8")[..., 0].view("i4").view("c16"),
    lambda np, a: a[..., ::2].view("i8"),
]  # fmt: skip


def raised(mistake: Callable[[Any, Any], Any], namespace: Any, a: Any) -> BaseException:
    with pytest.raises(Exception) as info:  # noqa: PT011 (the caller compares it)
        mistake(namespace, a)
    return info.value


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_raise_numpys_exceptions_in_numpys_words(
    mistake: Callable[[Any, Any], Any],
) -> None:
    expected = raised(mistake, np, base())
    error = raised(mistake, ac, ac.array(base()))
    assert isinstance(error, type(expected))
    # NumPy's functions write shapes sometimes with blanks and sometimes without.
    assert str(error).replace(" ", "") == str(expected).replace(" ", "")


def test_an_int_of_any_size_is_out_of_bounds() -> None:
    a = ac.zeros(2, "uint64")
    a[0] = (1 << 64) - 1
    for value in (1 << 64, -(1 << 90)):
        with pytest.raises(OverflowError, match="out of bounds for uint64") as info:
            a[0] = value
        assert info.value.code == "scalar_out_of_bounds"  # type: ignore[attr-defined]
    assert a.tolist() == [(1 << 64) - 1, 0]
    floats = ac.zeros(1)
    floats[0] = 1 << 90
    assert floats.item() == 2.0**90


def test_an_axis_that_is_none_is_a_value_error_and_an_index_error() -> None:
    with pytest.raises(np.exceptions.AxisError) as info:
        ac.zeros((2, 3)).swapaxes(0, 2)
    assert isinstance(info.value, ValueError)
    assert isinstance(info.value, IndexError)


def test_an_integer_of_arraycores_is_an_index() -> None:
    a = ac.array(base())
    np.testing.assert_array_equal(a[ac.array(1)].get(), base()[1])
    np.testing.assert_array_equal(a[: ac.array(1)].get(), base()[:1])


def test_views_share_their_memory_and_keep_it() -> None:
    a = ac.zeros((3, 4), "int64")
    view = a.T[::-1, 1:]
    a[:] = ac.arange(12).reshape(3, 4)
    expected = np.arange(12).reshape(3, 4).T[::-1, 1:]
    np.testing.assert_array_equal(view.get(), expected)
    view[0] = -1
    assert a[1:, 3].tolist() == [-1, -1]
    before = ac.counters()["live_bytes"]
    del a
    np.testing.assert_array_equal(view[1:].get(), expected[1:])
    assert ac.counters()["live_bytes"] <= before


def test_overlapping_assignments_are_as_from_a_copy() -> None:
    for to, from_ in (
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (ALL, slice(None, None, -1)),
        (slice(None, None, 2), slice(5, None)),
    ):
        expected = np.arange(10, dtype=np.int16)
        a = ac.array(expected)
        a[to] = a[from_]
        expected[to] = expected[from_].copy()
        assert a.tolist() == expected.tolist()
    square = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    a = ac.array(square)
    a[...] = a.T
    np.testing.assert_array_equal(a.get(), square.T)


def test_in_place_arithmetic_on_a_view_writes_the_array() -> None:
    a = ac.arange(6, dtype="float32")
    a[::2] += 10
    a[1:3] *= ac.array([2, 3], "float32")
    assert a.tolist() == [10, 2, 36, 3, 14, 5]


def test_a_broadcast_view_is_read_only() -> None:
    wide = ac.broadcast_to(ac.arange(3, dtype="int64"), (2, 3))
    assert wide.strides == (0, 8)
    assert not wide.flags.writeable
    writes: list[Callable[[], Any]] = [
        lambda: assign(wide, ..., 1),
        lambda: assign(wide, ..., ac.arange(3)),
        lambda: wide.fill(2),
        lambda: ac.copyto(wide[..., 1:], 5),
    ]
    for write in writes:
        with pytest.raises(ValueError, match="read-only") as info:
            write()
        assert info.value.code == "read_only"  # type: ignore[attr-defined]


def test_each_operation_is_one_crossing() -> None:
    a, b = ac.array(base()), ac.arange(4)
    operations: list[Callable[[], Any]] = [
        lambda: ac.zeros((2, 3)),  # first, because nothing waits to be freed yet
        lambda: a[1, ::-2, None],
        lambda: assign(a, (0, slice(None, None, -2)), b),
        lambda: assign(a, (..., 1), 5),
        lambda: a.T,
        lambda: a.reshape(4, 6),
        lambda: a.ravel(),
        lambda: a.copy(),
        lambda: a.astype("float32"),
        lambda: a.view("uint8"),
        lambda: a.real,
        lambda: a.diagonal(),
        lambda: a.swapaxes(0, 1),
        lambda: a.squeeze(),
        lambda: ac.moveaxis(a, 0, -1),
        lambda: ac.expand_dims(a, 0),
        lambda: ac.broadcast_to(b, (3, 4)),
        lambda: ac.flip(a),
    ]
    for operation in operations:
        before = ac.counters()["crossings"]
        operation()
        assert ac.counters()["crossings"] == before + 1


def test_parts_of_complex_arrays_are_views() -> None:
    source = np.arange(6, dtype=np.float32).view(np.complex64)
    for dtype in ("complex64", "complex128"):
        a = ac.array(source, dtype)
        np.testing.assert_array_equal(a.imag.get(), source.imag)
        a.real = 7
        a.imag[1:] = ac.array([8, 9])
        assert a.tolist() == [7 + 1j, 7 + 8j, 7 + 9j]
    real = ac.arange(3)
    real.real[0] = 5
    assert (real.tolist(), real.imag.tolist()) == ([5, 1, 2], [0, 0, 0])


def test_the_same_bytes_as_another_dtype() -> None:
    source = np.arange(8, dtype=np.uint16)
    a = ac.array(source)
    for dtype in ("int16", "float16", "uint8", "uint32", "int64", "bool"):
        np.testing.assert_array_equal(a.view(dtype).get(), source.view(dtype))
    a.view("uint8")[1] = 1
    assert a[0].item() == 256
    a.view()[...] = 3
    assert set(a.tolist()) == {3}


ORDERS = ("C", "F", "A")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("turn", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_reshapes_in_each_order(order: Any, turn: tuple[int, ...]) -> None:
    source = base().transpose(turn)
    a = ac.array(base()).transpose(turn)
    for shape in ((24,), (4, 6), (-1, 3), (2, 2, 3, 2)):
        expected = source.reshape(shape, order=order)
        made = a.reshape(shape, order=order)
        np.testing.assert_array_equal(made.get(), expected)
        assert made.flags.c_contiguous == expected.flags.c_contiguous
        assert made.flags.f_contiguous == expected.flags.f_contiguous
    np.testing.assert_array_equal(a.ravel(order).get(), source.ravel(order))
    np.testing.assert_array_equal(a.flatten(order).get(), source.flatten(order))
    copied = a.copy(order)
    assert copied.strides == source.copy(order).strides
    np.testing.assert_array_equal(copied.get(order=order), source)
    assert a.get(order=order).flags.c_contiguous == source.copy(order).flags.c_contiguous
    assert a.tobytes(order) == source.tobytes(order)


def test_a_reshape_copies_only_where_numpys_does() -> None:
    a = ac.array(base())

    made: list[Any] = []  # keeps every result, so that none is freed

    def is_view(make: Callable[[], Any]) -> bool:
        before = ac.counters()["live_bytes"]
        made.append(make())
        return ac.counters()["live_bytes"] == before

    assert is_view(lambda: a.reshape(-1))
    assert is_view(lambda: a.swapaxes(0, 1).reshape(3, 2, 2, 2))
    assert not is_view(lambda: a.T.reshape(-1))
    assert not is_view(a.flatten)
    assert not is_view(lambda: a.reshape(24, copy=True))
    with pytest.raises(ValueError, match="Unable to avoid creating a copy"):
        a.T.reshape(24, copy=False)


def test_a_shape_can_be_set_where_no_copy_is_needed() -> None:
    a = ac.array(base())
    view = a[0]
    a.shape = (4, -1)
    assert (a.shape, a.strides) == ((4, 6), (24, 4))
    a[0] = 0
    assert view[0].tolist() == [0, 0, 0, 0]


def test_shapes_without_elements() -> None:
    for shape in ((0,), (2, 0, 3)):
        a, expected = ac.zeros(shape), np.zeros(shape)
        np.testing.assert_array_equal(a[...].get(), expected)
        assert a.ravel().shape == a.flatten("F").shape == (0,)
        assert a.T.shape == expected.T.shape
        assert a.reshape(0, 5).shape == (0, 5)
        assert a.flags.c_contiguous
        assert a.flags.f_contiguous
        assert a.copy("K").shape == shape
        assert a.astype("int8").shape == shape
        a[...] = 1
        a[...] = ac.zeros(shape)
    with pytest.raises(IndexError, match="out of bounds"):
        ac.zeros((0,))[0]


def test_functions_of_axes_equal_numpys() -> None:
    source = base()[:, :1]
    a = ac.array(base())[:, :1]
    functions: list[Callable[[Any, Any], Any]] = [
        lambda np, a: np.transpose(a),
        lambda np, a: np.transpose(a, (1, 2, 0)),
        lambda np, a: a.transpose([2, 0, 1]),
        lambda np, a: a.transpose(None),
        lambda np, a: np.swapaxes(a, -1, 0),
        lambda np, a: np.moveaxis(a, [0, 1], [-1, 0]),
        lambda np, a: np.rollaxis(a, 2),
        lambda np, a: np.rollaxis(a, 0, 3),
        lambda np, a: np.rollaxis(a, -1, -2),
        lambda np, a: np.flip(a),
        lambda np, a: np.flip(a, (0, 2)),
        lambda np, a: np.flipud(a),
        lambda np, a: np.fliplr(a),
        lambda np, a: np.squeeze(a),
        lambda np, a: np.squeeze(a, 1),
        lambda np, a: np.expand_dims(a, (0, -1)),
        lambda np, a: np.broadcast_to(a, (5, 2, 3, 4)),
        lambda np, a: np.broadcast_to(a[0, 0, 0], 3),
        lambda np, a: np.broadcast_arrays(a, a[0, :, 0])[1],
        lambda np, a: np.diagonal(a, 1, 2, 0),
        lambda np, a: a.diagonal(-1, 0, 2),
        lambda np, a: np.ravel(a, "F"),
        lambda np, a: np.reshape(a, (4, 2)),
        lambda np, a: a.reshape([8]),
        lambda np, a: np.copy(a),
        lambda np, a: np.atleast_1d(a[0, 0, 0]),
        lambda np, a: np.atleast_2d(a[0, 0], a)[0],
        lambda np, a: np.atleast_3d(a[0, 0]),
        lambda np, a: np.atleast_3d(a[0]),
        lambda np, a: a.mT,
    ]
    for function in functions:
        expected = function(np, source)
        made = function(ac, a)
        assert made.shape == expected.shape
        np.testing.assert_array_equal(made.get(), expected)


@pytest.mark.usefixtures("cupys_rules")
def test_functions_take_arrays_of_arraycores_alone() -> None:
    for function in (ac.flip, ac.transpose, ac.ravel, ac.atleast_2d, ac.zeros_like):
        with pytest.raises(TypeError, match="Unsupported type"):
            function(np.zeros(3))  # type: ignore[arg-type]
