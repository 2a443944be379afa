"""Compares functions along an axis, of bits, of polynomials and of samples with NumPy's.

A call is written once, as a function of a module `m` (NumPy or arraycore) and of the function `a`
that makes the module's arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

Call = Callable[[Any, Callable[..., Any]], Any]

RNG = np.random.default_rng(5)
V = np.array([3.5, -1.0, 2.25, -1.0, 0.0, 7.5, -2.5, 2.25], np.float32)
K = np.array([5, 3, 0, 0, 2, 3, 3, 9], np.int32)
M = RNG.normal(size=(3, 7)).astype(np.float32)
T = RNG.normal(size=(2, 3, 5)).astype(np.float32)
Z = (M + 1j * M[::-1]).astype(np.complex64)
D = M.astype(np.float64)
BITS = RNG.integers(0, 2, (3, 13)).astype(bool)
BYTES = RNG.integers(0, 256, (2, 5), dtype=np.uint8)
ODD = np.array([0.0, -0.0, 1.0, -3.5, 1e-30, 6e4, np.inf, -np.inf, np.nan, 0.5], np.float32)
FINITE = ODD[np.isfinite(ODD)]


def same(ours: Any, theirs: Any, rtol: float = 2e-6) -> None:
    """Assert that two results have the same dtype and shape and are close. A result may be a tuple
    or list.
    """
    if isinstance(theirs, (tuple, list)) and not isinstance(ours, ac.ndarray):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, rtol)
        return
    if not isinstance(ours, ac.ndarray):
        assert ours == theirs
        return
    expected = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(ours.get(), expected, rtol=rtol, atol=rtol)


def _totals(m: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a running total with dtype int64, which is NumPy's default on some machines only."""
    return getattr(m, name)(*args, dtype="int64", **kwargs)


