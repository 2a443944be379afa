"""The methods of arrays that reduce: each is the function of its name, called with the array."""

from __future__ import annotations

from . import _reductions
from ._ufuncs import Array


class Reductions(Array):
    """What :class:`arraycore.ndarray` has of reductions and running totals."""

    __slots__ = ()

    all = _reductions.all
    any = _reductions.any
    argmax = _reductions.argmax
    argmin = _reductions.argmin
    cumprod = _reductions.cumprod
    cumsum = _reductions.cumsum
    max = _reductions.max
    mean = _reductions.mean
    min = _reductions.min
    prod = _reductions.prod
    ptp = _reductions.ptp
    std = _reductions.std
    sum = _reductions.sum
    var = _reductions.var
