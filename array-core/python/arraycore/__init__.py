"""arraycore: NumPy's arrays for browsers, computed by array-core.

    import arraycore as ac
    a = ac.array([1.0, 2.0], dtype="float32")
    print((a + a).get())

The library is one a process and belongs to the thread that imports it.
"""

from numpy import (
    bool_,
    complex64,
    complex128,
    dtype,
    e,
    float16,
    float32,
    float64,
    inf,
    int8,
    int16,
    int32,
    int64,
    nan,
    newaxis,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)

from . import _reductions, _ufuncs, special
from ._creation import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    empty,
    empty_like,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ._device import DeviceInfo, DeviceTime, device_info, device_timer
from ._errors import CompileError, DeviceError, DeviceLostError, InternalError
from ._kernels import ElementwiseKernel, RawKernel, ReductionKernel
from ._library import close, counters, open, reset
from ._manipulation import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_to,
    copy,
    copyto,
    diagonal,
    expand_dims,
    flip,
    fliplr,
    flipud,
    moveaxis,
    ravel,
    reshape,
    rollaxis,
    squeeze,
    swapaxes,
    transpose,
)
from ._ndarray import ndarray
from ._reductions import *  # noqa: F403 (NumPy's names, listed there)
from ._ufuncs import *  # noqa: F403 (NumPy's names, listed there)

__all__ = [
    "CompileError",
    "DeviceError",
    "DeviceInfo",
    "DeviceLostError",
    "DeviceTime",
    "ElementwiseKernel",
    "InternalError",
    "RawKernel",
    "ReductionKernel",
    "arange",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bool_",
    "broadcast_arrays",
    "broadcast_to",
    "close",
    "complex64",
    "complex128",
    "copy",
    "copyto",
    "counters",
    "device_info",
    "device_timer",
    "diagonal",
    "dtype",
    "e",
    "empty",
    "empty_like",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "full",
    "full_like",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "linspace",
    "moveaxis",
    "nan",
    "ndarray",
    "newaxis",
    "ones",
    "ones_like",
    "open",
    "pi",
    "ravel",
    "reset",
    "reshape",
    "rollaxis",
    "special",
    "squeeze",
    "swapaxes",
    "transpose",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "zeros",
    "zeros_like",
]
__all__ += _reductions.__all__
__all__ += _ufuncs.__all__

open()
