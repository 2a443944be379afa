"""Linear algebra under NumPy's names.

    import arraycore as ac
    x = ac.linalg.solve(a, b)

Norms, powers and products are computed where the arrays live. On a device, inverses and
determinants of float32 matrices of at most 64 rows are too. The other functions call NumPy on the
CPU: the arrays are copied to the host and back, which waits for the device and increases the
counter ``cpu_ops``. Dtypes and errors are NumPy's: the functions that call NumPy raise TypeError
for float16.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from ._compat.host_fallback import by_numpy
from ._core import ufuncs
from ._core.creation import as_device_array, asarray
from ._core.ndarray import ndarray
from ._linalg import elimination
from ._linalg.linear import cross as cross_of_all
from ._linalg.linear import matrix_transpose, vecdot_along
from ._linalg.linear import outer as outer_of_all
from ._linalg.linear import tensordot as tensordot_of_all
from ._linalg.products import matmul
from ._manipulation.joining import axis_of
from ._manipulation.matrices import eye
from ._manipulation.views import broadcast_to, copyto
from ._math import reductions
from ._math.elements import as_inexact
from ._runtime import session
from ._runtime.calls import integers

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


# ---- norms


def _root_of_squares(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    x = as_inexact(x)
    squares = ufuncs.square(x.real) + ufuncs.square(x.imag) if x.dtype.kind == "c" else x * x
    return ufuncs.sqrt(reductions.sum(squares, axes, keepdims=keepdims))


def _of_vectors(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return _root_of_squares(x, axes, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    sizes = ufuncs.absolute(as_inexact(x))
    if ord == np.inf:
        return reductions.max(sizes, axes, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return reductions.min(sizes, axes, keepdims=keepdims)
    if ord == 0:
        return reductions.sum((sizes != 0).astype(sizes.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(sizes, axes, keepdims=keepdims)
    return reductions.sum(sizes**ord, axes, keepdims=keepdims) ** (1.0 / ord)


def _of_matrices(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    rows, columns = axes
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return _root_of_squares(x, axes, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        added, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reductions.sum(ufuncs.absolute(as_inexact(x)), added, keepdims=True)
        if ord > 0:
            made = reductions.max(sums, chosen, keepdims=True, initial=0)
        else:
            made = reductions.min(sums, chosen, keepdims=True)
        return made if keepdims else made.squeeze(axes)
    if ord in (2, -2, "nuc"):
        return by_numpy(np.linalg.norm, x, ord, axes, keepdims)
    raise ValueError("Invalid norm order for matrices.")


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return norms of vectors or matrices.

    Parameters
    ----------
    x : array_like
        Integers are computed in float64.
    ord : {None, "fro", "nuc", inf, -inf, number}
        The norm. None is the root of the sum of squares. For matrices 2, -2 and "nuc" are computed
        by NumPy on the CPU.
    axis : None, int or pair of ints
        The axis of vectors, or the two axes of matrices. None takes the whole array, which must
        have 1 or 2 dimensions if ``ord`` is given.
    keepdims : bool
        Whether the reduced axes are kept, with extent 1.

    Raises
    ------
    ValueError
        There is no such norm for vectors or for matrices.
    """
    values = as_device_array(x)
    if axis is None:
        every = tuple(range(values.ndim))
        if ord is None:
            return _root_of_squares(values, every, keepdims)
        axes = every
    else:
        axes = tuple(axis_of(each, values.ndim) for each in integers(axis))
    if len(axes) == 1:
        return _of_vectors(values, ord, axes, keepdims)
    if len(axes) == 2:
        return _of_matrices(values, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return vector norms over one or several axes, or over all; ``ord`` as in :func:`norm`."""
    values = as_device_array(x)
    every = range(values.ndim) if axis is None else integers(axis)
    axes = tuple(axis_of(each, values.ndim) for each in every)
    return _of_vectors(values, ord, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return norms of the matrices in the last two axes; ``ord`` as in :func:`norm`."""
    values = as_device_array(x)
    return norm(values, ord, (values.ndim - 2, values.ndim - 1), keepdims)


# ---- products


def matrix_power(a: Any, n: int) -> ndarray:
    """Return powers of square matrices by repeated squaring; negative powers use the inverses."""
    power = int(n)
    if power != n:
        raise TypeError("exponent must be an integer")
    base = _square(a)
    if power < 0:
        base, power = inv(base), -power
    if power == 0:
        made: Any = eye(base.shape[-1], dtype=base.dtype)
        return broadcast_to(made, base.shape).copy()
    result: Any = None
    while True:
        if power & 1:
            result = base if result is None else matmul(result, base)
        power >>= 1
        if not power:
            return result.copy() if result is a else result  # type: ignore[no-any-return]
        base = matmul(base, base)


def _square(a: Any) -> Any:
    values = as_device_array(a)
    if values.ndim < 2:
        raise LinAlgError(
            f"{values.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if values.shape[-1] != values.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return values


def multi_dot(arrays: Sequence[ndarray], *, out: Any = None) -> Any:
    """Return the product of several matrices, in the order of the fewest multiplications.

    The first and the last one may be vectors.

    Raises
    ------
    ValueError
        There are fewer than two arrays.
    LinAlgError
        An array in the middle does not have two dimensions.
    """
    parts: list[Any] = [as_device_array(each) for each in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = parts[0].ndim, parts[-1].ndim
    if first == 1:
        parts[0] = parts[0][None]
    if last == 1:
        parts[-1] = parts[-1][:, None]
    for each in parts:
        if each.ndim != 2:
            raise LinAlgError(f"{each.ndim}-dimensional array given. Array must be two-dimensional")
    made = _chained(parts)
    if first == 1:
        made = made[0]
    made = made[..., 0] if last == 1 else made
    if out is None:
        return made
    copyto(out, made)
    return out


def _chained(parts: list[Any]) -> Any:
    """Return the product in the cheapest order, which is found by dynamic programming."""
    count = len(parts)
    sides = [part.shape[0] for part in parts] + [parts[-1].shape[1]]
    costs = {(at, at): 0 for at in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for begin in range(count - length):
            end = begin + length
            costs[begin, end], cuts[begin, end] = min(
                (
                    costs[begin, cut]
                    + costs[cut + 1, end]
                    + sides[begin] * sides[cut + 1] * sides[end + 1],
                    cut,
                )
                for cut in range(begin, end)
            )

    def product(begin: int, end: int) -> Any:
        if begin == end:
            return parts[begin]
        cut = cuts[begin, end]
        return matmul(product(begin, cut), product(cut + 1, end))

    return product(0, count - 1)


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """Return a view of the diagonals of the matrices in the last two axes."""
    return as_device_array(x).diagonal(offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums of the diagonals of the matrices in the last two axes."""
    return as_device_array(x).trace(offset, -2, -1, dtype)


def outer(x1: Any, x2: Any, /) -> Any:
    """Return the outer product of two vectors; other arrays raise ValueError."""
    first, second = as_device_array(x1), as_device_array(x2)
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={first.ndim} and x2.ndim={second.ndim}."
        )
    return outer_of_all(first, second)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the cross products of vectors of 3 components along an axis."""
    first, second = as_device_array(x1), as_device_array(x2)
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{first.shape[axis]} and {second.shape[axis]} dimensional instead."
        )
    return cross_of_all(first, second, axis=axis)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return the sum of products over axes; see :func:`arraycore.tensordot`."""
    return tensordot_of_all(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the dot products of the vectors along an axis; ``x1`` is conjugated."""
    return vecdot_along(as_device_array(x1), as_device_array(x2), axis)


# ---- NumPy's on the CPU


class EigResult(NamedTuple):
    """The result of :func:`eig`."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """The result of :func:`eigh`."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """The result of :func:`qr`."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """The result of :func:`svd`."""

    U: ndarray
    S: ndarray
    Vh: ndarray


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`."""

    sign: ndarray
    logabsdet: ndarray


#: NumPy notices a failure of LAPACK by floating-point flags. WebAssembly has none, so there NumPy
#: returns NaN.
_SILENT = sys.platform == "emscripten"


def _raising(function: Callable[..., Any], message: str) -> Callable[..., Any]:
    """Return a NumPy function that also raises LinAlgError where NumPy returns NaN."""

    def checked(*arrays: Any) -> Any:
        made = function(*arrays)
        if _SILENT and np.isnan(made).any() and all(np.isfinite(each).all() for each in arrays):
            raise LinAlgError(message)
        return made

    return checked


_inv = _raising(np.linalg.inv, "Singular matrix")
_solve = _raising(np.linalg.solve, "Singular matrix")
_cholesky = _raising(np.linalg.cholesky, "Matrix is not positive definite")


def _is_eliminated(a: Any) -> bool:
    """Return whether a kernel computes the inverse or determinant of ``a``."""
    return (
        session.is_on_device()
        and isinstance(a, ndarray)
        and a.dtype == np.float32
        and _square(a).shape[-1] <= elimination.MOST_ROWS
    )


def inv(a: Any) -> ndarray:
    """Return inverses of square matrices.

    On a device the inverses of float32 matrices of at most 64 rows are computed there, and one bool
    is read: whether a matrix is singular. NumPy inverts other matrices on the CPU.

    Raises
    ------
    LinAlgError
        A matrix is singular, or not square.
    """
    if not _is_eliminated(a):
        return by_numpy(_inv, a)  # type: ignore[no-any-return]
    made, info = elimination.inverses(a)
    if bool(info.any()):
        raise LinAlgError("Singular matrix")
    return made


class InvExResult(NamedTuple):
    """The result of :func:`inv_ex`."""

    inverse: ndarray
    info: ndarray


def inv_ex(a: Any) -> InvExResult:
    """Return inverses of square matrices, and which of them failed, as PyTorch's ``inv_ex``.

    Matrices of at most 64 rows and of any floating dtype are inverted where they live, and nothing
    is read. NumPy inverts larger ones on the CPU.

    Returns
    -------
    inverse : ndarray
        The inverses, of the shape and dtype of ``a``. That of a singular matrix has inf or nan.
    info : ndarray
        int32, one number for each matrix: 0, or the number of the first pivot that is 0, counted
        from 1; the number of rows if NumPy found no inverse.

    Raises
    ------
    LinAlgError
        The matrices are not square.
    """
    values = _square(a)
    if values.shape[-1] <= elimination.MOST_ROWS and values.dtype.kind == "f":
        return InvExResult(*elimination.inverses(values))
    return InvExResult(*by_numpy(_inverses_and_info, values))


def _inverses_and_info(matrices: Any) -> tuple[Any, Any]:
    made = np.empty(matrices.shape, np.result_type(matrices.dtype, np.float32))
    info = np.zeros(matrices.shape[:-2], np.int32)
    for at in np.ndindex(info.shape):
        try:
            made[at] = _inv(matrices[at])
        except LinAlgError:
            made[at], info[at] = np.nan, matrices.shape[-1]
    return made, info


def solve(a: Any, b: Any) -> ndarray:
    """Return ``x`` with ``a @ x == b``, by NumPy on the CPU; LinAlgError if ``a`` is singular.

    A 1-dimensional ``b`` is a vector, else ``b`` has matrices in its last two axes.
    """
    return by_numpy(_solve, a, b)  # type: ignore[no-any-return]


def det(a: Any) -> ndarray:
    """Return determinants of square matrices; computed where :func:`inv` computes inverses."""
    if _is_eliminated(a):
        return elimination.determinants(a)[0]
    return by_numpy(np.linalg.det, a)  # type: ignore[no-any-return]


def slogdet(a: Any) -> SlogdetResult:
    """Return signs of determinants and logarithms of their magnitudes, by NumPy on the CPU."""
    return SlogdetResult(*by_numpy(np.linalg.slogdet, a))


def cholesky(a: Any, /, *, upper: bool = False) -> ndarray:
    """Return the lower triangles ``L`` with ``L @ L.mT.conj() == a``, by NumPy on the CPU.

    With ``upper`` their conjugate transposes are returned. LinAlgError is raised if ``a`` is not
    positive definite.
    """
    lower: ndarray = by_numpy(_cholesky, a)
    return lower.mT.conj() if upper else lower


def qr(a: Any, mode: str = "reduced") -> Any:
    """Return orthogonal ``Q`` and triangular ``R`` with ``Q @ R == a``, by NumPy on the CPU.

    Modes are "reduced", "complete", "r" (R alone) and "raw" (LAPACK's ``h, tau``).
    """
    made = by_numpy(np.linalg.qr, a, mode)
    return QRResult(*made) if mode in ("reduced", "complete") else made


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Return ``U, S, Vh`` with ``U * S @ Vh == a``, or ``S`` alone, by NumPy on the CPU."""
    made = by_numpy(np.linalg.svd, a, full_matrices, compute_uv, hermitian)
    return SVDResult(*made) if compute_uv else made


def svdvals(x: Any, /) -> ndarray:
    """Return singular values, the largest first, by NumPy on the CPU."""
    return svd(x, compute_uv=False)  # type: ignore[no-any-return]


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Return eigenvalues, ascending, and eigenvectors of Hermitian matrices, by NumPy on the CPU.

    ``UPLO`` is "L" to use the lower triangle and "U" to use the upper one.
    """
    return EighResult(*by_numpy(np.linalg.eigh, a, UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> ndarray:
    """Return the eigenvalues of Hermitian matrices, ascending, by NumPy on the CPU."""
    return by_numpy(np.linalg.eigvalsh, a, UPLO)  # type: ignore[no-any-return]


def eig(a: Any) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices, by NumPy on the CPU.

    The results are real if all eigenvalues are, else complex, as in NumPy.
    """
    return EigResult(*by_numpy(np.linalg.eig, a))


def eigvals(a: Any) -> ndarray:
    """Return eigenvalues of square matrices, by NumPy on the CPU; see :func:`eig` for dtypes."""
    return by_numpy(np.linalg.eigvals, a)  # type: ignore[no-any-return]


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> ndarray:
    """Return the pseudoinverses (Moore and Penrose) of matrices, by NumPy on the CPU."""
    return by_numpy(np.linalg.pinv, a, rcond, hermitian, rtol=rtol)  # type: ignore[no-any-return]


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[ndarray, ndarray, int, ndarray]:
    """Return a least-squares solution, residuals, rank and singular values, by NumPy on the CPU."""
    return by_numpy(np.linalg.lstsq, a, b, rcond)  # type: ignore[no-any-return]


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """Return the number of singular values above a tolerance (int64), by NumPy on the CPU."""
    return asarray(by_numpy(np.linalg.matrix_rank, A, tol, hermitian, rtol=rtol)).astype(np.int64)


def cond(x: Any, p: Any = None) -> ndarray:
    """Return condition numbers of matrices in a norm, by NumPy on the CPU."""
    return by_numpy(np.linalg.cond, x, p)  # type: ignore[no-any-return]


def tensorinv(a: Any, ind: int = 2) -> ndarray:
    """Return the inverse of a tensor that maps its last axes to its first ``ind`` axes.

    NumPy computes it on the CPU.
    """
    return by_numpy(np.linalg.tensorinv, a, ind)  # type: ignore[no-any-return]


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """Return ``x`` with ``tensordot(a, x, x.ndim) == b``, by NumPy on the CPU."""
    return by_numpy(np.linalg.tensorsolve, a, b, axes)  # type: ignore[no-any-return]
