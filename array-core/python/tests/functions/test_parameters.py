"""Tests parameters of NumPy's that few programs use, and the codes of arraycore's own errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime.devices import get_elapsed_time

RNG = np.random.default_rng(23)
CUBE = RNG.integers(0, 3, (4, 3, 5)).astype(np.float32)


def same(ours: Any, theirs: Any, rtol: float = 0.0) -> None:
    """Assert that results, or tuples of them, have the same shapes, dtypes and values."""
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, rtol)
        return
    theirs = np.asarray(theirs)
    # Indices have 64 bits on every host, where NumPy's have 32 in browsers.
    allowed = {theirs.dtype, np.dtype(np.int64) if theirs.dtype == np.intp else theirs.dtype}
    assert ours.dtype in allowed
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours.get(), theirs, rtol)


@pytest.mark.parametrize("order", ["K", "A", "C", "F", None])
@pytest.mark.parametrize("turned", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_new_arrays_are_laid_out_as_the_given_one(
    order: str | None, turned: tuple[int, ...]
) -> None:
    theirs, ours = CUBE.transpose(turned), ac.array(CUBE).transpose(turned)
    for shape in (None, (2, 3, 4), (6,)):
        expected = np.zeros_like(theirs, "int32", order, True, shape)
        for made in (
            ac.zeros_like(ours, "int32", order, True, shape),
            ac.ones_like(ours, "int32", order, True, shape),
            ac.empty_like(ours, "int32", order, True, shape),
            ac.full_like(ours, 3, "int32", order, True, shape),
        ):
            assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
            assert made.strides == expected.strides
    assert float(ac.full_like(ours, 3).sum()) == 180


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "unique axis 0": lambda m, a: m.unique(a(CUBE[:, :, 0]), axis=0),
    "unique axis 1, all": lambda m, a: m.unique(a(CUBE), True, True, True, 1),
    "unique axis -1": lambda m, a: m.unique(a(CUBE[0, 0] % 2)[None], axis=-1, return_inverse=True),
    "unique of no part": lambda m, a: m.unique(a(CUBE[:0]), axis=0, return_counts=True),
    "unique of empty parts": lambda m, a: m.unique(a(CUBE[:, :0, 0]), axis=0),
    "intersect1d": lambda m, a: m.intersect1d(
        a(np.array([5, 1, 2, 2, 9])), a(np.array([2, 9, 9, 4])), return_indices=True
    ),
    "isin table": lambda m, a: m.isin(a(np.arange(5)), a(np.array([2, 4])), kind="table"),
    "var mean": lambda m, a: m.var(a(CUBE), 1, mean=a(CUBE).mean(1, keepdims=True)),
    "std mean": lambda m, a: m.std(
        a(CUBE), (0, 2), ddof=1, mean=a(CUBE).mean((0, 2), keepdims=True), keepdims=True
    ),
    "nanvar correction": lambda m, a: m.nanvar(
        a(np.where(CUBE == 2, np.nan, CUBE).astype(np.float32)), 2, correction=1
    ),
    "nanstd mean": lambda m, a: m.nanstd(
        a(np.where(CUBE == 2, np.nan, CUBE).astype(np.float32)), 2,
        mean=a(np.full((4, 3, 1), 0.5, np.float32)),
    ),
    "trim_zeros of a cube": lambda m, a: m.trim_zeros(a(np.pad(CUBE + 1, 2))),
    "trim_zeros axis": lambda m, a: m.trim_zeros(a(np.pad(CUBE[0] + 1, 1)), "f", axis=1),
    "trim_zeros of zeros": lambda m, a: m.trim_zeros(a(np.zeros((2, 3)))),
    "clip where": lambda m, a: m.clip(a(CUBE), 1, None, a(np.zeros((4, 3, 5))), where=a(CUBE > 0)),
    "clip dtype": lambda m, a: m.clip(a(CUBE), 0, 1, dtype=np.float64),
    "clip of no limit": lambda m, a: m.clip(a(CUBE), None, None),
    "matmul axes": lambda m, a: m.matmul(
        a(CUBE[0]), a(CUBE[1]), axes=[(0, 1), (1, 0), (1, 0)]
    ),
    "matmul dtype": lambda m, a: m.matmul(a(CUBE[0]), a(CUBE[0].T), dtype=np.float64),
    "matmul to integers": lambda m, a: m.matmul(
        a(CUBE[0]), a(CUBE[0].T), a(np.zeros((3, 3), np.int32)), casting="unsafe"
    ),
    "vecdot axis": lambda m, a: m.vecdot(a(CUBE), a(CUBE), axis=1),
    "vecdot keepdims": lambda m, a: m.vecdot(a(CUBE), a(CUBE), axis=0, keepdims=True),
    "vecdot out": lambda m, a: m.vecdot(a(CUBE), a(CUBE), a(np.zeros((4, 3), np.float32))),
    "matvec axes": lambda m, a: m.matvec(a(CUBE), a(CUBE[0, :, 0]), axes=[(0, 1), 0, 0]),
    "vecmat": lambda m, a: m.vecmat(a(CUBE[:, 0, :3]), a(CUBE[:, :, :2])),
    "linalg.vecdot": lambda m, a: m.linalg.vecdot(a(CUBE), a(CUBE), axis=0),
    "linalg.cross": lambda m, a: m.linalg.cross(a(CUBE), a(CUBE[::-1]), axis=1),
    "linalg.tensordot": lambda m, a: m.linalg.tensordot(a(CUBE), a(CUBE), axes=([0, 1], [0, 1])),
    "linalg.multi_dot": lambda m, a: m.linalg.multi_dot(
        [a(CUBE[0]), a(CUBE[0].T), a(CUBE[1])], out=a(np.zeros((3, 5), np.float32))
    ),
    "linalg.matrix_rank": lambda m, a: m.linalg.matrix_rank(a(CUBE.astype(float)), rtol=0.5),
    "linalg.pinv": lambda m, a: m.linalg.pinv(a(CUBE.astype(float)), rtol=1e-3),
    "fft out": lambda m, a: m.fft.fft(a(CUBE), out=a(np.zeros((4, 3, 5), np.complex64))),
    "frexp out": lambda m, a: m.frexp(
        a(CUBE), out=(a(np.full((4, 3, 5), 7, np.float32)), None), where=a(CUBE > 1)
    )[0],
    "copy keeps the layout": lambda m, a: m.copy(a(CUBE).T),
    "array ndmax": lambda m, a: m.array([1, 2], ndmax=1),
    "broadcast_arrays": lambda m, a: m.broadcast_arrays(a(CUBE), a(CUBE[0]), subok=True),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CALLS))
def test_results_are_numpys(name: str) -> None:
    call = CALLS[name]
    same(call(ac, ac.array), call(np, np.array), 2e-6)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda m, a: m.sort(a(CUBE), order="f"), ValueError),
        (lambda m, a: m.argsort(a(CUBE), order="f"), ValueError),
        (lambda m, a: m.partition(a(CUBE), 1, order="f"), ValueError),
        (lambda m, a: m.argpartition(a(CUBE), 1, order="f"), ValueError),
        (lambda m, a: m.isin(a(CUBE), a(CUBE), kind="hash"), ValueError),
        (lambda m, a: m.trim_zeros(a(CUBE), "x"), ValueError),
        (lambda m, a: m.var(a(CUBE), ddof=1, correction=1), ValueError),
        (lambda m, a: m.matmul(a(CUBE), a(CUBE), axis=1), TypeError),
        (lambda m, a: m.matmul(a(CUBE[0]), a(CUBE[0].T), keepdims=True), TypeError),
        (lambda m, a: m.matmul(a(CUBE[0]), a(CUBE[0].T), dtype=np.int32), TypeError),
        (lambda m, a: m.vecdot(a(CUBE), a(CUBE), axis=1, axes=[0, 0, ()]), TypeError),
        (lambda m, a: m.linalg.cross(a(CUBE), a(CUBE), axis=2), ValueError),
        (lambda m, a: m.fft.fft(a(CUBE), out=a(np.zeros((4, 3, 5)))), TypeError),
        (lambda m, a: m.fft.fft(a(CUBE), out=a(np.zeros((4, 5), np.complex64))), ValueError),
        (lambda m, a: m.unique(a(CUBE), axis=3), np.exceptions.AxisError),
        (lambda m, a: m.zeros_like(a(CUBE), order="Q"), ValueError),
    ],
)
def test_errors_are_numpys(call: Callable[[Any, Any], Any], kind: type[Exception]) -> None:
    for module, array in ((np, np.array), (ac, ac.array)):
        with pytest.raises(kind):
            call(module, array)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: ac.zeros(3, device=7), "unknown_device"),
        (lambda: ac.ones(3).to_device(1), "unknown_device"),
        (lambda: ac.ones(3).__array_namespace__(api_version="1999.1"), "unknown_api_version"),
        (lambda: ac.asarray([1, 2], copy=False), "needs_copy"),
        (lambda: ac.ones(3).__dlpack__(copy=False), "needs_copy"),
        (lambda: ac.ones(3).__dlpack__(stream=1), "exchange_on_host"),
        (lambda: ac.from_dlpack(np.ones(3), copy=False), "needs_copy"),
        (lambda: ac.open("cuda"), "unknown_backend"),
        (lambda: ac.ones(3).astype("M8[s]"), "unknown_dtype"),
        (lambda: ac.ones(3).astype(int, casting="safe"), "cannot_cast"),
        (lambda: get_elapsed_time(ac.Event(), ac.Event()), "event_without_time"),
    ],
)  # fmt: skip
def test_errors_of_arraycores_own_have_a_code(call: Callable[[], Any], code: str) -> None:
    with pytest.raises(Exception, match=r".") as raised:
        call()
    assert getattr(raised.value, "code", None) == code


@pytest.mark.parametrize(
    "call",
    [
        lambda m, a: m.repeat(a(CUBE[0, 0]), a(np.array([1, 0, 2, 3, 1]))),
        lambda m, a: m.delete(a(CUBE), a(np.array([1, 3])), 0),
        lambda m, a: m.insert(a(CUBE), a(np.array([1, 3])), 7, 0),
        lambda m, a: m.interp(
            a(np.array([-1.5, 0.5, 9.0])), a(np.array([3.0, 0.5, 1.0])), a(np.arange(3.0)), period=4
        ),
        lambda m, a: m.interp(
            a(np.array([-1.5, 9.0])), a(np.array([3.0, 0.5])), a(np.array([1j, 2.0])), period=-4
        ),
        lambda m, a: m.histogram(a(CUBE), bins="sturges"),
        lambda m, a: m.sinc(a(np.array([0, 1 + 2j, -0.5, 1e-3j]))),
        lambda m, a: m.pad(a(CUBE), {0: 1, -1: (0, 2)}, "edge"),
        lambda m, a: m.pad(a(CUBE), a(np.array([1, 2]))),
        lambda m, a: m.pad(a(CUBE[0]), ((7, 1), (2, 11)), "reflect", reflect_type="odd"),
        lambda m, a: m.pad(a(CUBE[0]), 9, "symmetric", reflect_type="odd"),
        lambda m, a: m.pad(a(CUBE), 2, "median", stat_length=((1, 2), (2, 1), (3, 4))),
        lambda m, a: m.pad(a(CUBE[0]), 1, fills_by_axis, factor=3),
    ],
)
def test_what_was_refused_once_is_numpys(call: Callable[[Any, Any], Any]) -> None:
    same(call(ac, ac.array), call(np, np.array), 2e-6)


def fills_by_axis(row: Any, widths: Any, axis: int, kwargs: Any) -> None:
    row[: widths[0]] = kwargs["factor"] * (axis + 1)
    row[row.shape[0] - widths[1] :] = row[widths[0]]


def test_variances_of_too_few_numbers_are_nan_about_a_given_mean() -> None:
    a = np.array([[1.0, np.nan], [1.0, 3.0]])
    for name in ("nanvar", "nanstd"):
        found = getattr(ac, name)(ac.array(a), axis=1, ddof=1, mean=ac.zeros((2, 1))).get()
        assert np.isnan(found[0])
        assert found[1] == (10.0 if name == "nanvar" else np.sqrt(10.0))


def test_a_size_that_does_not_match_the_parameters_is_refused() -> None:
    chances = ac.array([0.1, 0.5, 0.9])
    assert ac.random.binomial(1, chances, (4, 3)).shape == (4, 3)
    for draw in (lambda: ac.random.binomial(1, chances, (1,)),
                 lambda: ac.random.geometric(chances, (1,))):  # fmt: skip
        with pytest.raises(ValueError, match="size"):
            draw()