CALLS: dict[str, Call] = {
    "frexp": lambda m, a: [m.frexp(a(FINITE)), m.frexp(a(FINITE.astype("float64"))),
                           m.frexp(a(FINITE.astype("float16"))), m.frexp(a(K)),
                           m.frexp(a(np.array([5e-324, -1e-310, 1.7e308])))],
    "packbits": lambda m, a: [m.packbits(a(BITS)), m.packbits(a(BITS), 0), m.packbits(a(BITS), -1),
                              m.packbits(a(K), bitorder="little"), m.packbits(a(BITS[:0]))],
    "unpackbits": lambda m, a: [m.unpackbits(a(BYTES)), m.unpackbits(a(BYTES), 0),
                                m.unpackbits(a(BYTES), 1, count=13, bitorder="little"),
                                m.unpackbits(a(BYTES), -1, count=-3),
                                m.unpackbits(a(BYTES), 1, count=50)],
    "polyval": lambda m, a: [m.polyval(a(V), a(M)), m.polyval(a(K), a(K)), m.polyval(a(K), a(Z)),
                             m.polyval(a(K[:0]), a(M))],
    "polyadd": lambda m, a: [m.polyadd(a(V), a(K[:3])), m.polyadd(a(K), a(K))],
    "polysub": lambda m, a: [m.polysub(a(V), a(K[:3])), m.polysub(a(K[:2]), a(V))],
    "polymul": lambda m, a: [m.polymul(a(V), a(K)), m.polymul(a(V[:2]), a(V[:3]))],
    "polydiv": lambda m, a: m.polydiv(a(D[0]), a(D[1, :3])),
    "polyder": lambda m, a: [m.polyder(a(V)), m.polyder(a(V), 3), m.polyder(a(D[0]), 0)],
    "polyint": lambda m, a: [m.polyint(a(D[0])), m.polyint(a(D[0]), 2, [1, 2]),
                             m.polyint(a(D[0]), 2, k=3.0), m.polyint(a(D[0]), 0)],
    "polyfit": lambda m, a: m.polyfit(a(D[0]), a(D[1]), 2),
    "roots": lambda m, a: [m.roots(a(np.array([1.0, -6, 11, -6]))),
                           m.roots(a(np.array([1.0, 0, 4])))],
    "poly": lambda m, a: [m.poly(a(np.array([1.0, 2, 3]))),
                          m.poly(a(np.array([[1.0, 2], [2, 5]])))],
    "cov": lambda m, a: [m.cov(a(M)), m.cov(a(D), rowvar=False), m.cov(a(M), dtype="float32"),
                         m.cov(a(D[0]), a(D[1])), m.cov(a(D), bias=True), m.cov(a(D), ddof=2),
                         m.cov(a(Z)), m.cov(a(D[0])), m.cov(a(D), fweights=a(K[:7])),
                         m.cov(a(D), aweights=a(np.abs(D[0]))),
                         m.cov(a(D), fweights=a(K[:7] + 1), aweights=a(np.abs(D[1])), ddof=0)],
    "corrcoef": lambda m, a: [m.corrcoef(a(M)), m.corrcoef(a(D[0]), a(D[2])), m.corrcoef(a(Z)),
                              m.corrcoef(a(D), rowvar=False), m.corrcoef(a(M), dtype="float32"),
                              m.corrcoef(a(D[0]))],
    "histogram2d": lambda m, a: [m.histogram2d(a(M[0]), a(M[1])),
                                 m.histogram2d(a(M[0]), a(M[1]), [3, 4], [[-1, 1], [-2, 2]]),
                                 m.histogram2d(a(M[0]), a(M[1]), [-2, 0, 0.5, 2]),
                                 m.histogram2d(a(M[0]), a(M[1]), 4, density=True),
                                 m.histogram2d(a(M[0]), a(M[1]), 3, weights=a(M[2]))],
    "histogramdd": lambda m, a: [m.histogramdd(a(M.T), 3)[0],
                                 m.histogramdd([a(V), a(V[::-1])], 2)[0],
                                 m.histogramdd(a(V), 4)[0], *m.histogramdd(a(M[:2].T), (2, 3))[1]],
    "cumulative_sum": lambda m, a: [
        m.cumulative_sum(a(V)), m.cumulative_sum(a(M), axis=1, include_initial=True),
        _totals(m, "cumulative_sum", a(K), include_initial=True)],
    "cumulative_prod": lambda m, a: [
        m.cumulative_prod(a(V)), m.cumulative_prod(a(M), axis=0, include_initial=True),
        _totals(m, "cumulative_prod", a(K[:2]))],
    "trapezoid": lambda m, a: [m.trapezoid(a(V)), m.trapezoid(a(M), a(V[:7])),
                               m.trapezoid(a(M), a(M * 2), axis=0),
                               m.trapezoid(a(T), dx=0.5, axis=1),
                               m.trapezoid(a(K))],
    "unwrap": lambda m, a: [m.unwrap(a(V * 2)), m.unwrap(a(M * 9), axis=0), m.unwrap(a(D * 9), 4),
                            m.unwrap(a(K), period=4), m.unwrap(a(K), period=5),
                            m.unwrap(a(np.array([0, np.pi, 0, -np.pi])))],
    "i0": lambda m, a: [m.i0(a(D * 3)), m.i0(a(np.array([0, 20.0, 700, -9])))],
    "real_if_close": lambda m, a: [m.real_if_close(a(Z)), m.real_if_close(a(M)),
                                   m.real_if_close(a(M + 1e-7j * np.ones(7)), 1e-6)],
    "asarray_chkfinite": lambda m, a: m.asarray_chkfinite(a(M)),
    "piecewise": lambda m, a: [
        m.piecewise(a(V), [a(V) < 0, a(V) > 2], [lambda x: -x, 7]),
        m.piecewise(a(V), [a(V) < 0], [lambda x, by: x * by, lambda x, by: x / by], 3),
        m.piecewise(a(K), a(K) > 3, [1, 2])],
    "apply_along_axis": lambda m, a: [
        m.apply_along_axis(lambda row: row.sum(), 0, a(T)),
        m.apply_along_axis(lambda row: row[::-1] * 2, 1, a(T)),
        m.apply_along_axis(lambda row: m.outer(row, row), 1, a(T)),
        m.apply_along_axis(lambda row, by: row.max() + by, -1, a(T), by=2)],
    "apply_over_axes": lambda m, a: [m.apply_over_axes(m.sum, a(T), (0, -1)),
                                     m.apply_over_axes(m.max, a(T), 1)],
    "r_": lambda m, a: [m.r_[a(V), 0, a(V)], m.r_[a(M), a(M)], m.r_[0.0:1.0:0.25, a(D[0])],
                        m.r_[-1:1:3j, 5.0]],
    "c_": lambda m, a: [m.c_[a(V), a(V)], m.c_[a(M), a(M)]],
    "matvec": lambda m, a: [m.matvec(a(T), a(V[:5])), m.matvec(a(Z), a(Z[0]))],
    "vecmat": lambda m, a: [m.vecmat(a(V[:3]), a(T)), m.vecmat(a(Z[:, 0]), a(Z))],
    "matrix_transpose": lambda m, a: m.matrix_transpose(a(T)),
    "astype": lambda m, a: [m.astype(a(V), "int8"), m.astype(a(K), "float32", copy=False)],
    "permute_dims": lambda m, a: [m.permute_dims(a(T), (2, 0, 1)), m.permute_dims(a(M))],
    "isfortran": lambda m, a: [m.isfortran(a(M)), m.isfortran(a(M).T), m.isfortran(a(V))],
    "einsum_path": lambda m, a: list(m.einsum_path("ij,jk,kl->il", a(M), a(M.T), a(M))),
    "flat": lambda m, a: [a(M).flat[3], a(M).flat[2:9:3], a(M).T.flat[[1, 5]],
                          [float(x) for x in a(M).flat], len(a(M).flat)],
}  # fmt: skip
#: Functions that older versions of NumPy lack.
NEWER = ("cumulative_sum", "cumulative_prod", "trapezoid", "matvec", "vecmat", "matrix_transpose",
         "astype", "permute_dims")  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CALLS if name not in NEWER or hasattr(np, name)])
