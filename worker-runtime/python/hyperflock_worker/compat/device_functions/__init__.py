"""Chainer's functions by ``arraycore.nn``, where arraycore is the ``cupy`` that Chainer sees.

    HYPERFLOCK_DEVICE_FUNCTIONS=0    # the switch: Chainer's own kernels for everything

On a GPU Chainer leaves convolutions and their kin to cuDNN, and keeps kernels of its own for what
cuDNN does not take. arraycore has no cuDNN, but kernels that do the same work: these modules put
them where Chainer's own kernels stand, by the import hooks of :mod:`hyperflock_worker.compat`.
Whatever ``arraycore.nn`` does not take (dtypes that differ, layouts) still goes Chainer's way.

The switch is read when Chainer is imported; :func:`chainers_own` turns the functions off for a
while, as tests do that compare the two.
"""

from __future__ import annotations

from hyperflock_worker.compat.device_functions import (
    convolution,
    losses,
    normalization,
    pooling,
)
from hyperflock_worker.compat.device_functions._switch import chainers_own

__all__ = ["PATCHES", "chainers_own"]

PATCHES = (
    *convolution.PATCHES,
    *normalization.PATCHES,
    *pooling.PATCHES,
    *losses.PATCHES,
)
