"""Functions that read, write and print arrays with NumPy's functions of the same names.

Functions that read return arrays of arraycore; those that write or print wait for the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.creation import array, check_like
from .._core.ndarray import ndarray
from .._runtime.parameters import refuse_parameter

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "can_cast",
    "common_type",
    "einsum_path",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "isfortran",
    "load",
    "loadtxt",
    "min_scalar_type",
    "ndim",
    "require",
    "result_type",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "shape",
    "size",
]


def frombuffer(
    buffer: Any, dtype: npt.DTypeLike = float, count: int = -1, offset: int = 0, *, like: Any = None
) -> ndarray:
    """Return a vector of the elements in a buffer. They are copied, unlike in NumPy."""
    check_like(like)
    return array(np.frombuffer(buffer, dtype, count, offset))


def fromiter(iter: Any, dtype: npt.DTypeLike, count: int = -1, *, like: Any = None) -> ndarray:
    """Return a vector of an iterator's values."""
    check_like(like)
    return array(np.fromiter(iter, dtype, count))


def fromstring(
    string: str, dtype: npt.DTypeLike = float, count: int = -1, *, sep: str, like: Any = None
) -> ndarray:
    """Return a vector of the numbers in a text; ``sep`` separates the numbers."""
    check_like(like)
    return array(np.fromstring(string, dtype, count, sep=sep))


def fromfile(
    file: Any,
    dtype: npt.DTypeLike = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: Any = None,
) -> ndarray:
    """Return a vector of the elements in a file: binary data, or text if ``sep`` is given."""
    check_like(like)
    return array(np.fromfile(file, dtype, count, sep, offset))


def loadtxt(*args: Any, **kwargs: Any) -> ndarray:
    """Return an array of a text file's numbers, as :func:`numpy.loadtxt`."""
    return array(np.loadtxt(*args, **kwargs))


def genfromtxt(*args: Any, **kwargs: Any) -> ndarray:
    """Return an array of a text file's numbers, of which some may be missing, as
    :func:`numpy.genfromtxt`.
    """
    return array(np.genfromtxt(*args, **kwargs))


def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """Write an array to a text file, as :func:`numpy.savetxt`."""
    np.savetxt(fname, _of(X), *args, **kwargs)


