"""The methods of arrays that reduce; what they do is told by the functions of the same names."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from . import _reductions
from ._reductions import _NO_VALUE
from ._ufuncs import Array

Dtype = npt.DTypeLike | None


class Reductions(Array):
    """What :class:`arraycore.ndarray` has of reductions and running totals."""

    __slots__ = ()

    def sum(
        self,
        axis: Any = None,
        dtype: Dtype = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Return the sum over axes: :func:`arraycore.sum`."""
        return _reductions.sum(self, axis, dtype, out, keepdims, initial, where)

    def prod(
        self,
        axis: Any = None,
        dtype: Dtype = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Return the product over axes: :func:`arraycore.prod`."""
        return _reductions.prod(self, axis, dtype, out, keepdims, initial, where)

    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Return the largest element over axes: :func:`arraycore.max`."""
        return _reductions.max(self, axis, out, keepdims, initial, where)

    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Return the smallest element over axes: :func:`arraycore.min`."""
        return _reductions.min(self, axis, out, keepdims, initial, where)

    def any(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True
    ) -> Any:
        """Return whether an element is not zero: :func:`arraycore.any`."""
        return _reductions.any(self, axis, out, keepdims, where)

    def all(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True
    ) -> Any:
        """Return whether no element is zero: :func:`arraycore.all`."""
        return _reductions.all(self, axis, out, keepdims, where)

    def mean(
        self,
        axis: Any = None,
        dtype: Dtype = None,
        out: Any = None,
        keepdims: bool = False,
        where: Any = True,
    ) -> Any:
        """Return the mean over axes: :func:`arraycore.mean`."""
        return _reductions.mean(self, axis, dtype, out, keepdims, where)

    def var(
        self,
        axis: Any = None,
        dtype: Dtype = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
    ) -> Any:
        """Return the variance over axes: :func:`arraycore.var`."""
        return _reductions.var(self, axis, dtype, out, ddof, keepdims, where)

    def std(
        self,
        axis: Any = None,
        dtype: Dtype = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
    ) -> Any:
        """Return the standard deviation over axes: :func:`arraycore.std`."""
        return _reductions.std(self, axis, dtype, out, ddof, keepdims, where)

    def ptp(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return the largest less the smallest element: :func:`arraycore.ptp`."""
        return _reductions.ptp(self, axis, out, keepdims)

    def argmax(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return where the largest element is: :func:`arraycore.argmax`."""
        return _reductions.argmax(self, axis, out, keepdims)

    def argmin(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return where the smallest element is: :func:`arraycore.argmin`."""
        return _reductions.argmin(self, axis, out, keepdims)

    def cumsum(self, axis: Any = None, dtype: Dtype = None, out: Any = None) -> Any:
        """Return the sums of the elements up to each: :func:`arraycore.cumsum`."""
        return _reductions.cumsum(self, axis, dtype, out)

    def cumprod(self, axis: Any = None, dtype: Dtype = None, out: Any = None) -> Any:
        """Return the products of the elements up to each: :func:`arraycore.cumprod`."""
        return _reductions.cumprod(self, axis, dtype, out)
