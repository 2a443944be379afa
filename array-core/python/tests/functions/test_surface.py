"""Calls NumPy's functions on NumPy and on arraycore with the same values, and compares the results.

A call is written once, as a function of a module `m` (NumPy or arraycore) and of the function `a`
that makes the module's arrays.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

Call = Callable[[Any, Callable[..., Any]], Any]

RNG = np.random.default_rng(7)
V = np.array([3.5, -1.0, 2.25, -1.0, 0.0, 7.5, -2.5, 2.25], np.float32)
K = np.array([5, 3, 5, 0, 2, 3, 3, 9], np.int32)
M = np.arange(24, dtype=np.float32).reshape(4, 6) - 7
T = RNG.normal(size=(2, 3, 4)).astype(np.float32)
N = np.array([np.nan, 1.5, -np.inf, np.inf, -0.0, 2.0], np.float32)
Z = np.array([1 + 2j, -3, 4j, 0], np.complex64)
C = np.array([complex(np.nan, np.inf), complex(-np.inf, 2), complex(1, np.nan)], np.complex64)
BOOL = np.array([True, False, False, True])


def same(ours: Any, theirs: Any, rtol: float = 0.0) -> None:
    """Assert that two results have the same dtype, shape and values. A result may be a tuple or
    list.
    """
    if isinstance(theirs, (tuple, list)) and not isinstance(ours, ac.ndarray):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, rtol)
        return
    if isinstance(ours, ac.ndarray):
        expected = np.asarray(theirs)
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        if rtol:
            np.testing.assert_allclose(ours.get(), expected, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(ours.get(), expected)
        return
    assert ours == theirs


CREATION: dict[str, Call] = {
    "arange": lambda m, a: [m.arange(7), m.arange(2, 9, 3), m.arange(9, 2, -2), m.arange(5, 2),
                            m.arange(3, dtype="int8"), m.arange(0, 200, 3, dtype="uint8"),
                            m.arange(10, dtype="float32"), m.arange(3, 8, 2, dtype="uint64"),
                            m.arange(4, dtype="complex64"), m.arange(5, dtype="float16")],
    "arange of floats": lambda m, a: [m.arange(0.5, 4), m.arange(0, 3, 0.25, dtype="float32"),
                                      m.arange(1.0, -1.0, -0.5)],
    "linspace": lambda m, a: [m.linspace(0, 1, 5), m.linspace(3, -1, 4, endpoint=False),
                              m.linspace(0, 9, 4, dtype="int32"), m.linspace(0, 1, 5, retstep=True),
                              m.linspace(0, [1, 2], 3, axis=1), m.linspace(1, 2, 0)],
    "logspace": lambda m, a: [m.logspace(0, 2, 4), m.logspace(0, 3, 4, base=2, dtype="float32")],
    "geomspace": lambda m, a: [m.geomspace(1, 256, 9), m.geomspace(8, 1, 4, endpoint=False)],
    "eye": lambda m, a: [m.eye(3), m.eye(3, 5, 1, "int8"), m.eye(4, 2, -2), m.eye(2, 2, 5),
                         m.eye(3, k=-3), m.eye(0), m.eye(3, 2, order="F")],
    "identity": lambda m, a: [m.identity(3), m.identity(2, "bool"), m.identity(1, "float32")],
    "tri": lambda m, a: [m.tri(3), m.tri(3, 5, 1, "int32"), m.tri(4, 2, -1), m.tri(0, 3)],
    "tril": lambda m, a: [m.tril(a(M)), m.tril(a(M), 2), m.tril(a(M), -9), m.tril(a(T), -1),
                          m.tril(a(K)), m.tril(a(M.T), 10**12)],
    "triu": lambda m, a: [m.triu(a(M)), m.triu(a(M), 2), m.triu(a(M), -9), m.triu(a(T), 1),
                          m.triu(a(BOOL))],
    "diag": lambda m, a: [m.diag(a(M)), m.diag(a(M), 2), m.diag(a(V)), m.diag(a(V), -2),
                          m.diag(a(V[:0]), 1)],
    "diagflat": lambda m, a: [m.diagflat(a(M[:2, :2])), m.diagflat(a(K), 1)],
    "vander": lambda m, a: [m.vander(a(K)), m.vander(a(K), 3), m.vander(a(K), 4, True)],
    "meshgrid": lambda m, a: [m.meshgrid(a(V), a(K)), m.meshgrid(a(V), a(K), a(Z), sparse=True),
                              m.meshgrid(a(V), a(K), indexing="ij"), m.meshgrid(a(V)),
                              m.meshgrid(a(V), a(K), copy=False)],
    "mgrid": lambda m, a: [m.mgrid[0:3, 1:9:4], m.mgrid[0:1:5j], m.mgrid[0:2, 0:1:3j]],
    "ogrid": lambda m, a: [m.ogrid[0:3, 1:9:4], m.ogrid[2:8:3]],
    "fromfunction": lambda m, a: [m.fromfunction(lambda i, j: i * 10 + j, (2, 3)),
                                  m.fromfunction(lambda i: i % 2 == 0, (5,), dtype="int32")],
    "bartlett": lambda m, a: m.bartlett(7),
    "blackman": lambda m, a: m.blackman(6),
    "hamming": lambda m, a: m.hamming(5),
    "hanning": lambda m, a: m.hanning(1),
    "kaiser": lambda m, a: m.kaiser(9, 14.0),
    "full": lambda m, a: [m.full((2, 3), 7), m.full(2, [1.5, 2], "float32"), m.full((), True)],
    "full_like": lambda m, a: [m.full_like(a(K), 4), m.full_like(a(M), 3, dtype="int8")],
    "ones_like": lambda m, a: [m.ones_like(a(K)), m.ones_like(a(M), shape=(2,))],
    "zeros_like": lambda m, a: [m.zeros_like(a(K)), m.zeros_like(a(M), dtype="bool")],
    "zeros and ones": lambda m, a: [m.zeros((2, 3), "int8"), m.ones(4), m.zeros((2, 3), order="F")],
    "frombuffer": lambda m, a: [m.frombuffer(b"\x01\x02\x03\x04", "uint8", 2, 1),
                                m.frombuffer(V.tobytes(), "float32")],
    "fromiter": lambda m, a: m.fromiter((i * i for i in range(5)), "int32"),
    "fromstring": lambda m, a: m.fromstring("1, 2, 3.5", sep=","),
    "ascontiguousarray": lambda m, a: m.ascontiguousarray(a(M).T),
    "asfortranarray": lambda m, a: m.asfortranarray(a(M)),
    "asarray": lambda m, a: [m.asarray([[1, 2], [3, 4]], "float32"), m.asanyarray(a(K))],
    "array": lambda m, a: [m.array([1.5, 2], ndmin=3), m.array(a(M), dtype="int16", order="F")],
    "nested lists": lambda m, a: [m.array([a(V), a(K)]), m.array([[a(V), a(V)], [a(K), a(K)]]),
                                  m.array([a(V)[0], 2, a(K)[1]]), m.array([a(K)], "float32")],
}  # fmt: skip

SHAPES: dict[str, Call] = {
    "concatenate": lambda m, a: [m.concatenate([a(M), a(M)]), m.concatenate((a(M), a(M[:, :2])), 1),
                                 m.concatenate([a(M), a(K)], None), m.concatenate([a(V), a(K)]),
                                 m.concatenate([a(V), a(V)], dtype="float16"),
                                 m.concatenate([a(V[:0]), a(V)], -1), m.concatenate(a(T))],
    "concat": lambda m, a: m.concat([a(K), a(K)]),
    "stack": lambda m, a: [m.stack([a(V), a(V)]), m.stack([a(M), a(M)], 1), m.stack([a(M)] * 3,
                           -1)],
    "vstack": lambda m, a: [m.vstack([a(V), a(K)]), m.vstack([a(M), a(M)])],
    "hstack": lambda m, a: [m.hstack([a(V), a(K)]), m.hstack([a(M), a(M)])],
    "dstack": lambda m, a: [m.dstack([a(V), a(K)]), m.dstack([a(M), a(M)]), m.dstack([a(T), a(T)])],
    "column_stack": lambda m, a: [m.column_stack([a(V), a(K)]), m.column_stack([a(M), a(M[:, 0])])],
    "block": lambda m, a: [m.block([[a(M), a(M)], [a(M), a(M)]]), m.block([a(V), a(K)]),
                           m.block(a(V)), m.block([[a(M)], [a(M[:1])]])],
    "append": lambda m, a: [m.append(a(V), a(K)), m.append(a(M), a(M), 0), m.append(a(M), [1, 2])],
    "split": lambda m, a: [m.split(a(V), 4), m.split(a(M), [1, 3], 1), m.split(a(M), [9])],
    "array_split": lambda m, a: [m.array_split(a(V), 3), m.array_split(a(M), 4, -1)],
    "vsplit": lambda m, a: m.vsplit(a(M), 2),
    "hsplit": lambda m, a: [m.hsplit(a(M), 3), m.hsplit(a(V), 2)],
    "dsplit": lambda m, a: m.dsplit(a(T), 2),
    "tile": lambda m, a: [m.tile(a(V), 3), m.tile(a(M), (2, 1, 3)), m.tile(a(M), 0),
                          m.tile(a(T), (2, 2)), m.tile(a(M[0, 0]), 2)],
    "repeat": lambda m, a: [m.repeat(a(V), 3), m.repeat(a(M), 2, 1), m.repeat(a(M), [0, 2, 1, 3],
                            0),
                            m.repeat(a(T), 2), m.repeat(a(V), np.arange(8)), a(M).repeat(2, 0)],
    "resize": lambda m, a: [m.resize(a(V), (3, 5)), m.resize(a(M), 4), m.resize(a(V[:0]), 3)],
    "roll": lambda m, a: [m.roll(a(V), 3), m.roll(a(M), -2, 1), m.roll(a(M), 5), m.roll(a(M), 0, 0),
                          m.roll(a(M), (1, 2), (0, 1)), m.roll(a(M), 3, (0, 1)),
                          m.roll(a(M), (1, 1), (0, 0))],
    "rot90": lambda m, a: [m.rot90(a(M), k) for k in (-1, 0, 1, 2, 3, 4)]
    + [m.rot90(a(T), 1, (1, 2)), m.rot90(a(T), 3, (2, 0))],
    "delete": lambda m, a: [m.delete(a(V), 2), m.delete(a(M), [0, -1], 1), m.delete(a(M), 3),
                            m.delete(a(M), slice(None, None, 2), 0), m.delete(a(V), []),
                            m.delete(a(V), [True] * 3 + [False] * 5)],
    "insert": lambda m, a: [m.insert(a(V), 2, 9), m.insert(a(M), 1, 5, 0), m.insert(a(V), [1, 5],
                            7),
                            m.insert(a(M), [0, 6], [[1, 2]], 1), m.insert(a(K), -1, [1.9, 2]),
                            m.insert(a(M), slice(0, 2), a(M[:2, 0]), 1), m.insert(a(M), 2,
                            a(V[:4]), 1),
                            m.insert(a(V), [3, 3], a(V[:2])), m.insert(a(M), [2], a(M[:2]), 0)],
    "flip": lambda m, a: [m.flip(a(M)), m.flipud(a(M)), m.fliplr(a(M)), m.flip(a(T), (0, 2))],
    "axes": lambda m, a: [m.moveaxis(a(T), 0, -1), m.rollaxis(a(T), 2), m.swapaxes(a(T), 0, 2),
                          m.transpose(a(T), (1, 2, 0)), m.squeeze(a(T[:1])),
                          m.expand_dims(a(V), (0, 2))],
    "shapes": lambda m, a: [m.reshape(a(M), (3, -1)), m.ravel(a(M)), m.atleast_1d(a(M[0, 0])),
                            m.atleast_2d(a(V)), m.atleast_3d(a(M)), m.diagonal(a(M), 1),
                            m.broadcast_to(a(V), (2, 8)), m.broadcast_arrays(a(V), a(V[:, None])),
                            m.copy(a(M))],
    "what it is": lambda m, a: [m.ndim(a(T)), m.shape(a(T)), m.size(a(T)), m.size(a(T), 1),
                                m.ndim(3),
                                m.shape([[1, 2]]), m.size([1, 2]), m.broadcast_shapes((2, 1),
                                (3,))],
}  # fmt: skip
if hasattr(np, "unstack"):
    SHAPES["unstack"] = lambda m, a: [m.unstack(a(M)), m.unstack(a(T), axis=-1)]


def padded(mode: str) -> Call:
    """Return the call that pads arrays in the given mode."""

    def call(m: Any, a: Any) -> Any:
        widths = ((V, 3), (M, ((1, 2), (3, 0))), (T, (2, 1)), (K, (0, 20)), (M, 0))
        return [m.pad(a(values), width, mode) for values, width in widths]

    return call


PADS: dict[str, Call] = {
    f"pad {mode}": padded(mode) for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
}
PADS |= {
    "pad with values": lambda m, a: [
        m.pad(a(M), ((1, 2), (3, 1)), "constant", constant_values=((1, 2), (3, 4))),
        m.pad(a(K), 2, constant_values=7), m.pad(a(K), 2, constant_values=(7, 8))],
    "pad linear_ramp": lambda m, a: [
        m.pad(a(V), 3, "linear_ramp"), m.pad(a(M), 2, "linear_ramp", end_values=(5, -4))],
}  # fmt: skip

ELEMENTS: dict[str, Call] = {
    "clip": lambda m, a: [m.clip(a(V), -1, 3), m.clip(a(V), None, 2.0), m.clip(a(K), 2, None),
                          m.clip(a(K), 3, 5), m.clip(a(V), a(V[::-1]), 4), m.clip(a(N), -1, 1),
                          m.clip(a(K), 0.5, 4.5), a(V).clip(-1, 1), m.clip(a(V), 3, -3),
                          m.clip(a(K), min=2), m.clip(a(V), np.float64(0.1), 1)],
    "nan_to_num": lambda m, a: [m.nan_to_num(a(N)), m.nan_to_num(a(N), nan=3, posinf=4, neginf=5),
                                m.nan_to_num(a(K)), m.nan_to_num(a(C))],
    "around": lambda m, a: [m.around(a(V * 1.37), 1), m.round(a(V)), m.around(a(K * 7), -1),
                            m.around(a(V * 100), -2), m.around(a(K), 2), a(V).round(1),
                            m.around(a(Z * 1.26), 1)],
    "fix": lambda m, a: m.fix(a(V)),
    "isclose": lambda m, a: [m.isclose(a(V), a(V + 1e-6)), m.isclose(a(N), a(N)),
                             m.isclose(a(N), a(N), equal_nan=True), m.isclose(a(K), a(K + 1)),
                             m.isclose(a(V), 2.25), m.isclose(a(Z), a(Z + 1e-9)),
                             m.isclose(a(V), a(V[:, None]), atol=1.0)],
    "isposinf": lambda m, a: [m.isposinf(a(N)), m.isposinf(a(K))],
    "isneginf": lambda m, a: [m.isneginf(a(N)), m.isneginf(a(K))],
    "iscomplex": lambda m, a: [m.iscomplex(a(Z)), m.iscomplex(a(V))],
    "isreal": lambda m, a: [m.isreal(a(Z)), m.isreal(a(K))],
    "objects": lambda m, a: [m.iscomplexobj(a(Z)), m.isrealobj(a(Z)), m.isrealobj(a(V)),
                             m.isscalar(3.5), m.iscomplexobj(2j)],
    "real": lambda m, a: [m.real(a(Z)), m.real(a(V))],
    "imag": lambda m, a: [m.imag(a(Z)), m.imag(a(V))],
    "conj": lambda m, a: [a(Z).conj(), a(Z).conjugate(), a(V).conj()],
}  # fmt: skip
ABOUT: dict[str, Call] = {
    "angle": lambda m, a: [m.angle(a(Z)), m.angle(a(Z), deg=True), m.angle(a(V)), m.angle(a(K))],
    "sinc": lambda m, a: [m.sinc(a(V)), m.sinc(a(V.astype("float64")))],
    "linspace of arrays": lambda m, a: [m.linspace(a(V), a(V + 3), 4), m.linspace(0, a(V), 3,
                                        axis=1),
                                        m.linspace(a(V), 9, 3, endpoint=False),
                                        m.linspace(a(V), 9, 3, retstep=True)],
    "gradient": lambda m, a: [m.gradient(a(V)), m.gradient(a(M), 2.0), m.gradient(a(M), axis=1),
                              m.gradient(a(V), edge_order=2), m.gradient(a(M), 2.0, 3.0),
                              m.gradient(a(V), a(np.cumsum(np.abs(V) + 1))),
                              m.gradient(a(V), a(np.cumsum(np.abs(V) + 1)), edge_order=2),
                              m.gradient(a(K))],
    "interp": lambda m, a: [m.interp(a(V), a(np.sort(M[0])), a(V[:6])),
                            m.interp(a(V), a(np.sort(M[1])), a(V[:6]), left=-1, right=9),
                            m.interp(a(V), a(np.sort(M[1])), a(V[:6]), right=9),
                            m.interp(a(N), a(V[:1]), a(V[:1])),
                            m.interp(a(V), a(np.arange(4.0)), a(Z))],
    "convolve": lambda m, a: [m.convolve(a(V), a(M[0]), mode) for mode in ("full", "same", "valid")]
    + [m.convolve(a(M[0]), a(V), "same"), m.convolve(a(Z), a(Z)), m.convolve(a(K), a(V))],
    "correlate": lambda m, a: [m.correlate(a(x), a(y), mode) for mode in ("full", "same", "valid")
                               for x, y in ((V, M[0]), (M[0], V), (V[:3], V), (V, V[:3]), (V, V),
                                            (Z, Z[:3]))],
}  # fmt: skip
DIFFERENCES: dict[str, Call] = {
    "diff": lambda m, a: [m.diff(a(V)), m.diff(a(M), 2), m.diff(a(M), axis=0), m.diff(a(BOOL)),
                          m.diff(a(V), prepend=0.0, append=a(V[:2])), m.diff(a(V), 9),
                          m.diff(a(V), 0)],
    "ediff1d": lambda m, a: [m.ediff1d(a(M)), m.ediff1d(a(V), 1.0, a(V[:2]))],
    "convolve of integers": lambda m, a: [m.convolve(a(K), a(K)), m.convolve(a(BOOL), a(BOOL))],
}  # fmt: skip

TEXTS: dict[str, Call] = {
    "array_repr": lambda m, a: m.array_repr(a(V)),
    "array_str": lambda m, a: m.array_str(a(M), precision=1),
    "array2string": lambda m, a: m.array2string(a(K), separator=", "),
    "base_repr": lambda m, a: [m.base_repr(10, 3), m.binary_repr(5, 8)],
    "result_type": lambda m, a: [m.result_type(a(V), a(K)), m.result_type(a(V), 3, "int8")],
    "promote_types": lambda m, a: m.promote_types("int8", "float32"),
    "can_cast": lambda m, a: [m.can_cast(a(V), "int8"), m.can_cast("int8", "int16"),
                              m.can_cast(a(V), "float16", "same_kind")],
    "common_type": lambda m, a: [m.common_type(a(V), a(K)), m.common_type(a(Z)),
                                 m.common_type(a(V))],
    "min_scalar_type": lambda m, a: [m.min_scalar_type(300), m.min_scalar_type(a(V))],
    "dtypes": lambda m, a: [m.finfo("float32").eps, m.iinfo("int8").max,
                            m.issubdtype("float32", np.floating)],
}  # fmt: skip

EXACT = CREATION | SHAPES | ELEMENTS | DIFFERENCES | TEXTS
ROUNDED = PADS | ABOUT
#: Functions that end with a quotient, which in WGSL may err by 2.5 units in the last place.
QUOTIENTS = ("around",)


@pytest.mark.parametrize("name", EXACT)
def test_values_are_numpys(name: str) -> None:
    call = EXACT[name]
    within = 3e-7 if name in QUOTIENTS and ac.device_info().name != "cpu" else 0
    same(call(ac, ac.array), call(np, np.array), within)


@pytest.mark.parametrize("name", ROUNDED)
def test_values_are_numpys_but_for_rounding(name: str) -> None:
    call = ROUNDED[name]
    same(call(ac, ac.array), call(np, np.array), 2e-5)


def test_joining_writes_to_out_and_casts_by_the_rule() -> None:
    out = ac.zeros(16, "float64")
    assert ac.concatenate([ac.array(V), ac.array(K)], out=out) is out
    same(out, np.concatenate([V, K]).astype("float64"))
    stacked = ac.zeros((2, 8), "float32")[:, ::-1]
    assert ac.stack([ac.array(V), ac.array(V)], out=stacked) is stacked
    same(stacked, np.stack([V, V]))
    with pytest.raises(TypeError, match="Cannot cast"):
        ac.concatenate([ac.array(V)], dtype="int32")
    with pytest.raises(TypeError, match="both"):
        ac.concatenate([ac.array(V)], out=out, dtype="int32")


@pytest.mark.parametrize(
    "call",
    [
        lambda m, a: m.concatenate([]),
        lambda m, a: m.concatenate([a(M), a(V)]),
        lambda m, a: m.concatenate([a(M), a(M.T)]),
        lambda m, a: m.concatenate([a(V[0])]),
        lambda m, a: m.concatenate([a(V)], 1),
        lambda m, a: m.stack([a(M), a(V)]),
        lambda m, a: m.stack([]),
        lambda m, a: m.split(a(V), 3),
        lambda m, a: m.vsplit(a(V), 2),
        lambda m, a: m.dsplit(a(M), 2),
        lambda m, a: m.repeat(a(V), [1, 2]),
        lambda m, a: m.repeat(a(V), -1),
        lambda m, a: m.tile(a(V), -1),
        lambda m, a: m.rot90(a(M), 1, (0, 0)),
        lambda m, a: m.delete(a(V), 8),
        lambda m, a: m.insert(a(V), 9, 1),
        lambda m, a: m.pad(a(V), -1),
        lambda m, a: m.pad(a(V), 1, "no such mode"),
        lambda m, a: m.pad(a(V), 1, "edge", constant_values=1),
        lambda m, a: m.diff(a(V), -1),
        lambda m, a: m.diff(a(V[0])),
        lambda m, a: m.gradient(a(V[:1])),
        lambda m, a: m.convolve(a(V), a(V[:0])),
        lambda m, a: m.correlate(a(V), a(V), "no such mode"),
        lambda m, a: m.vander(a(M)),
        lambda m, a: m.diag(a(T)),
        lambda m, a: m.arange(0, 1, 0),
        lambda m, a: m.eye(-1),
        lambda m, a: m.meshgrid(a(V), indexing="yx"),
        lambda m, a: m.interp(a(V), a(V), a(V[:3])),
    ],
)
def test_what_numpy_refuses_is_refused(call: Call) -> None:
    with pytest.raises((ValueError, TypeError, IndexError, ZeroDivisionError)) as theirs:
        call(np, np.array)
    kinds = (ValueError, TypeError, IndexError, ZeroDivisionError)
    kind = next(each for each in kinds if isinstance(theirs.value, each))
    with pytest.raises(kind):
        call(ac, ac.array)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: ac.pad(ac.zeros(4_000), 5_000, "reflect", reflect_type="odd"),
        lambda a: ac.logspace(a, 2),
        lambda a: ac.geomspace(1, a),
    ],
)
def test_what_is_not_offered_names_an_alternative(call: Callable[[Any], Any]) -> None:
    with pytest.raises(NotImplementedError, match=r"take|pass"):
        call(ac.array(V))


def test_comparisons_of_whole_arrays_stay_on_the_device() -> None:
    a, b = ac.array(V), ac.array(V + 1)
    ac.reset()
    a, b = ac.array(V), ac.array(V + 1)
    results = [
        ac.allclose(a, a), ac.allclose(a, b), ac.array_equal(a, a), ac.array_equal(a, b),
        ac.array_equal(a, b[:3]), ac.array_equiv(a, a[None]), ac.array_equiv(a, b[:3]),
        ac.array_equal(ac.array(N), ac.array(N)), ac.array_equal(ac.array(N), ac.array(N), True),
    ]  # fmt: skip
    counted = ac.counters()
    assert (counted["bytes_down"], counted["cpu_ops"]) == (0, 0)
    expected = [True, False, True, False, False, True, False, False, True]
    assert [bool(each) for each in results] == expected


def test_what_stays_on_the_device_does() -> None:
    a, i, m = ac.array(V), ac.array(K), ac.array(M)
    ac.counters()
    before = ac.counters()
    ac.arange(100_000, dtype="float32")
    ac.arange(100_000)
    ac.eye(50, dtype="float32")
    ac.tril(m)
    ac.concatenate([a, a])
    ac.stack([m, m], -1)
    ac.tile(m, (2, 2))
    ac.repeat(m, 3, 1)
    ac.roll(m, 2, 1)
    ac.clip(a, 0, 1)
    ac.nan_to_num(a)
    ac.diff(m)
    ac.isclose(a, a)
    ac.around(a, 1)
    ac.sinc(a)
    ac.meshgrid(a, i)
    ac.convolve(a, a)
    ac.gradient(m)
    after = ac.counters()
    for name in ("bytes_up", "bytes_down", "cpu_ops", "sync_waits"):
        assert after[name] == before[name], name


def test_empty_arrays_are_not_written() -> None:
    before = ac.counters()["dispatches"]
    made = [ac.empty((3, 4), "int8"), ac.empty(5, order="F"), ac.empty_like(ac.zeros(3))]
    assert [(each.shape, each.dtype.name) for each in made] == [
        ((3, 4), "int8"), ((5,), "float64"), ((3,), "float64"),
    ]  # fmt: skip
    assert ac.empty((2, 3), order="F").flags.f_contiguous
    assert ac.counters()["dispatches"] == before
    for shape in ((-1,), (1,) * 33):
        with pytest.raises(ValueError, match="dimension"):
            ac.empty(shape)


def test_arrays_go_to_files_and_come_back(tmp_path: Any) -> None:
    a, b = ac.array(M), ac.array(K)
    file = io.BytesIO()
    ac.save(file, a)
    file.seek(0)
    same(ac.load(file), M)
    for save in (ac.savez, ac.savez_compressed):
        file = io.BytesIO()
        save(file, a, second=b)
        file.seek(0)
        with ac.load(file) as loaded:
            assert (loaded.files, len(loaded), "second" in loaded) == (["second", "arr_0"], 2, True)
            assert list(loaded) == loaded.files
            same(loaded["arr_0"], M)
            same(loaded["second"], K)
    text = io.StringIO()
    ac.savetxt(text, a, fmt="%.1f")
    text.seek(0)
    same(ac.loadtxt(text, dtype="float32"), M)
    same(ac.genfromtxt(io.StringIO("1,,3"), delimiter=","), np.array([1, np.nan, 3]))
    path = tmp_path / "elements"
    path.write_bytes(V.tobytes())
    same(ac.fromfile(path, "float32", 3, offset=4), V[1:4])


def test_arrays_lie_in_memory_as_required() -> None:
    a = ac.array(M)
    assert ac.require(a) is a
    assert ac.require(a, requirements="C") is a
    assert ac.require(a, "float32", ["F"]).flags.f_contiguous
    wide = ac.broadcast_to(a[0], (3, 6))
    assert ac.require(wide, requirements=["W"]).flags.writeable
    owned = ac.require(a, requirements="O")
    owned[...] = 0
    same(a, M)
    with pytest.raises(ValueError, match="both"):
        ac.require(a, requirements=["C", "F"])


def test_zeros_at_the_ends_are_trimmed() -> None:
    for values in ([0, 0, 1, 0, 2, 0], [0, 0], [], [3]):
        for trim in ("fb", "f", "b"):
            expected = np.trim_zeros(np.array(values, np.int32), trim)
            same(ac.trim_zeros(ac.array(np.array(values, np.int32)), trim), expected)


def test_whatever_numpy_takes_comes_back_to_the_host() -> None:
    for given in (ac.array(M), M, M.tolist()):
        back = ac.asnumpy(given)
        assert isinstance(back, np.ndarray)
        np.testing.assert_array_equal(back, M)


def test_constants_are_numpys() -> None:
    assert (ac.pi, ac.e, ac.inf, ac.euler_gamma) == (math.pi, math.e, math.inf, np.euler_gamma)
    assert math.isnan(ac.nan)
    assert ac.newaxis is None