class NpzFile:
    """The arrays of a ``.npz`` file by their names; each access reads the array from the file."""

    __slots__ = ("npz_file",)

    def __init__(self, npz_file: Any) -> None:
        self.npz_file = npz_file

    @property
    def files(self) -> list[str]:
        return list(self.npz_file.files)

    def __getitem__(self, name: str) -> ndarray:
        return array(self.npz_file[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.npz_file.close()


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    """Return the array of a ``.npy`` file, or the arrays of a ``.npz`` file by their names.

    A file of a pickled object, which needs ``allow_pickle``, gives this object. The parameters are
    those of :func:`numpy.load`.
    """
    loaded = np.load(
        file,
        mmap_mode,
        allow_pickle,
        fix_imports,
        encoding,  # type: ignore[arg-type]
        max_header_size=max_header_size,
    )
    if isinstance(loaded, np.ndarray):
        return array(loaded)
    return NpzFile(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else loaded


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a ``.npy`` file."""
    np.save(file, _of(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write arrays to a ``.npz`` file."""
    np.savez(file, *map(_of, args), **{name: _of(each) for name, each in kwds.items()})


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Write arrays to a compressed ``.npz`` file."""
    np.savez_compressed(file, *map(_of, args), **{name: _of(each) for name, each in kwds.items()})


def array_repr(arr: Any, *args: Any, **kwargs: Any) -> str:
    """Return an array's text with its dtype, as :func:`numpy.array_repr`."""
    return np.array_repr(_of(arr), *args, **kwargs)


def array_str(a: Any, *args: Any, **kwargs: Any) -> str:
    """Return an array's elements as text, as :func:`numpy.array_str`."""
    return np.array_str(_of(a), *args, **kwargs)


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    """Return an array's elements as text, as :func:`numpy.array2string`."""
    return np.array2string(_of(a), *args, **kwargs)


def _of(a: Any) -> Any:
    return a.get() if isinstance(a, ndarray) else a


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return NumPy's order of contractions for an ``einsum``, and a text on its cost.

    Only the operands' shapes are used; their elements are not read. ``einsum_call`` is NumPy's own.
    """
    if einsum_call:
        refuse_parameter("einsum_call")
    stand_ins = [
        np.broadcast_to(np.zeros((), each.dtype), each.shape) if isinstance(each, ndarray) else each
        for each in operands
    ]
    return np.einsum_path(*stand_ins, optimize=optimize)


# ---- properties of arrays and dtypes


def ndim(a: Any) -> int:
    """Return an array's number of axes."""
    return a.ndim if isinstance(a, ndarray) else np.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """Return an array's extents."""
    return a.shape if isinstance(a, ndarray) else np.shape(a)


def size(a: Any, axis: int | None = None) -> int:
    """Return an array's number of elements, or its extent along an axis."""
    if isinstance(a, ndarray):
        return a.size if axis is None else a.shape[axis]
    return np.size(a, axis)


def isfortran(a: Any) -> bool:
    """Return whether an array is in Fortran order, but not in C order."""
    return a.flags.fnc if isinstance(a, ndarray) else np.isfortran(a)


def _dtypes(values: tuple[Any, ...]) -> list[Any]:
    return [value.dtype if isinstance(value, ndarray) else value for value in values]


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the common dtype of arrays, dtypes and numbers, by NumPy's rules."""
    return np.result_type(*_dtypes(arrays_and_dtypes))


def can_cast(from_: Any, to: npt.DTypeLike, casting: str = "safe") -> bool:
    """Return whether a casting rule allows the cast of a dtype, or of an array, to a dtype."""
    given: Any = from_.dtype if isinstance(from_, ndarray) else from_
    return np.can_cast(given, to, casting)  # type: ignore[arg-type]


def common_type(*arrays: Any) -> type[Any]:
    """Return the common floating or complex type of arrays; integers count as float64."""
    types = {np.dtype(np.float64 if d.kind in "iu" else d) for d in (a.dtype for a in arrays)}
    if any(each.kind not in "fc" for each in types):
        raise TypeError("can't get common type for non-numeric array")
    if not types:
        return np.float16
    return np.result_type(*types).type


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """Return the smallest dtype that holds a number, or an array's own dtype."""
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)


def require(
    a: Any,
    dtype: npt.DTypeLike | None = None,
    requirements: Any = None,
    *,
    like: Any = None,
) -> ndarray:
    """Return an array with the required memory layout; ``a`` itself if it has this layout.

    Parameters
    ----------
    a : array_like
        The array to check.
    dtype : dtype, optional
        The result's dtype.
    like : ndarray, optional
        As for :func:`arraycore.array`.
    requirements : str or sequence of str
        Any of "C", "F", "A", "O", "W" and their long names. "C" and "F" require an order. "A" is
        always true: every array is aligned. "O" and "W" require an array that owns its memory, so a
        view is copied.
    """
    check_like(like)
    known = {"C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F",
             "FORTRAN": "F", "A": "", "ALIGNED": "", "O": "O", "OWNDATA": "O", "W": "W",
             "WRITEABLE": "W"}  # fmt: skip
    asked = {known[each.upper()] for each in requirements or ()}
    if {"C", "F"} <= asked:
        raise ValueError("Cannot specify both 'C' and 'F' order")
    order = "C" if "C" in asked else "F" if "F" in asked else "A"
    made = array(a, dtype, copy=False, order=order)
    owned = not asked & {"O", "W"} or made is not a
    return made if owned and (made.flags.writeable or "W" not in asked) else made.copy(order)
