"""Tests the class of polynomials against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

FIRST, SECOND = np.array([0.0, 0, 3, -1, 2]), np.array([1.0, -4])


def same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(theirs, np.poly1d):
        assert isinstance(ours, ac.poly1d)
        same(ours.coeffs, theirs.coeffs)
    else:
        theirs = np.asarray(theirs)
        assert ours.shape == theirs.shape
        assert ours.dtype.kind == theirs.dtype.kind
        np.testing.assert_allclose(ours.get(), theirs, 1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, p, q, a: p,
        lambda m, p, q, a: p + q,
        lambda m, p, q, a: p - q,
        lambda m, p, q, a: 3 - p,
        lambda m, p, q, a: p * q,
        lambda m, p, q, a: 2 * p + 1,
        lambda m, p, q, a: p / q,
        lambda m, p, q, a: p / 2,
        lambda m, p, q, a: [1.0, 2, 3] / q,
        lambda m, p, q, a: p**3,
        lambda m, p, q, a: p**0,
        lambda m, p, q, a: -p,
        lambda m, p, q, a: +q,
        lambda m, p, q, a: p(2.0),
        lambda m, p, q, a: p(a(np.array([[1.0, 2], [3, 4]]))),
        lambda m, p, q, a: p(q),
        lambda m, p, q, a: p.deriv(),
        lambda m, p, q, a: p.deriv(2),
        lambda m, p, q, a: p.integ(2, [1, 2]),
        lambda m, p, q, a: p.roots,
        lambda m, p, q, a: p.r,
        lambda m, p, q, a: p.c,
        lambda m, p, q, a: p[1],
        lambda m, p, q, a: p[9],
        lambda m, p, q, a: m.poly1d([1.0, 2], r=True),
        lambda m, p, q, a: m.polyval(p, 2.0),
        lambda m, p, q, a: m.polyadd(p, [1.0]),
        lambda m, p, q, a: m.polymul(FIRST, q),
        lambda m, p, q, a: m.polyder(p),
        lambda m, p, q, a: m.polyint(p),
        lambda m, p, q, a: m.polydiv(p, q),
        lambda m, p, q, a: m.roots(p),
    ],
)
def test_results_are_numpys(call: Callable[..., Any]) -> None:
    ours = call(ac, ac.poly1d(FIRST), ac.poly1d(ac.array(SECOND)), ac.array)
    same(ours, call(np, np.poly1d(FIRST), np.poly1d(SECOND), np.array))


def test_a_polynomial_is_read_and_changed() -> None:
    p = ac.poly1d(FIRST, variable="z")
    assert (p.order, p.o, len(p)) == (2, 2, 2)
    assert [float(each) for each in p] == [3, -1, 2]
    assert str(p) == str(np.poly1d(FIRST, variable="z"))
    assert repr(p) == repr(np.poly1d(FIRST))
    assert ac.poly1d(p).variable == "z"
    p[4] = 7
    p[0] = 1
    assert p.coeffs.tolist() == [7, 0, 3, -1, 1]
    assert p == ac.poly1d([7, 0, 3, -1, 1])
    assert p != ac.poly1d([1])
    assert p != "text"
    assert isinstance(p.get(), np.poly1d)


def test_what_numpy_refuses_is_refused() -> None:
    p = ac.poly1d(FIRST)
    with pytest.raises(ValueError, match="negative powers"):
        p[-1] = 2
    with pytest.raises(ValueError, match="non-negative"):
        p**-1
    with pytest.raises(TypeError):
        hash(p)
    with pytest.raises(ValueError, match="vector"):
        ac.poly1d(np.zeros((2, 2)))