def test_as_numpy(name: str) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = CALLS[name](np, np.array)
    same(CALLS[name](ac, ac.array), expected)


def test_i0_of_floats_is_as_exact_as_their_type() -> None:
    x = np.linspace(-80, 80, 999).astype(np.float32)
    exact = np.i0(x.astype(np.float64))
    # The result is the sum of a series, of which about |x| / 2 terms matter. Each term takes two
    # products and two quotients, and in WGSL a quotient may err by 2.5 units in the last place.
    of_terms = 0 if ac.device_info().name == "cpu" else 3 * np.finfo(x.dtype).eps * np.abs(x)
    apart = np.abs(ac.i0(ac.array(x)).get() - exact) / exact
    assert np.all(apart < 2e-6 + of_terms), apart.max()
    odd = ac.i0(ac.array(np.array([np.inf, np.nan, 95], np.float32))).get()
    np.testing.assert_array_equal(odd, np.array([np.inf, np.nan, np.inf], np.float32))


def test_frexp_of_what_is_not_finite() -> None:
    mantissa, exponent = ac.frexp(ac.array(ODD))  # NumPy's exponents vary by machine
    np.testing.assert_array_equal(mantissa.get()[6:9], ODD[6:9])
    np.testing.assert_array_equal(exponent.get()[6:9], np.zeros(3, np.int32))


def test_flat_is_written_and_told_apart() -> None:
    ours, theirs = ac.array(M), M.copy()
    for key, value in ((3, 9.0), (slice(5, 8), [1, 2]), (slice(None, None, 4), 0.5)):
        ours.flat[key] = value
        theirs.flat[key] = value
    turned, other = ours[::-1, ::2].T, theirs[::-1, ::2].T
    turned.flat[4] = -1
    other.flat[4] = -1
    np.testing.assert_array_equal(ours.get(), theirs)
    ours.flat = [1, 2, 3]
    theirs.flat = [1, 2, 3]
    np.testing.assert_array_equal(ours.get(), theirs)
    with pytest.raises(NotImplementedError, match="put"):
        ours.flat[ac.array([1])] = 2


