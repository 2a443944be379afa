"""The library's state in Python: the bridge, and the ids of arrays that are to be freed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from .._bridge import FREE_IDS, connect
from . import opcodes
from .dtypes import number_of
from .errors import coded, exception_of

_BACKENDS = {"cpu": 0, "webgpu": 1, "webgl2": 2}
#: Counters in the order of ``ac_counter_name``.
COUNTERS = (
    "crossings",
    "live_bytes",
    "peak_bytes",
    "live_arrays",
    "dispatches",
    "cpu_ops",
    "bytes_up",
    "bytes_down",
    "sync_waits",
    "heap_bytes",
    "device_bytes",
)
_OUT_OF_MEMORY = -4
_FUSED = 13  # of ac_counter_name
#: Each operation frees up to two arrays. If more than this number wait, a separate call frees all.
BACKLOG = 256

bridge = connect()
#: The ids of arrays that Python no longer holds. ``__del__`` adds them; the next operations free
#: the arrays.
freed: list[int] = []
_fusing = False
_on_device = False
_PROMOTIONS = ("numpy", "cupy")
_promotion = 0


def failure() -> BaseException:
    """Return the exception for the call that has just failed."""
    return exception_of(bridge.error())


def check(status: int) -> int:
    """Return ``status``, or raise the last error if it is negative."""
    if status < 0:
        raise failure()
    return status


def recover(status: int) -> None:
    """If a call ran out of memory, free the arrays that wait to be freed. If none waits, or for any
    other error, raise the error.
    """
    if status != _OUT_OF_MEMORY or not freed:
        raise failure()
    drain()


def drain() -> None:
    """Free every array that Python no longer holds."""
    while freed:
        batch = freed[-FREE_IDS:]
        del freed[-FREE_IDS:]
        check(bridge.free(batch))


def set_fusing(fusing: bool) -> bool:
    """Set whether operations wait to be fused with later ones; return the previous setting.

    If fusing is switched off, waiting operations are computed.
    """
    global _fusing
    drain()
    before = bool(check(bridge.call(opcodes.FUSE, 0, 0, int(fusing))))
    _fusing = fusing
    return before


def set_promotion(mode: str) -> str:
    """Set the rules of dtype promotion, also for a later :func:`open`; return the previous ones.

    Parameters
    ----------
    mode : {"numpy", "cupy"}
        ``numpy`` means the rules of NumPy 2. ``cupy`` means CuPy's earlier rules: NumPy's scalars
        do not change an array's dtype, so float32 times ``np.float64(2)`` is float32.
    """
    global _promotion
    if mode not in _PROMOTIONS:
        message = f"There is no promotion {mode!r}: take one of {', '.join(_PROMOTIONS)}."
        raise coded(ValueError(message), "unknown_promotion")
    number = _PROMOTIONS.index(mode)
    before = check(bridge.set_promotion(number))
    _promotion = number
    return _PROMOTIONS[before]


def takes_numpys() -> bool:
    """Return whether functions take NumPy's arrays, lists and numbers as operands.

    They do by NumPy's rules of promotion, and do not by CuPy's.
    """
    return _promotion == 0


def settle() -> None:
    """Launch all operations that wait to be fused."""
    drain()
    check(bridge.call(opcodes.FLUSH, 0, 0))


def before_read() -> None:
    """Free arrays that Python no longer holds, so that fused kernels do not store them."""
    if _fusing:
        drain()


def open(
    backend: str | None = None, *, budget_bytes: int | None = None, fuse: bool | None = None
) -> None:
    """Open array-core; importing the package does so with the defaults.

    Parameters
    ----------
    backend : {"cpu", "webgpu", "webgl2"}, optional
        The back end; by default ``ARRAYCORE_BACKEND`` if it is set, else ``"cpu"``.
    budget_bytes : int, optional
        The limit of all arrays' memory; by default ``ARRAYCORE_BUDGET_BYTES`` if it is set, else
        there is no limit.
    fuse : bool, optional
        Whether operations wait and are fused with those that read their results; by default
        ``ARRAYCORE_FUSE`` (0 or 1) if it is set, else true. Fusion does not change the results.

    Raises
    ------
    ValueError
        The library is open, or there is no such back end.
    NotImplementedError
        This build lacks the back end.
    """
    global _fusing, _on_device
    backend = backend or os.environ.get("ARRAYCORE_BACKEND", "cpu")
    if budget_bytes is None:
        budget_bytes = int(os.environ.get("ARRAYCORE_BUDGET_BYTES", "0"))
    if backend not in _BACKENDS:
        message = f"There is no back end {backend!r}: take one of {', '.join(_BACKENDS)}."
        raise coded(ValueError(message), "unknown_backend")
    if fuse is None:
        fuse = os.environ.get("ARRAYCORE_FUSE", "1") != "0"
    check(bridge.open(_BACKENDS[backend], float(budget_bytes)))
    _on_device = backend != "cpu"
    if _promotion:
        check(bridge.set_promotion(_promotion))
    _fusing = False
    if fuse:
        set_fusing(True)


def is_on_device() -> bool:
    """Return whether arrays live on a device, not in the CPU's memory."""
    return _on_device


def close() -> None:
    """Free every array and the back end; arrays made before raise ValueError from now on."""
    check(bridge.close())
    freed.clear()


def reset() -> None:
    """Free every array and set the counters to 0; arrays made before raise ValueError."""
    check(bridge.reset())
    freed.clear()


def counters() -> dict[str, int]:
    """Return array-core's counters since :func:`open` or :func:`reset`.

    ``crossings`` counts calls into array-core, ``cpu_ops`` operations that the CPU did for a GPU
    back end, ``sync_waits`` how often Python waited for a device, and ``fused`` operations that
    needed no dispatch of their own. ``heap_bytes`` is the size of the WebAssembly module's memory,
    and ``device_bytes`` that of the device's buffers, including those kept for the next arrays. The
    other counters are numbers of arrays and kernel launches, and bytes.
    """
    counted = {name: int(bridge.counter(number)) for number, name in enumerate(COUNTERS)}
    return counted | {"fused": int(bridge.counter(_FUSED))}


def create(shape: tuple[int, ...], elements: npt.NDArray[Any] | None, dtype: np.dtype[Any]) -> int:
    """Return the id of a new array. ``elements`` is a C-contiguous array, or None for zeros."""
    drain()
    return check(bridge.create(number_of(dtype), shape, elements))


def read(array: int, out: npt.NDArray[Any]) -> None:
    before_read()
    check(bridge.read(array, out))


def item(array: int) -> float | bool:
    """Return the element of a one-element array as a float.

    Return False if an error occurred. Return True if the caller must call :func:`read`: a float may
    not hold the array's dtype exactly, or there is not exactly one element.
    """
    before_read()
    return bridge.item(array)


def describe(array: int) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return dtype number, shape and strides."""
    described = bridge.describe(array)
    if described is None:
        raise failure()
    return described
