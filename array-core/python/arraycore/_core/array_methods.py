"""Methods of an array that call the functions of the same names."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._compat.unsupported import of_array
from .ufuncs import Array


class Flat:
    """An array's elements in C order, as NumPy's ``flat``: read, written, looped over."""

    __slots__ = ("_array",)

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
        from .._manipulation.scattering import put

        if isinstance(key, Array):
            raise NotImplementedError(
                "arraycore writes array.flat by keys of the host: take put() for indices and "
                "array[mask] = value for masks."
            )
        places = np.arange(len(self))[key]
        put(self._array, np.atleast_1d(places), value)


class Surface(Array):
    """What :class:`arraycore.ndarray` has of sorting, repeating, limits and rounding.

    The functions' modules make arrays themselves, so each is imported when it is called.
    """

    __slots__ = ()

    __hash__ = None  # type: ignore[assignment]

    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Sort along an axis, in place."""
        from .._statistics import sorting

        target: Any = self
        target[...] = sorting.sort(self, axis, kind)

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> Any:
        """Return the places that sorting takes the elements from; see :func:`arraycore.argsort`."""
        from .._statistics import sorting

        return sorting.argsort(self, axis, kind)

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
        """Put the elements in an order in which the ``kth`` is where sorting puts it, in place."""
        from .._statistics import sorting

        target: Any = self
        target[...] = sorting.partition(self, kth, axis, kind)

    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Any:
        """Return the places that a partition takes the elements from."""
        from .._statistics import sorting

        return sorting.argpartition(self, kth, axis, kind)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Return where values would be put in; see :func:`arraycore.searchsorted`."""
        from .._statistics import histograms

        return histograms.searchsorted(self, v, side, sorter)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Return each element repeated; see :func:`arraycore.repeat`."""
        from .._manipulation import joining

        return joining.repeat(self, repeats, axis)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Return the elements within limits; see :func:`arraycore.clip`."""
        from .._math import elements

        return elements.clip(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Return the elements rounded; see :func:`arraycore.around`."""
        from .._math import elements

        return elements.around(self, decimals, out)

    def conj(self) -> Any:
        """Return the complex conjugates; of real numbers the array itself."""
        from . import ufuncs

        array: Any = self
        return ufuncs.conjugate(self) if array.dtype.kind == "c" else self

    conjugate = conj

    @property
    def flat(self) -> Flat:
        """The elements in C order; assigning sets them all, repeating what is given."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    def __contains__(self, value: Any) -> bool:
        array: Any = self
        return bool((array == value).any())

    def dumps(self) -> bytes:
        """Return the array as :func:`pickle.dumps` writes it; its elements are read."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the array to a file, or one of that name, as :meth:`dumps` does."""
        if hasattr(file, "write"):
            file.write(self.dumps())
            return
        with open(file, "wb") as opened:
            opened.write(self.dumps())

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file as :meth:`numpy.ndarray.tofile` does; they are read."""
        array: Any = self
        array.get().tofile(fid, sep, format)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            of_array(name)
