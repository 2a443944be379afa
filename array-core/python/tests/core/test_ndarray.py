"""Tests the array class (attributes, conversions to the host, copies) and the functions that make
arrays.
"""

from __future__ import annotations

import copy
import pickle
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest


def test_attributes_are_numpys() -> None:
    source = np.zeros((2, 3, 4), np.int16)
    for index in ((...,), (..., 0), (slice(None, None, -1), slice(1), slice(None, None, 2))):
        expected, a = source[index], ac.array(source)[index]
        for name in ("shape", "strides", "dtype", "ndim", "size", "itemsize", "nbytes"):
            assert getattr(a, name) == getattr(expected, name), name
        for name in ("c_contiguous", "f_contiguous", "contiguous", "fnc", "forc", "writeable"):
            assert getattr(a.flags, name) == getattr(expected.flags, name), name
        flags: Any = expected.flags
        for name in ("C", "F", "W", "C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE"):
            assert a.flags[name] == flags[name], name
        assert not a._c_contiguous  # no caller may read memory by address
    assert "C_CONTIGUOUS : True" in repr(ac.zeros(3).flags)


def test_single_elements_become_pythons_numbers() -> None:
    for dtype in ("bool", "int8", "uint64", "float16", "float32", "float64"):
        a = ac.array(1, dtype)
        assert (bool(a), int(a), float(a), complex(a)) == (True, 1, 1.0, 1 + 0j)
        assert type(a.item()) is type(np.array(1, dtype).item())
    assert complex(ac.array(1 + 2j, "complex64")) == 1 + 2j
    assert range(10)[ac.array(3)] == 3
    assert not ac.array([[0]])
    assert ac.array([[5]]).item() == 5
    a = ac.arange(12).reshape(3, 4)
    assert (a.item(5), a.item(-1), a.item(2, 1), a.item((0, 3))) == (5, 11, 9, 3)
    assert a.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert f"{ac.array(1.5):.3f} {ac.array(2)!s}" == "1.500 2"
    assert repr(ac.arange(3, dtype="int16")) == "array([0, 1, 2], dtype=int16)"


@pytest.mark.usefixtures("unfused")
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64"]
)
def test_a_number_of_one_element_is_one_crossing_and_exact(dtype: str) -> None:
    for value in (0, 1, np.iinfo(dtype).max if dtype in ("int8", "uint32", "int64") else 1):
        a = ac.array(np.full((1, 1), value, dtype))[0, 0]
        before = ac.counters()["crossings"]
        assert (int(a), bool(a)) == (value, bool(value))
        if dtype != "int64":
            assert ac.counters()["crossings"] - before == 2


def test_special_values_pass_as_they_are() -> None:
    for text in ("nan", "inf", "-inf", "-0.0", "1e-40", "0.1", "3e38"):
        value = np.float32(text)
        told = float(ac.array(value))
        assert isinstance(told, float)
        assert np.float32(told).tobytes() == value.tobytes()
    with pytest.raises(ValueError, match="NaN"):
        int(ac.array(np.float32("nan")))


def test_an_array_is_a_sequence() -> None:
    a = ac.arange(6).reshape(3, 2)
    assert len(a) == 3
    assert [row.tolist() for row in a] == [[0, 1], [2, 3], [4, 5]]
    first, *_ = a
    first[:] = 9
    assert a[0].tolist() == [9, 9]


def test_nothing_is_converted_to_numpy_unasked() -> None:
    a = ac.arange(3)
    conversions: list[Callable[[Any], Any]] = [np.asarray, np.array, lambda a: np.array([a, a])]
    for convert in conversions:
        with pytest.raises(TypeError, match=r"Implicit conversion .* not allowed"):
            convert(a)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_get_writes_to_memory_of_the_callers() -> None:
    a = ac.arange(6, dtype="int32").reshape(2, 3)
    out = np.zeros((2, 3), np.int32)
    assert a.get(out=out) is out
    assert out.tolist() == a.tolist()
    for wrong in (np.zeros(6, np.int32), np.zeros((2, 3)), np.zeros((3, 2), np.int32).T):
        with pytest.raises(ValueError, match="out must be"):
            a.get(out=wrong)
    assert a.get(ac.Stream.null).tolist() == a.tolist()


