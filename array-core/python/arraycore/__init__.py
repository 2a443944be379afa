"""arraycore: NumPy's arrays for browsers, computed by array-core.

    import arraycore as ac
    a = ac.array([1.0, 2.0], dtype="float32")
    print((a + a).get())

A process has one library, and only the thread that imported it may use it.
"""

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import _array_methods, capture, fft, lib, linalg, nn, random, special
from ._compat import file_io as _file_io
from ._compat import numpy_names as _numpy_names
from ._compat.cupy_names import install_cupy
from ._compat.file_io import *  # noqa: F403
from ._compat.interop import from_dlpack
from ._compat.numpy_names import *  # noqa: F403
from ._compat.unsupported import of_module
from ._core import creation as _creation
from ._core import ufuncs as _ufuncs
from ._core.creation import (
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
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ._core.kernels import ElementwiseKernel, RawKernel, ReductionKernel
from ._core.ndarray import ndarray
from ._core.ufuncs import *  # noqa: F403
from ._linalg import einsum as _einsum
from ._linalg.einsum import *  # noqa: F403
from ._linalg.linear import (
    cross,
    inner,
    kron,
    matrix_transpose,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from ._linalg.products import dot, matmul
from ._manipulation import editing as _editing
from ._manipulation import index_grids as _index_grids
from ._manipulation import joining as _joining
from ._manipulation import matrices as _matrices
from ._manipulation import ranges as _ranges
from ._manipulation.editing import *  # noqa: F403
from ._manipulation.gathering import (
    argwhere,
    choose,
    compress,
    extract,
    flatnonzero,
    nonzero,
    select,
    take,
    take_along_axis,
    where,
)
from ._manipulation.index_grids import *  # noqa: F403
from ._manipulation.joining import *  # noqa: F403
from ._manipulation.matrices import *  # noqa: F403
from ._manipulation.ranges import *  # noqa: F403
from ._manipulation.scattering import (
    fill_diagonal,
    place,
    put,
    put_along_axis,
    putmask,
    scatter_add,
    scatter_max,
    scatter_min,
)
from ._manipulation.views import (
    astype,
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
    permute_dims,
    ravel,
    reshape,
    rollaxis,
    squeeze,
    swapaxes,
    transpose,
)
from ._math import axis_functions as _axis_functions
from ._math import bits as _bits
from ._math import differences as _differences
from ._math import elements as _elements
from ._math import polynomials as _polynomials
from ._math import reductions as _reductions
from ._math.axis_functions import *  # noqa: F403
from ._math.bits import *  # noqa: F403
from ._math.differences import *  # noqa: F403
from ._math.elements import *  # noqa: F403
from ._math.polynomials import *  # noqa: F403
from ._math.reductions import *  # noqa: F403
from ._runtime.device_info import DeviceInfo, DeviceTime, device_info, device_timer
from ._runtime.devices import Device, Event, Stream
from ._runtime.errors import CompileError, DeviceError, DeviceLostError, InternalError
from ._runtime.profile import Profile, ProfileRow, profile
from ._runtime.session import close, counters, open, reset
from ._statistics import correlations as _correlations
from ._statistics import histograms as _histograms
from ._statistics import quantiles as _quantiles
from ._statistics.correlations import *  # noqa: F403
from ._statistics.histograms import *  # noqa: F403
from ._statistics.quantiles import *  # noqa: F403
from ._statistics.sorting import (
    argpartition,
    argsort,
    intersect1d,
    isin,
    lexsort,
    partition,
    setdiff1d,
    setxor1d,
    sort,
    sort_complex,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)

__all__ = [
    "CompileError",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceLostError",
    "DeviceTime",
    "ElementwiseKernel",
    "Event",
    "InternalError",
    "Profile",
    "ProfileRow",
    "RawKernel",
    "ReductionKernel",
    "Stream",
    "argpartition",
    "argsort",
    "argwhere",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "capture",
    "choose",
    "close",
    "compress",
    "copy",
    "copyto",
    "counters",
    "cross",
    "device_info",
    "device_timer",
    "diagonal",
    "dot",
    "empty",
    "empty_like",
    "expand_dims",
    "extract",
    "fft",
    "fill_diagonal",
    "flatnonzero",
    "flip",
    "fliplr",
    "flipud",
    "from_dlpack",
    "full",
    "full_like",
    "inner",
    "install_cupy",
    "intersect1d",
    "isin",
    "kron",
    "lexsort",
    "lib",
    "linalg",
    "matmul",
    "matrix_transpose",
    "matvec",
    "moveaxis",
    "ndarray",
    "nn",
    "nonzero",
    "ones",
    "ones_like",
    "open",
    "outer",
    "partition",
    "permute_dims",
    "place",
    "profile",
    "put",
    "put_along_axis",
    "putmask",
    "random",
    "ravel",
    "reset",
    "reshape",
    "rollaxis",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "select",
    "setdiff1d",
    "setxor1d",
    "sort",
    "sort_complex",
    "special",
    "squeeze",
    "swapaxes",
    "take",
    "take_along_axis",
    "tensordot",
    "trace",
    "transpose",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "vdot",
    "vecdot",
    "vecmat",
    "where",
    "zeros",
    "zeros_like",
]
# Modules that are imported whole list their public names themselves.
for _module in (
    _axis_functions, _bits, _correlations, _differences, _editing, _einsum, _elements, _file_io,
    _histograms, _index_grids, _joining, _matrices, _numpy_names, _polynomials, _quantiles, _ranges,
    _reductions, _ufuncs,
):  # fmt: skip
    __all__ += _module.__all__

if not TYPE_CHECKING:  # type checkers see the names above only

    def __getattr__(name: str) -> Any:
        of_module(name)


_array_methods.bind()

# Pickles and messages name what is public by the package, and not by the file that it is in.
for _value in [globals()[_name] for _name in __all__]:
    if isinstance(_value, FunctionType | type) and _value.__module__.startswith("arraycore._"):
        _value.__module__ = "arraycore"
# Where pickles of version 0.1 look for arrays and for streams of random numbers.
sys.modules["arraycore._creation"] = _creation
sys.modules["arraycore._streams"] = random._generators

open()
