"""Computes functions of Chainer by ``arraycore.nn``, if arraycore is Chainer's ``cupy``.

    HYPERFLOCK_DEVICE_FUNCTIONS=0    # the switch: Chainer's own kernels for everything

On a GPU Chainer uses cuDNN for convolutions and similar functions, and its own kernels if cuDNN
does not support the arguments. arraycore has no cuDNN, but it has kernels for these functions. The
import hooks of :mod:`hyperflock_worker.compat` replace Chainer's own kernels by them. Arguments
that ``arraycore.nn`` does not support (different dtypes, layouts) still use Chainer's kernels.

The switch is read when Chainer is imported. :func:`chainers_own` turns the functions off for a
block; tests use it to compare both ways.
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
