"""The methods of ``ndarray`` that call the package's functions.

The functions make arrays, so their modules import the class, and the class's module cannot import
them. :func:`bind` adds these methods to the class after the functions have been imported.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._compat.interop import Interop
from ._compat.unsupported import of_array
from ._core import creation, ufuncs
from ._core.indexing import Indexing
from ._core.ndarray import ndarray
from ._core.operators import Operators
from ._linalg import linear, products
from ._linalg.products import Products
from ._manipulation import gathering, joining, scattering
from ._math import elements, reductions
from ._statistics import histograms, sorting


class Flat:
    """NumPy's ``flat``: an array's elements in C order, which can be read, written, compared and
    iterated.
    """

    __slots__ = ("_array",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        size: int = self._array.size
        return size

    def __iter__(self) -> Iterator[Any]:
        return iter(self._array.ravel())

    def __getitem__(self, key: Any) -> Any:
        made = self._array.reshape(-1)[key]
        return made.copy()  # as NumPy's, not a view

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, ndarray):
            raise NotImplementedError(
                "arraycore writes array.flat by keys of the host: take put() for indices and "
                "array[mask] = value for masks."
            )
        places = np.arange(len(self))[key]
        scattering.put(self._array, np.atleast_1d(places), value)

    def __eq__(self, other: object) -> Any:
        return self._array.ravel() == other

    def __ne__(self, other: object) -> Any:
        return self._array.ravel() != other

    def __lt__(self, other: Any) -> Any:
        return self._array.ravel() < other

    def __le__(self, other: Any) -> Any:
        return self._array.ravel() <= other

    def __gt__(self, other: Any) -> Any:
        return self._array.ravel() > other

    def __ge__(self, other: Any) -> Any:
        return self._array.ravel() >= other


class ArrayMethods(Operators, Indexing, Products, Interop):
    """The methods of :class:`arraycore.ndarray` that need functions of the package."""

    all = reductions.all
    any = reductions.any
    argmax = reductions.argmax
    argmin = reductions.argmin
    cumprod = reductions.cumprod
    cumsum = reductions.cumsum
    max = reductions.max
    mean = reductions.mean
    min = reductions.min
    prod = reductions.prod
    ptp = reductions.ptp
    std = reductions.std
    sum = reductions.sum
    var = reductions.var

    argpartition = sorting.argpartition
    argsort = sorting.argsort
    choose = gathering.choose
    dot = products.dot
    nonzero = gathering.nonzero
    repeat = joining.repeat
    round = elements.around
    scatter_add = scattering.scatter_add
    searchsorted = histograms.searchsorted
    take = gathering.take
    trace = linear.trace

    def sort(
        self: Any,
        axis: int = -1,
        kind: str | None = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> None:
        """Sort along an axis, in place; see :func:`arraycore.sort`."""
        self[...] = sorting.sort(self, axis, kind, order, stable=stable, descending=descending)

    def partition(
        self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Reorder the elements in place so that element ``kth`` is the one that sorting would put
        there.
        """
        self[...] = sorting.partition(self, kth, axis, kind, order)

    def clip(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """Return the elements limited to an interval; see :func:`arraycore.clip`."""
        return elements.clip(self, min, max, out, **kwargs)

    def put(self: Any, indices: Any, values: Any, mode: str = "raise") -> None:
        """Overwrite the elements at some indices; see :func:`arraycore.put`."""
        scattering.put(self, indices, values, mode)

    def compress(self: Any, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """Return the slices whose condition is true; see :func:`arraycore.compress`."""
        return gathering.compress(condition, self, axis, out)

    def conj(self: Any) -> Any:
        """Return the complex conjugates; a real array is returned itself."""
        return ufuncs.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def flat(self) -> Flat:
        """The elements in C order. An assignment sets all of them; too few values are repeated."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    def __contains__(self: Any, value: Any) -> bool:
        return bool((self == value).any())

    def __reduce__(self: Any) -> tuple[Any, tuple[npt.NDArray[Any]]]:
        return creation.array, (self.get(),)

    def dumps(self) -> bytes:
        """Return the pickled array; its elements are read from the device."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the pickled array to a file object, or to the file with the name ``file``."""
        if hasattr(file, "write"):
            file.write(self.dumps())
            return
        with open(file, "wb") as opened:
            opened.write(self.dumps())

    def tofile(self: Any, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Read the elements from the device, and write them as NumPy's ``tofile`` does."""
        self.get().tofile(fid, sep, format)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            of_array(name)


def bind() -> None:
    """Give :class:`arraycore.ndarray` the methods of :class:`ArrayMethods` and of its bases."""
    of_every_class = vars(type("Empty", (), {})).keys() | {"__hash__"}
    for cls in ArrayMethods.__mro__[-2::-1]:
        for name, method in vars(cls).items():
            if name not in of_every_class:
                setattr(ndarray, name, method)
