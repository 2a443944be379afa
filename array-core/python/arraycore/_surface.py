"""Methods of an array that call the functions of the same names."""

from __future__ import annotations

from typing import Any

from ._ufuncs import Array


class Surface(Array):
    """What :class:`arraycore.ndarray` has of sorting, repeating, limits and rounding.

    The functions' modules make arrays themselves, so each is imported when it is called.
    """

    __slots__ = ()

    __hash__ = None  # type: ignore[assignment]

    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Sort along an axis, in place."""
        from . import _sorting

        target: Any = self
        target[...] = _sorting.sort(self, axis, kind)

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> Any:
        """Return the places that sorting takes the elements from; see :func:`arraycore.argsort`."""
        from . import _sorting

        return _sorting.argsort(self, axis, kind)

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
        """Put the elements in an order in which the ``kth`` is where sorting puts it, in place."""
        from . import _sorting

        target: Any = self
        target[...] = _sorting.partition(self, kth, axis, kind)

    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Any:
        """Return the places that a partition takes the elements from."""
        from . import _sorting

        return _sorting.argpartition(self, kth, axis, kind)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Return where values would be put in; see :func:`arraycore.searchsorted`."""
        from . import _counting

        return _counting.searchsorted(self, v, side, sorter)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Return each element repeated; see :func:`arraycore.repeat`."""
        from . import _joining

        return _joining.repeat(self, repeats, axis)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Return the elements within limits; see :func:`arraycore.clip`."""
        from . import _elements

        return _elements.clip(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Return the elements rounded; see :func:`arraycore.around`."""
        from . import _elements

        return _elements.around(self, decimals, out)

    def conj(self) -> Any:
        """Return the complex conjugates; of real numbers the array itself."""
        from . import _ufuncs

        array: Any = self
        return _ufuncs.conjugate(self) if array.dtype.kind == "c" else self

    conjugate = conj