def test_set_takes_an_array_of_the_same_shape_and_dtype() -> None:
    a = ac.zeros((2, 2), "int32")
    a.T.set(np.array([[1, 2], [3, 4]], np.int32))
    assert a.tolist() == [[1, 3], [2, 4]]
    for wrong, error in (
        (np.zeros(4, np.int32), ValueError),
        (np.zeros((2, 2)), TypeError),
        ([[1, 2], [3, 4]], TypeError),
    ):
        with pytest.raises(error, match="set"):
            a.set(wrong)  # type: ignore[arg-type]


def test_copies_have_memory_of_their_own() -> None:
    a = ac.arange(6).reshape(2, 3).T
    copies: list[Callable[[Any], ac.ndarray]] = [
        copy.copy,
        copy.deepcopy,
        lambda a: a.copy(),
        lambda a: pickle.loads(pickle.dumps(a)),
        ac.array,
        lambda a: a.astype(a.dtype),
    ]
    for make in copies:
        made = make(a)
        assert (made.dtype, made.tolist()) == (a.dtype, np.arange(6).reshape(2, 3).T.tolist())
        made[...] = -1
        assert a[0, 0].item() == 0


def test_arrays_can_be_referred_to_weakly() -> None:
    a = ac.zeros(3)
    reference = weakref.ref(a)
    assert reference() is a
    del a
    assert reference() is None


def test_astype_copies_where_it_must() -> None:
    a = ac.arange(6, dtype="int32").reshape(2, 3)
    assert a.astype("int32", copy=False) is a
    assert a.astype("int32") is not a
    turned = a.T
    assert turned.astype("int32", order="K", copy=False) is turned
    assert turned.astype("int32", order="A", copy=False) is turned
    assert turned.astype("int32", order="C", copy=False).flags.c_contiguous
    assert turned.astype("float32").strides == (4, 12)
    assert a.astype(np.float16).dtype == np.float16
    with pytest.raises(TypeError, match="no dtype"):
        a.astype("U3")