def test_what_is_in_an_array() -> None:
    assert 2.25 in ac.array(V)
    assert 2.5 not in ac.array(V)


def test_arrays_are_written_to_files(tmp_path: Any) -> None:
    import pickle

    a = ac.array(M)
    np.testing.assert_array_equal(pickle.loads(a.dumps()).get(), M)
    a.dump(tmp_path / "pickled")
    with open(tmp_path / "opened", "wb") as file:
        a.dump(file)
    assert (tmp_path / "pickled").read_bytes() == (tmp_path / "opened").read_bytes()
    a.tofile(tmp_path / "raw")
    np.testing.assert_array_equal(np.fromfile(tmp_path / "raw", np.float32), M.ravel())


WRONG: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "frexp": (TypeError, "complex", lambda: ac.frexp(ac.array(Z))),
    "packbits": (TypeError, "integer or boolean", lambda: ac.packbits(ac.array(V))),
    "bitorder": (ValueError, "little", lambda: ac.packbits(ac.array(K), bitorder="middle")),
    "unpackbits": (TypeError, "unsigned byte", lambda: ac.unpackbits(ac.array(K))),
    "count": (ValueError, "less than or equal to 80", lambda: ac.unpackbits(ac.array(BYTES),
                                                                           count=-81)),
    "polyval": (ValueError, "vector", lambda: ac.polyval(ac.array(M), 1)),
    "bools": (TypeError, "bools", lambda: ac.polyval(ac.array([True]), ac.array([True]))),
    "polyder": (ValueError, "positive", lambda: ac.polyder(ac.array(V), -1)),
    "polyint": (ValueError, "k must be", lambda: ac.polyint(ac.array(V), 3, [1, 2])),
    "cov": (ValueError, "2 dimensions", lambda: ac.cov(ac.array(T))),
    "ddof": (ValueError, "integer", lambda: ac.cov(ac.array(M), ddof=0.5)),  # type: ignore[arg-type]
    "fweights": (TypeError, "integer", lambda: ac.cov(ac.array(M), fweights=ac.array(V[:7]))),
    "aweights": (ValueError, "incompatible", lambda: ac.cov(ac.array(M), aweights=ac.array(V))),
    "histogramdd": (ValueError, "dimension of bins", lambda: ac.histogramdd(ac.array(M.T), (2, 2))),
    "range": (ValueError, "one entry", lambda: ac.histogramdd(ac.array(M.T), 2, [(0, 1)])),
    "histogram2d": (ValueError, "same length", lambda: ac.histogram2d(ac.array(V), ac.array(M[0]))),
    "cumulative_sum": (ValueError, "required", lambda: ac.cumulative_sum(ac.array(M))),
    "i0": (TypeError, "complex", lambda: ac.i0(ac.array(Z))),
    "chkfinite": (ValueError, "infs or NaNs", lambda: ac.asarray_chkfinite(ac.array(ODD))),
    "piecewise": (ValueError, "functions are expected", lambda: ac.piecewise(
        ac.array(V), [ac.array(V) < 0], [1, 2, 3])),
    "no row": (ValueError, "iteration dimensions", lambda: ac.apply_along_axis(
        ac.sum, 0, ac.zeros((3, 0)))),
    "directives": (NotImplementedError, "concatenate", lambda: ac.r_["0,2", ac.array(V)]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_is_refused(name: str) -> None:
    kind, text, call = WRONG[name]
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("name", ["frexp", "packbits", "polyval", "unwrap", "trapezoid"])
def test_nothing_comes_back(name: str) -> None:
    given = {"packbits": (BITS,), "polyval": (V, M)}.get(name, (M,))
    arrays = [ac.array(each) for each in given]
    getattr(ac, name)(*arrays)
    before = ac.counters()
    getattr(ac, name)(*arrays)
    after = ac.counters()
    assert [after[key] - before[key] for key in ("cpu_ops", "bytes_down")] == [0, 0]
