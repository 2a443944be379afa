"""``cupy``: arraycore under CuPy's names, as far as Chainer and similar code need them.

    import arraycore
    arraycore.install_cupy()
    import cupy

Importing it sets CuPy's promotion of dtypes: float32 times ``np.float64(2)`` stays float32. A name
that is not supported raises NotImplementedError with an alternative. There is no cuDNN, NCCL or
cuSPARSE: ``import cupy.cudnn`` fails, and Chainer uses its own kernels.
"""

from __future__ import annotations

from typing import Any

import arraycore
import numpy as np
from arraycore import ElementwiseKernel, ReductionKernel, ndarray
from arraycore._runtime import session

from . import cuda, fft, lib, linalg, random, testing, util
from ._shared.functions import (
    RawKernel,
    asnumpy,
    broadcast,
    clear_memo,
    fuse,
    get_array_module,
    memoize,
)
from ._shared.pools import get_default_memory_pool, get_default_pinned_memory_pool

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "ReductionKernel",
    "asnumpy",
    "broadcast",
    "clear_memo",
    "cuda",
    "fft",
    "fuse",
    "get_array_module",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "lib",
    "linalg",
    "memoize",
    "ndarray",
    "random",
    "testing",
    "util",
]

#: The version of CuPy whose interface this follows: the newest that Chainer 7.8.1 accepts.
__version__ = "7.8.0"

# All other names are arraycore's.
globals().update(
    {name: getattr(arraycore, name) for name in arraycore.__all__ if name not in globals()}
)
int_ = np.int64
float_ = np.float64
complex_ = np.complex128

session.set_promotion("cupy")


def __getattr__(name: str) -> Any:
    try:
        return getattr(arraycore, name)
    except NotImplementedError:  # says what to call instead
        raise
    except AttributeError:
        raise AttributeError(f"module 'cupy' has no attribute {name!r}") from None
