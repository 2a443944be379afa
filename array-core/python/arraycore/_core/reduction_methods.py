"""The methods of arrays that reduce: each is the function of its name, called with the array."""

from __future__ import annotations

from . import reductions
from .ufuncs import Array


class Reductions(Array):
    """What :class:`arraycore.ndarray` has of reductions and running totals."""

    __slots__ = ()

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
