"""Tests functions that select elements, and functions that make indices: NumPy's results, NumPy's
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
To = Callable[[Any], Any]
Case = Callable[[Any, To], Any]
ON_DEVICE = session.bridge.device_text() != ""

X = np.random.default_rng(1).integers(-9, 9, (3, 4)).astype("float32")
TURNED = np.asfortranarray(X)
I = np.array([[0, 5], [-1, 2]])  # noqa: E741
FAR = np.array([1, 20, -30])
ORDER = np.argsort(X, axis=1)
PICKS = np.array([[0, 1, 2, 1], [2, 2, 0, 1]])
CHOICES = [np.arange(4), np.arange(4) * 10, np.arange(4) * 100]


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def same(case: Case, module: Any = np) -> None:
    """Assert that `case` gives the same arrays in NumPy and in arraycore.

    `case` is called with the module and with the function that makes the module's arrays.
    """
    expected = listed(case(np, np.array))
    made = listed(case(ac, ac.array))
    assert len(made) == len(expected)
    for mine, right in zip(made, expected, strict=True):
        wanted = np.asarray(right)
        # NumPy's default integer has a pointer's size, 32 bits in browsers.
        dtypes = {wanted.dtype, np.dtype(np.int64) if wanted.dtype == np.intp else wanted.dtype}
        assert mine.shape == wanted.shape
        assert mine.dtype in dtypes
        np.testing.assert_array_equal(mine.get(), wanted)


CASES: dict[str, Case] = {
    "take flat": lambda xp, a: xp.take(a(X), a(I)),
    "take flat of another order": lambda xp, a: xp.take(a(X.T), a(I)),
    "take flat by a list": lambda xp, a: xp.take(a(X), [1, 2, -3]),
    "take flat by an int": lambda xp, a: xp.take(a(X), 5),
    "take rows": lambda xp, a: xp.take(a(X), a(np.array([[0, 2], [-1, 1]])), axis=0),
    "take columns": lambda xp, a: xp.take(a(X), [3, 0], axis=-1),
    "take one column": lambda xp, a: xp.take(a(X), 2, axis=1),
    "take wrap": lambda xp, a: xp.take(a(X), a(FAR), mode="wrap"),
    "take clip": lambda xp, a: xp.take(a(X), a(FAR), axis=1, mode="clip"),
    "take wrap by int8": lambda xp, a: xp.take(a(np.arange(900)), a(FAR.astype("i1")), mode="wrap"),
    "take clip by uint8": lambda xp, a: xp.take(a(X), a(np.array([200, 1], "u1")), mode="clip"),
    "take clip by a list": lambda xp, a: xp.take(a(X), [20, -5], mode="clip"),
    "take by bools": lambda xp, a: xp.take(a(X), a(np.array([True, False]))),
    "take by a short list": lambda xp, a: xp.take(a(np.arange(900)), np.array([-1, 9], "i1")),
    "take clip by short ones": lambda xp, a: xp.take(
        a(np.arange(900)), np.array([-1, 9], "i1"), mode="clip"
    ),
    "take none": lambda xp, a: xp.take(a(np.zeros(0)), []),
    "take method": lambda xp, a: a(X).take([1, 0], axis=0),
    "take_along_axis": lambda xp, a: xp.take_along_axis(a(X), a(ORDER), 1),
    "take_along_axis some": lambda xp, a: xp.take_along_axis(a(X), a(ORDER[:1, :2]), axis=-1),
    "take_along_axis rows": lambda xp, a: xp.take_along_axis(a(X), a(ORDER[:2] % 3), axis=0),
    "take_along_axis flat": lambda xp, a: xp.take_along_axis(a(X), a(np.array([3, -2])), None),
    "choose": lambda xp, a: xp.choose(a(PICKS), [a(each) for each in CHOICES]),
    "choose wrap": lambda xp, a: xp.choose(a(PICKS * 2 - 1), [a(c) for c in CHOICES], mode="wrap"),
    "choose clip": lambda xp, a: xp.choose(a(PICKS * 2 - 1), [a(c) for c in CHOICES], mode="clip"),
    "choose scalars": lambda xp, a: xp.choose(a(PICKS), [1, 2, 3.5]),
    "choose of an array": lambda xp, a: a(PICKS).choose(a(np.array(CHOICES))),
    "nonzero": lambda xp, a: xp.nonzero(a(X)),
    "nonzero method": lambda xp, a: a(X > 3).nonzero(),
    "nonzero turned": lambda xp, a: xp.nonzero(a(X).T),
    "nonzero of NaN": lambda xp, a: xp.nonzero(a(np.array([0.0, -0.0, np.nan, 1e-300]))),
    "nonzero of nothing": lambda xp, a: xp.nonzero(a(np.zeros((0, 3)))),
    "flatnonzero": lambda xp, a: xp.flatnonzero(a(X) > 0),
    "argwhere": lambda xp, a: xp.argwhere(a(X) > 0),
    "argwhere of one": lambda xp, a: xp.argwhere(a(np.array(3))),
    "compress rows": lambda xp, a: xp.compress([True, False, True], a(X), axis=0),
    "compress flat": lambda xp, a: xp.compress([1, 0, 1], a(X)),
    "compress by numbers": lambda xp, a: xp.compress(a(np.array([1, 0, 2])), a(X), axis=1),
    "compress longer": lambda xp, a: xp.compress(a(np.array([0, 1, 0, 0, 0])), a(X), axis=1),
    "compress method": lambda xp, a: a(X).compress(a(np.array([False, True, True])), axis=0),
    "extract": lambda xp, a: xp.extract(a(X) > 0, a(X)),
    "select": lambda xp, a: xp.select([a(X) > 3, a(X) < 0], [a(X), a(X) * 2], 7),
    "select scalars": lambda xp, a: xp.select([a(X) > 3, a(X) < 0], [1, 2]),
    "where alone": lambda xp, a: xp.where(a(X) > 0),
    "where scalar": lambda xp, a: xp.where(a(X) > 0, a(X), 0),
    "where broadcast": lambda xp, a: xp.where(a(X) > 0, 1.5, a(np.arange(4))),
    "where scalars": lambda xp, a: xp.where(a(X), 1, 2),
    "where complex": lambda xp, a: xp.where(a(X) > 0, a(X), 2j),
    "where strong": lambda xp, a: xp.where(a(X) > 0, np.float64(2), a(X)),
    "where arrays": lambda xp, a: xp.where(a(X[:1]) > 0, a(X.astype("i2")), a(X[:, :1])),
    "where true": lambda xp, a: xp.where(True, a(X), a(X) * 2),
    "ix_": lambda xp, a: xp.ix_([0, 1], a(np.array([2, 3, 1]))),
    "ix_ of bools": lambda xp, a: xp.ix_([True, False, True], [2, 3]),
    "ix_ indexes": lambda xp, a: a(X)[xp.ix_([0, 2], [3, 1])],
    "indices": lambda xp, a: xp.indices((2, 3)),
    "indices sparse": lambda xp, a: xp.indices((2, 3), sparse=True),
    "ravel_multi_index": lambda xp, a: xp.ravel_multi_index((a(PICKS), a(PICKS.T[:1, :1])), (3, 4)),
    "ravel_multi_index F": lambda xp, a: xp.ravel_multi_index(
        (a(PICKS[0]), a(PICKS[1])), (3, 4), order="F"
    ),
    "ravel_multi_index wrap": lambda xp, a: xp.ravel_multi_index(
        (a(PICKS[0] * 5 - 2), a(PICKS[1])), (3, 4), mode=("wrap", "clip")
    ),
    "ravel_multi_index of lists": lambda xp, a: xp.ravel_multi_index(([1, 2], [3, 0]), (3, 4)),
    "unravel_index": lambda xp, a: xp.unravel_index(a(np.array([[0, 5], [11, 7]])), (3, 4)),
    "unravel_index F": lambda xp, a: xp.unravel_index(a(np.array([0, 5])), (3, 4), order="F"),
    "unravel_index of a list": lambda xp, a: xp.unravel_index([3, 4], (3, 4)),
    "diag_indices": lambda xp, a: xp.diag_indices(3, 3),
    "diag_indices_from": lambda xp, a: xp.diag_indices_from(a(np.zeros((3, 3)))),
    "tril_indices": lambda xp, a: xp.tril_indices(4, 1, 3),
    "triu_indices": lambda xp, a: xp.triu_indices(4),
    "tril_indices_from": lambda xp, a: xp.tril_indices_from(a(X), -1),
    "triu_indices_from": lambda xp, a: xp.triu_indices_from(a(X), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_what_numpys_gives(name: str) -> None:
    same(CASES[name])


def test_mask_indices_asks_a_function_of_matrices() -> None:
    def corner(matrix: Any, k: int) -> Any:
        made = matrix.copy()
        made[: 2 + k] = 0
        return made

    expected = np.mask_indices(4, corner, 1)
    for mine, right in zip(ac.mask_indices(4, corner, 1), expected, strict=True):
        np.testing.assert_array_equal(mine.get(), right)


def test_out_is_written_and_given_back() -> None:
    out = ac.zeros((2, 4), "float64")
    assert ac.take(ac.array(X), [2, 0], axis=0, out=out) is out
    np.testing.assert_array_equal(out.get(), X[[2, 0]])
    assert ac.compress([True, False, True], ac.array(X), axis=0, out=out) is out
    np.testing.assert_array_equal(out.get(), X[[0, 2]])
    with pytest.raises(ValueError, match="does not match"):
        ac.take(ac.array(X), [1], axis=0, out=out)


MISTAKES: dict[str, Case] = {
    "take out of bounds": lambda xp, a: xp.take(a(X), [1, 20, -30]),
    "take row out of bounds": lambda xp, a: xp.take(a(X), [3], axis=0),
    "take from nothing": lambda xp, a: xp.take(a(np.zeros((0, 3))), [0], axis=0),
    "take by floats": lambda xp, a: xp.take(a(X), a(np.array([1.5]))),
    "take axis": lambda xp, a: xp.take(a(X), [0], axis=2),
    "take_along_axis dimensions": lambda xp, a: xp.take_along_axis(a(X), a(ORDER[0]), 1),
    "take_along_axis floats": lambda xp, a: xp.take_along_axis(a(X), a(X), 1),
    "take_along_axis flat": lambda xp, a: xp.take_along_axis(a(X), a(ORDER), None),
    "choose lists": lambda xp, a: xp.choose(a(PICKS[0, :3]), [a(each) for each in CHOICES]),
    "nonzero of a scalar": lambda xp, a: xp.nonzero(a(np.array(3))),
    "where of one": lambda xp, a: xp.where(a(X), a(X)),
    "where shapes": lambda xp, a: xp.where(a(X), a(X[:, :3]), 1),
    "compress dimensions": lambda xp, a: xp.compress(a(X) > 0, a(X)),
    "select lengths": lambda xp, a: xp.select([a(X) > 3], [1, 2]),
    "select nothing": lambda xp, a: xp.select([], []),
    "select numbers": lambda xp, a: xp.select([a(X)], [1]),
    "ix_ of a matrix": lambda xp, a: xp.ix_(a(X)),
    "ravel_multi_index lengths": lambda xp, a: xp.ravel_multi_index((a(PICKS),), (3, 4)),
    "ravel_multi_index of lists": lambda xp, a: xp.ravel_multi_index(([3], [0]), (3, 4)),
    "ravel_multi_index floats": lambda xp, a: xp.ravel_multi_index((a(X), a(X)), (3, 4)),
    "unravel_index of a list": lambda xp, a: xp.unravel_index([12], (3, 4)),
    "diag_indices_from": lambda xp, a: xp.diag_indices_from(a(X)),
    "tril_indices_from": lambda xp, a: xp.tril_indices_from(a(X[0])),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_an_error_of_numpys_kind(name: str) -> None:
    with pytest.raises((IndexError, ValueError, TypeError)) as expected:
        MISTAKES[name](np, np.array)
    with pytest.raises(expected.type):
        MISTAKES[name](ac, ac.array)


OUTSIDE: dict[str, Case] = {
    "take": lambda xp, a: xp.take(a(X), a(FAR)),
    "choose": lambda xp, a: xp.choose(a(PICKS + 1), [a(each) for each in CHOICES]),
    "ravel_multi_index": lambda xp, a: xp.ravel_multi_index((a(PICKS), a(PICKS + 3)), (3, 4)),
    "unravel_index": lambda xp, a: xp.unravel_index(a(np.array([0, 12])), (3, 4)),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_arrays_out_of_bounds_raise_on_the_cpu_and_nothing_is_read_on_a_device(name: str) -> None:
    with pytest.raises((IndexError, ValueError)) as expected:
        OUTSIDE[name](np, np.array)
    if not ON_DEVICE:
        with pytest.raises(expected.type) as raised:
            OUTSIDE[name](ac, ac.array)
        assert str(raised.value) == str(expected.value)
        return
    before = ac.counters()["bytes_down"]
    OUTSIDE[name](ac, ac.array)
    assert ac.counters()["bytes_down"] == before


@pytest.mark.usefixtures("cupys_rules")
def test_numpys_arrays_are_not_converted() -> None:
    for try_it in (
        lambda: ac.take(X, [0]),  # type: ignore[arg-type]
        lambda: ac.where(ac.array(X) > 0, X, 1),
        lambda: ac.nonzero(X),  # type: ignore[arg-type]
        lambda: ac.extract(X > 0, X),  # type: ignore[arg-type]
        lambda: ac.diag_indices_from(X),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="Unsupported type"):
            try_it()


def test_where_follows_the_promotion_mode() -> None:
    a = ac.array(X)
    assert ac.where(a > 0, a, np.float64(1)).dtype == "float64"
    session.bridge.set_promotion(1)
    try:
        assert ac.where(a > 0, a, np.float64(1)).dtype == "float32"
    finally:
        session.bridge.set_promotion(0)