@pytest.mark.parametrize("to", ["bool", "int8", "uint32", "uint64", "float16", "complex64"])
def test_casts_of_values_that_fit_are_numpys(to: str) -> None:
    for dtype in ("bool", "int16", "int64", "float16", "float32", "float64", "complex64"):
        source = np.array([0, 1, 1, 0, 1], dtype) * np.array(100 if dtype != "bool" else 1, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            expected = source.astype(to)
        np.testing.assert_array_equal(ac.array(source).astype(to).get(), expected)


def test_constructors_equal_numpys() -> None:
    make: list[Callable[[Any], Any]] = [
        lambda np: np.zeros((2, 3)),
        lambda np: np.zeros(np.int64(3), "int8"),
        lambda np: np.zeros((2, 3), order="F"),
        lambda np: np.ones([2, 2], bool),
        lambda np: np.ones(()),
        lambda np: np.full((2, 2), 7),
        lambda np: np.full(3, 1.5, "float32"),
        lambda np: np.full((2, 3), [1, 2, 3]),
        lambda np: np.full((), True),
        lambda np: np.full(2, 1j),
        lambda np: np.arange(5),
        lambda np: np.arange(1, 2, 0.25, dtype="float32"),
        lambda np: np.arange(5, 0, -2, dtype="uint8"),
        lambda np: np.linspace(0, 1, 7),
        lambda np: np.linspace(1, 2, 3, endpoint=False, dtype="float32"),
        lambda np: np.linspace(0, 1, 5, retstep=True)[0],
        lambda np: np.zeros_like(np.ones((2, 3), "int16")),
        lambda np: np.ones_like(np.zeros(2), "int16"),
        lambda np: np.full_like(np.zeros(2, "float32"), 3),
        lambda np: np.zeros_like(np.zeros(2), shape=(3, 1)),
        lambda np: np.array([[1, 2], [3, 4]], "float32"),
        lambda np: np.array(5, ndmin=2),
        lambda np: np.array(np.array([1, 2]), ndmin=3, dtype="int8"),
        lambda np: np.array([[1, 2], [3, 4]], order="F"),
        lambda np: np.asarray((1.5, 2)),
        lambda np: np.asarray(np.arange(3), "float32"),
        lambda np: np.ascontiguousarray(np.arange(6).reshape(2, 3).T),
        lambda np: np.ascontiguousarray(3),
        lambda np: np.asfortranarray(np.arange(6).reshape(2, 3)),
    ]
    for each in make:
        expected, made = each(np), each(ac)
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        assert made.flags["F"] == expected.flags["F"]
        np.testing.assert_array_equal(made.get(), expected)


def test_arrays_that_fit_are_given_back_themselves() -> None:
    a = ac.arange(6, dtype="int64").reshape(2, 3)
    assert ac.asarray(a) is a
    assert ac.asarray(a, "int64") is a
    assert ac.array(a, copy=False) is a
    assert ac.ascontiguousarray(a) is a
    assert ac.ascontiguousarray(a.T) is not a
    assert ac.asarray(a, "int32") is not a
    assert ac.empty((2, 3), "int8").shape == ac.empty_like(a).shape
    assert ac.empty_like(a).dtype == a.dtype


def test_assigned_values_come_from_the_host_too() -> None:
    a = ac.zeros((2, 3), "float32")
    a[0] = [1, 2, 3]
    a[1] = np.array([1.5, 2.5, 3.5], ">f8")
    a[:, 0] = np.array(7)
    a[0, 1] = np.float16(9)
    a[0, 2] = ac.array(4)
    assert a.tolist() == [[7, 9, 4], [7, 2.5, 3.5]]
    with pytest.raises(TypeError, match="complex"):
        a[0] = 1j
    a[0] = np.complex64(1 + 2j)
    assert a[0].tolist() == [1, 1, 1]


def test_copyto_follows_the_casting_rule() -> None:
    a = ac.zeros(3, "int32")
    ac.copyto(a, ac.array([1, 2, 3], "int64"))
    ac.copyto(a[:1], 9)
    assert a.tolist() == [9, 2, 3]
    with pytest.raises(TypeError, match="same_kind"):
        ac.copyto(a, ac.ones(3))
    ac.copyto(a, ac.full(3, 2.9), casting="unsafe")
    assert a.tolist() == [2, 2, 2]


@pytest.mark.parametrize("cls", [ac.ndarray, "subclass"])
def test_the_class_makes_arrays_of_a_shape(cls: Any) -> None:
    if cls == "subclass":
        cls = type("Mine", (ac.ndarray,), {})
    for shape in ((), 0, 3, np.int64(3), (2, 3), [2, 3], (np.uint8(2), 0)):
        made, expected = cls(shape), np.ndarray(shape)
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
        assert type(made) is cls
    assert cls((), "float16").dtype == np.float16
    assert cls((2,), None).dtype == np.float64
    fortran = cls((2, 3), "int8", order="F")
    assert fortran.strides == np.ndarray((2, 3), "int8", order="F").strides
    for shape, error in (("ab", TypeError), ([-1], ValueError), (-1, ValueError), (2.0, TypeError)):
        with pytest.raises(error):
            cls(shape)
    with pytest.raises(TypeError):
        cls(3, "U1")
    with pytest.raises(ValueError, match="order"):
        cls(3, order="K")
    ac.ones(3)  # must not free the refused arrays
    assert ac.ones(3).get().tolist() == [1, 1, 1]


def test_no_number_given_to_the_class_is_the_id_of_a_live_array() -> None:
    live = [ac.full(2, place, "int32") for place in range(8)]
    # Ids are small numbers or begin at 2**20 times a generation; those of live arrays are tried.
    for each in live:
        if each._id < 2**22:
            made = ac.ndarray(each._id, "int8")
            assert made.shape == (each._id,)
            made[:2] = 7
            del made
    ac.zeros(1)  # frees the arrays that were deleted
    assert [each.tolist() for each in live] == [[place] * 2 for place in range(8)]
    assert ac.counters()["live_arrays"] == len(live)
