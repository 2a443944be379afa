"""arraycore: NumPy's arrays for browsers, computed by array-core.

    import arraycore as ac
    a = ac.array([1.0, 2.0], dtype="float32")
    print((a + a).get())

The library is one a process and belongs to the thread that imports it.
"""

from . import _ufuncs, special
from ._creation import array, asnumpy, zeros
from ._errors import CompileError, DeviceError, DeviceLostError, InternalError
from ._kernels import ElementwiseKernel, RawKernel, ReductionKernel
from ._library import close, counters, open, reset
from ._ndarray import ndarray
from ._ufuncs import *  # noqa: F403 (NumPy's names, listed there)

__all__ = [
    "CompileError",
    "DeviceError",
    "DeviceLostError",
    "ElementwiseKernel",
    "InternalError",
    "RawKernel",
    "ReductionKernel",
    "array",
    "asnumpy",
    "close",
    "counters",
    "ndarray",
    "open",
    "reset",
    "special",
    "zeros",
]
__all__ += _ufuncs.__all__

open()
