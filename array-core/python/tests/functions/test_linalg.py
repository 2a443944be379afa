"""Tests linear algebra and Fourier transforms: NumPy's values, and counts of operations on the
CPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest

Call = Callable[[Any, Callable[..., Any]], Any]

RNG = np.random.default_rng(3)
A = (RNG.normal(size=(4, 4)) + 3 * np.eye(4)).astype(np.float32)
B = RNG.normal(size=(4, 3)).astype(np.float32)
S = (A @ A.T).astype(np.float32)
T = RNG.normal(size=(2, 3, 5)).astype(np.float32)
Z = (T + 1j * T[::-1]).astype(np.complex64)
K = RNG.integers(-9, 9, (3, 4)).astype(np.int32)
V = RNG.normal(size=6).astype(np.float32)


def same(ours: Any, theirs: Any) -> None:
    """Assert that two results have the same dtype and shape and are close. A result may be a
    tuple.
    """
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
        return
    if isinstance(theirs, int):
        assert ours == theirs
        return
    expected = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(ours.get(), expected, rtol=2e-5, atol=2e-5)


ORDERS = (None, 1, -1, 2, -2, np.inf, -np.inf)
ON_DEVICE: dict[str, Call] = {
    "norm": lambda m, a: tuple(
        [m.linalg.norm(a(V), ord) for ord in (*ORDERS, 0, 3, 0.5)]
        + [m.linalg.norm(a(T), ord, -1) for ord in ORDERS]
        + [m.linalg.norm(a(Z), ord, (0, 2), True) for ord in ("fro", 1, -1, np.inf, -np.inf)]
        + [m.linalg.norm(a(T)), m.linalg.norm(a(Z)), m.linalg.norm(a(A)),
           m.linalg.norm(a(A), keepdims=True)]
    ),
    "matrix_power": lambda m, a: tuple(m.linalg.matrix_power(a(A / 4), n) for n in (0, 1, 2, 5)),
    "multi_dot": lambda m, a: (
        m.linalg.multi_dot([a(A), a(B)]), m.linalg.multi_dot([a(A[0]), a(A), a(B), a(B[0])]),
        m.linalg.multi_dot([a(T[0]), a(T[0].T), a(T[1]), a(T[1].T)])),
    "products": lambda m, a: (
        m.linalg.outer(a(V), a(B[0])), m.linalg.matmul(a(A), a(B)),
        m.linalg.cross(a(B), a(B[::-1])), m.linalg.tensordot(a(A), a(B), axes=1),
        m.linalg.vecdot(a(T), a(T)), m.linalg.trace(a(T)), m.linalg.trace(a(A), offset=1),
        m.linalg.diagonal(a(T), offset=1),
        m.linalg.matrix_transpose(a(T)), m.matrix_transpose(a(Z)), m.matvec(a(T), a(V[:5])),
        m.vecmat(a(Z[:, :, 0]), a(Z))),
    "more norms": lambda m, a: (
        m.linalg.vector_norm(a(T)), m.linalg.vector_norm(a(T), axis=(0, 2), ord=1),
        m.linalg.matrix_norm(a(T)), m.linalg.matrix_norm(a(T), ord=1, keepdims=True)),
}  # fmt: skip
#: Calls with functions that older versions of NumPy lack.
NEWER = {"products", "more norms"} if not hasattr(np, "matvec") else set()
ON_CPU: dict[str, Call] = {
    "norms of spectra": lambda m, a: tuple(m.linalg.norm(a(A), ord) for ord in (2, -2, "nuc")),
    "inv": lambda m, a: (m.linalg.inv(a(A)), m.linalg.inv(a(np.stack([A, S]))),
                         m.linalg.matrix_power(a(A), -2), m.linalg.inv(a(A.astype("complex64")))),
    "solve": lambda m, a: (m.linalg.solve(a(A), a(B)), m.linalg.solve(a(A), a(B[:, 0]))),
    "det": lambda m, a: (m.linalg.det(a(A)), m.linalg.det(a(K[:, :3])), *m.linalg.slogdet(a(A))),
    "cholesky": lambda m, a: m.linalg.cholesky(a(S)),
    "qr": lambda m, a: (*m.linalg.qr(a(B)), m.linalg.qr(a(B), "r"), *m.linalg.qr(a(B), "raw")),
    "svd": lambda m, a: (*m.linalg.svd(a(B)), m.linalg.svd(a(B), compute_uv=False),
                         *m.linalg.svd(a(B), full_matrices=False)),
    "eigh": lambda m, a: (*m.linalg.eigh(a(S)), m.linalg.eigvalsh(a(S), "U")),
    "eig": lambda m, a: (*m.linalg.eig(a(S)), m.linalg.eigvals(a(A))),
    "pinv": lambda m, a: m.linalg.pinv(a(B)),
    "lstsq": lambda m, a: m.linalg.lstsq(a(B), a(A), None),
    "cond": lambda m, a: (m.linalg.cond(a(A)), m.linalg.cond(a(A), 1)),
    "tensors": lambda m, a: (
        m.linalg.tensorinv(a(np.eye(6, dtype="float32").reshape(6, 2, 3)), 1),
        m.linalg.tensorsolve(a(np.eye(6, dtype="float32").reshape(2, 3, 6)), a(T[:, :, 0]))),
    "fft": lambda m, a: (m.fft.fft(a(V)), m.fft.ifft(a(Z)), m.fft.fft(a(T), 4, 1, "ortho")),
    "rfft": lambda m, a: (m.fft.rfft(a(V)), m.fft.irfft(a(Z)), m.fft.irfft(a(Z), 5)),
    "hfft": lambda m, a: (m.fft.hfft(a(Z)), m.fft.ihfft(a(V))),
    "fft2": lambda m, a: (m.fft.fft2(a(T)), m.fft.ifft2(a(Z), (2, 2)), m.fft.rfft2(a(T)),
                          m.fft.irfft2(a(Z))),
    "fftn": lambda m, a: (m.fft.fftn(a(T)), m.fft.ifftn(a(Z)), m.fft.rfftn(a(T), axes=(0, 2)),
                          m.fft.irfftn(a(Z))),
}  # fmt: skip


def moved(call: Callable[[], Any]) -> tuple[Any, int, int]:
    before = ac.counters()
    made = call()
    after = ac.counters()
    return made, *(after[name] - before[name] for name in ("cpu_ops", "bytes_down"))


@pytest.mark.parametrize("name", sorted(set(ON_DEVICE) - NEWER))
def test_what_runs_where_the_arrays_live(name: str) -> None:
    made, cpu_ops, bytes_down = moved(lambda: ON_DEVICE[name](ac, ac.array))
    assert (cpu_ops, bytes_down) == (0, 0)
    same(made, ON_DEVICE[name](np, np.array))


@pytest.mark.parametrize("name", sorted(ON_CPU))
def test_what_numpy_does_is_counted(name: str) -> None:
    made, cpu_ops, bytes_down = moved(lambda: ON_CPU[name](ac, ac.array))
    assert bytes_down > 0
    assert (cpu_ops > 0) == (os.environ.get("ARRAYCORE_BACKEND", "cpu") != "cpu")
    same(made, ON_CPU[name](np, np.array))


def test_results_have_names_and_counts_64_bits() -> None:
    a = ac.array(S)
    assert ac.linalg.eigh(a).eigenvalues.shape == (4,)
    assert ac.linalg.eig(a).eigenvectors.shape == (4, 4)
    assert ac.linalg.svd(a).Vh.shape == ac.linalg.qr(a).Q.shape == (4, 4)
    same(ac.linalg.slogdet(a).sign, np.float32(1))
    same(ac.linalg.svdvals(a), np.linalg.svd(S, compute_uv=False))
    same(ac.linalg.cholesky(a, upper=True), np.linalg.cholesky(S).T)
    same(ac.linalg.matrix_rank(a), np.int64(4))
    same(ac.linalg.norm(ac.array(K), 1, 0), np.linalg.norm(K.astype(float), 1, 0))


def test_frequencies_and_shifts() -> None:
    same(ac.fft.fftfreq(6, 0.5), np.fft.fftfreq(6, 0.5))
    same(ac.fft.rfftfreq(5), np.fft.rfftfreq(5))
    for axes in (None, 1, (0, -1)):
        same(ac.fft.fftshift(ac.array(T), axes), np.fft.fftshift(T, axes))
        same(ac.fft.ifftshift(ac.array(T), axes), np.fft.ifftshift(T, axes))
    assert "ortho" in str(ac.fft.fft.__doc__)


def test_numpys_errors_are_ours() -> None:
    a = ac.array(A)
    with pytest.raises(ac.linalg.LinAlgError, match="Singular"):
        ac.linalg.inv(ac.zeros((2, 2), "float32"))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        ac.linalg.solve(ac.array(np.ones((2, 2))), ac.array(np.ones(2)))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ac.linalg.cholesky(-ac.array(S))
    # A matrix of NaN is not an error: its inverse is NaN.
    assert np.isnan(ac.linalg.inv(ac.array(np.full((2, 2), np.nan))).get()).all()
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        ac.linalg.matrix_power(ac.array(B), 2)
    with pytest.raises(np.linalg.LinAlgError, match="at least two"):
        ac.linalg.matrix_power(ac.array(V), 2)
    with pytest.raises(TypeError, match="integer"):
        ac.linalg.matrix_power(a, 1.5)
    with pytest.raises(TypeError, match="float16"):
        ac.linalg.det(a.astype("float16"))
    with pytest.raises(ValueError, match="two arrays"):
        ac.linalg.multi_dot([a])
    with pytest.raises(np.linalg.LinAlgError, match="two-dimensional"):
        ac.linalg.multi_dot([a, ac.array(T), a])
    with pytest.raises(ValueError, match="Duplicate axes"):
        ac.linalg.norm(a, "fro", (0, 0))
    with pytest.raises(ValueError, match="for matrices"):
        ac.linalg.norm(a, 7)
    with pytest.raises(ValueError, match="for vectors"):
        ac.linalg.norm(ac.array(V), "fro")
    with pytest.raises(ValueError, match="number of dimensions"):
        ac.linalg.norm(ac.array(T), 1)
    with pytest.raises(ValueError, match="one-dimensional"):
        ac.linalg.outer(a, a)
    with pytest.raises(ValueError, match="enough dimensions"):
        ac.matvec(ac.array(V), ac.array(V))


def small_matrices(shape: tuple[int, ...], dtype: str) -> Any:
    stream = np.random.RandomState(3)
    return (stream.uniform(-1, 1, shape) + 2 * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 7, 7), (2, 3, 1, 1), (0, 2, 2), (2, 0, 0), (65, 65)])
def test_inverses_with_where_they_failed(shape: tuple[int, ...], dtype: str) -> None:
    if dtype == "float16" and shape[-1] > 64:
        pytest.skip("larger matrices are NumPy's, which has no float16")
    a = small_matrices(shape, dtype)
    kept = ac.array(a)
    made, info = ac.linalg.inv_ex(kept)
    assert (made.dtype, made.shape, info.shape) == (dtype, shape, shape[:-2])
    assert not info.get().any()
    np.testing.assert_array_equal(kept.get(), a)
    tolerance = {"float16": 2e-2, "float32": 2e-4, "float64": 1e-10}[dtype]
    product = a.astype("float64") @ made.get().astype("float64")
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(shape[-1]), shape), atol=tolerance)


def test_singular_matrices_are_told_of_without_an_error() -> None:
    a = np.stack([np.eye(3), np.zeros((3, 3)), [[0, 1, 0], [1, 0, 0], [0, 0, 2]]]).astype("f")
    a[1, 0, 1] = 5
    info = ac.linalg.inv_ex(ac.array(a)).info.get()
    assert info[0] == info[2] == 0
    assert info[1] == 1
    large = np.stack([np.eye(65), np.zeros((65, 65))])
    np.testing.assert_array_equal(ac.linalg.inv_ex(ac.array(large)).info.get(), [0, 65])
    with pytest.raises(np.linalg.LinAlgError):
        ac.linalg.inv_ex(ac.zeros((2, 3)))


@pytest.mark.parametrize("shape", [(4, 5, 5), (1, 1), (64, 64)])
def test_small_inverses_and_determinants_stay_on_a_device(shape: tuple[int, ...]) -> None:
    a = small_matrices(shape, "float32")
    kept = ac.array(a)
    before = ac.counters()["cpu_ops"]
    made, value = ac.linalg.inv(kept), ac.linalg.det(kept)
    assert ac.counters()["cpu_ops"] == before
    wide = a.astype("float64")
    np.testing.assert_allclose(made.get(), np.linalg.inv(wide), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(value.get(), np.linalg.det(wide), rtol=1e-3)
