"""arraycore: NumPy's arrays for browsers, computed by array-core.

    import arraycore as ac
    a = ac.array([1.0, 2.0], dtype="float32")
    print((a + a).get())

A process has one library, and only the thread that imported it may use it.
"""

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import _array_methods, capture, cuda, fft, lib, linalg, nn, random, special
from ._compat import file_io as _file_io
from ._compat import numpy_names as _numpy_names
from ._compat.array_api import __array_api_version__ as __array_api_version__
from ._compat.array_api import __array_namespace_info__ as __array_namespace_info__
from ._compat.array_api import isdtype
from ._compat.cupy_names import install_cupy
from ._compat.file_io import *  # noqa: F403
from ._compat.interop import from_dlpack
from ._compat.numpy_names import *  # noqa: F403
from ._compat.unsupported import of_module
from ._core import creation as _creation
from ._core import ufuncs as _ufuncs
from ._core.creation import *  # noqa: F403
from ._core.kernels import ElementwiseKernel, RawKernel, ReductionKernel
from ._core.ndarray import ndarray
from ._core.ufuncs import *  # noqa: F403
from ._jit.decorators import jit, vectorize
from ._jit.generalized import guvectorize
from ._jit.positions import atomic, grid, gridsize
from ._jit.reductions import reduce
from ._linalg import einsum as _einsum
from ._linalg import linear as _linear
from ._linalg import products as _products
from ._linalg.einsum import *  # noqa: F403
from ._linalg.linear import *  # noqa: F403
from ._linalg.products import *  # noqa: F403
from ._manipulation import editing as _editing
from ._manipulation import gathering as _gathering
from ._manipulation import index_grids as _index_grids
from ._manipulation import joining as _joining
from ._manipulation import matrices as _matrices
from ._manipulation import ranges as _ranges
from ._manipulation import scattering as _scattering
from ._manipulation import views as _views
from ._manipulation.editing import *  # noqa: F403
from ._manipulation.gathering import *  # noqa: F403
from ._manipulation.index_grids import *  # noqa: F403
from ._manipulation.joining import *  # noqa: F403
from ._manipulation.matrices import *  # noqa: F403
from ._manipulation.ranges import *  # noqa: F403
from ._manipulation.scattering import *  # noqa: F403
from ._manipulation.views import *  # noqa: F403
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
from ._statistics import sorting as _sorting
from ._statistics.correlations import *  # noqa: F403
from ._statistics.histograms import *  # noqa: F403
from ._statistics.quantiles import *  # noqa: F403
from ._statistics.sorting import *  # noqa: F403

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
    "atomic",
    "capture",
    "close",
    "counters",
    "cuda",
    "device_info",
    "device_timer",
    "fft",
    "from_dlpack",
    "grid",
    "gridsize",
    "guvectorize",
    "install_cupy",
    "isdtype",
    "jit",
    "lib",
    "linalg",
    "ndarray",
    "nn",
    "open",
    "profile",
    "random",
    "reduce",
    "reset",
    "special",
    "vectorize",
]
# The public names of these modules are added from the modules' own lists.
for _module in (
    _axis_functions, _bits, _correlations, _creation, _differences, _editing, _einsum, _elements,
    _file_io, _gathering, _histograms, _index_grids, _joining, _linear, _matrices, _numpy_names,
    _polynomials, _products, _quantiles, _ranges, _reductions, _scattering, _sorting, _ufuncs,
    _views,
):  # fmt: skip
    __all__ += _module.__all__

if not TYPE_CHECKING:  # type checkers see the names above only

    def __getattr__(name: str) -> Any:
        of_module(name)


_array_methods.bind()

# Pickles and messages name a public object by the package, and not by the module that defines it.
for _value in [globals()[_name] for _name in __all__]:
    if isinstance(_value, FunctionType | type) and _value.__module__.startswith("arraycore._"):
        _value.__module__ = "arraycore"
# Pickles of version 0.1 look for arrays and for streams of random numbers in these modules.
sys.modules["arraycore._creation"] = _creation
sys.modules["arraycore._streams"] = random._generators

open()
