"""Tests what the Python array API standard asks for in addition to NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest


def test_an_array_names_its_namespace() -> None:
    a = ac.ones(3)
    assert a.__array_namespace__() is ac
    for version in ("2021.12", "2022.12", "2023.12", "2024.12"):
        assert a.__array_namespace__(api_version=version) is ac
    assert ac.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"2020\.01"):
        a.__array_namespace__(api_version="2020.01")


def test_the_namespace_describes_itself() -> None:
    info = ac.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.devices() == [info.default_device()] == [ac.ones(1).device]
    theirs: Any = np.__array_namespace_info__()
    assert info.dtypes() == theirs.dtypes()
    for kind in ("bool", "integral", "signed integer", "real floating", "numeric",
                 ("bool", "complex floating")):  # fmt: skip
        assert info.dtypes(kind=kind) == theirs.dtypes(kind=kind)
    defaults = info.default_dtypes(device=info.default_device())
    assert defaults["real floating"] == ac.zeros(1).dtype
    assert defaults["integral"] == ac.arange(3).dtype
    assert defaults["indexing"] == ac.argsort(ac.zeros(3)).dtype
    for call in (info.dtypes, info.default_dtypes):
        with pytest.raises(ValueError, match="no device 1"):
            call(device=1)


def test_isdtype_is_numpys() -> None:
    for dtype in ("bool", "int8", "uint64", "float16", "float64", "complex64"):
        for kind in ("bool", "integral", "unsigned integer", "real floating", "numeric",
                     np.dtype("int8"), ("bool", "complex floating")):  # fmt: skip
            wanted = np.isdtype(np.dtype(dtype), kind)
            assert ac.isdtype(np.dtype(dtype), kind) is wanted
    with pytest.raises(ValueError, match="kind"):
        ac.isdtype(ac.float32, "number of a kind")


def test_an_array_stays_on_the_only_device() -> None:
    a = ac.ones(3)
    assert a.to_device(a.device) is a
    with pytest.raises(ValueError, match="no device 1"):
        a.to_device(1)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda device: ac.asarray([1.0], device=device),
    "arange": lambda device: ac.arange(3, device=device),
    "empty": lambda device: ac.empty(3, device=device),
    "empty_like": lambda device: ac.empty_like(ac.ones(3), device=device),
    "eye": lambda device: ac.eye(3, device=device),
    "full": lambda device: ac.full(3, 2.0, device=device),
    "full_like": lambda device: ac.full_like(ac.ones(3), 2.0, device=device),
    "linspace": lambda device: ac.linspace(0, 1, 3, device=device),
    "ones": lambda device: ac.ones(3, device=device),
    "ones_like": lambda device: ac.ones_like(ac.ones(3), device=device),
    "zeros": lambda device: ac.zeros(3, device=device),
    "zeros_like": lambda device: ac.zeros_like(ac.ones(3), device=device),
    "from_dlpack": lambda device: ac.from_dlpack(np.ones(3), device=device),
    "astype": lambda device: ac.astype(ac.ones(3), ac.float32, device=device),
}


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_are_made_on_the_only_device(name: str) -> None:
    for device in (None, ac.Device(), 0):
        assert MAKERS[name](device).device == ac.Device()
    with pytest.raises(ValueError, match="no device 1"):
        MAKERS[name](1)


def test_asarray_copies_as_asked() -> None:
    a = ac.arange(3)
    assert ac.asarray(a) is ac.asarray(a, copy=False) is ac.asarray(a, copy=None) is a
    copied = ac.asarray(a, copy=True)
    copied[0] = 9
    assert a.tolist() == [0, 1, 2]
    assert ac.asarray([1, 2], copy=True).tolist() == [1, 2]
    for given, dtype in ((a, "float32"), ([1, 2], None), (np.arange(3), None)):
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            ac.asarray(given, dtype, copy=False)


def test_correction_is_another_name_of_ddof() -> None:
    theirs = np.arange(12.0).reshape(3, 4) ** 2
    mine = ac.array(theirs)
    for name in ("var", "std"):
        for correction in (0, 1, 2.5):
            wanted = getattr(np, name)(theirs, axis=1, correction=correction)
            for made in (getattr(ac, name)(mine, axis=1, correction=correction),
                         getattr(mine, name)(axis=1, correction=correction)):  # fmt: skip
                np.testing.assert_allclose(made.get(), wanted, rtol=1e-12)
        with pytest.raises(ValueError, match="ddof and correction"):
            getattr(ac, name)(mine, ddof=1, correction=1)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "bool"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_a_descending_sort_keeps_the_order_of_equal_elements(axis: int | None, dtype: str) -> None:
    theirs = np.array([[3, 1, 2, 3], [2, 2, 1, 0], [3, 0, 0, 1]]).astype(dtype)
    mine = ac.array(theirs)
    # Negative keys in a wider dtype sort the other way round.
    places = np.argsort(-theirs.astype("int64"), axis=axis, kind="stable")
    flat = theirs.ravel() if axis is None else theirs
    wanted = np.take_along_axis(flat, places, 0 if axis is None else axis)
    for stable in (None, True, False):
        found = ac.argsort(mine, axis, descending=True, stable=stable)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found.get(), places)
        made = ac.sort(mine, axis, descending=True, stable=stable)
        assert made.dtype == theirs.dtype
        np.testing.assert_array_equal(made.get(), wanted)
    np.testing.assert_array_equal(ac.sort(mine, axis, stable=True).get(), np.sort(theirs, axis))
    if axis is not None:
        mine.sort(axis, descending=True)
        np.testing.assert_array_equal(mine.get(), wanted)


def test_nan_comes_first_in_a_descending_sort() -> None:
    a = ac.array([1.0, float("nan"), 2.0])
    np.testing.assert_array_equal(ac.sort(a, descending=True).get(), [np.nan, 2, 1])
    assert ac.argsort(a, descending=True).tolist() == [1, 2, 0]
    assert ac.argsort(ac.zeros(0), descending=True).shape == (0,)
    assert ac.sort(ac.zeros((2, 0)), descending=True).shape == (2, 0)
