"""Discrete Fourier transforms under NumPy's names.

    import arraycore as ac
    spectrum = ac.fft.rfft(signal)

NumPy computes the transforms on the CPU: arrays are copied to the host and back, which waits for
the device and increases the counter ``cpu_ops``. Dtypes are NumPy's: float32 gives complex64 in
NumPy 2. Shifts are computed where the array lives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._compat.host_fallback import by_numpy
from ._core.creation import array, as_device_array
from ._core.ndarray import ndarray
from ._manipulation.joining import roll
from ._runtime.calls import integers
from ._runtime.devices import check_device

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Transform = Callable[..., ndarray]

# NumPy imports ``numpy.fft`` when it is first used. The import of this module must not do so.


def _along(name: str, what: str) -> Transform:
    """Return the function that calls NumPy's transform along one axis."""

    def transform(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> ndarray:
        return _placed(by_numpy(getattr(np.fft, name), a, n, axis, norm), out)

    transform.__doc__ = f"""Return {what} along an axis, by NumPy on the CPU.

    Parameters
    ----------
    a : array_like
        The array to transform.
    n : int, optional
        The number of elements to transform; missing ones are 0.
    axis : int
        The axis to work along.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which of the two directions is divided by the length.
    out : ndarray, optional
        Receives the result and is returned; it has the result's shape and dtype.
    """
    transform.__name__ = transform.__qualname__ = name
    return transform


def _placed(made: ndarray, out: Any) -> ndarray:
    if out is None:
        return made
    if out.shape != made.shape:
        raise ValueError("output array has wrong shape.")
    if out.dtype != made.dtype:
        raise TypeError(f"Cannot cast the output from {made.dtype!r} to {out.dtype!r}.")
    out[...] = made
    return out  # type: ignore[no-any-return]


def _over(name: str, what: str, last: tuple[int, ...] | None) -> Transform:
    """Return the function that calls NumPy's transform over axes, by default ``last``."""

    def transform(
        a: Any, s: Any = None, axes: Any = last, norm: str | None = None, out: Any = None
    ) -> ndarray:
        return _placed(by_numpy(getattr(np.fft, name), a, s, axes, norm), out)

    transform.__doc__ = f"""Return {what} over axes, by NumPy on the CPU.

    Parameters
    ----------
    a : array_like
        The array to transform.
    s : sequence of ints, optional
        The number of elements to transform along each axis; missing ones are 0.
    axes : sequence of ints, optional
        The axes; None is all axes, or as many last ones as ``s`` has numbers.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which of the two directions is divided by the number of elements.
    out : ndarray, optional
        Receives the result and is returned; it has the result's shape and dtype.
    """
    transform.__name__ = transform.__qualname__ = name
    return transform


_LAST_TWO = (-2, -1)

fft = _along("fft", "the discrete Fourier transform")
ifft = _along("ifft", "the inverse of :func:`fft`")
rfft = _along("rfft", "the first half of a real array's spectrum")
irfft = _along("irfft", "the real array of a halved spectrum")
hfft = _along("hfft", "the real spectrum of an array of which half is given")
ihfft = _along("ihfft", "the inverse of :func:`hfft`")
fft2 = _over("fft2", "the discrete Fourier transform", _LAST_TWO)
ifft2 = _over("ifft2", "the inverse of :func:`fft2`", _LAST_TWO)
rfft2 = _over("rfft2", "a real array's spectrum, its last axis halved,", _LAST_TWO)
irfft2 = _over("irfft2", "the real array of a halved spectrum", _LAST_TWO)
fftn = _over("fftn", "the discrete Fourier transform", None)
ifftn = _over("ifftn", "the inverse of :func:`fftn`", None)
rfftn = _over("rfftn", "a real array's spectrum, its last axis halved,", None)
irfftn = _over("irfftn", "the real array of a halved spectrum", None)


def fftfreq(n: int, d: float = 1.0, device: Any = None) -> ndarray:
    """Return the frequencies of a spectrum of ``n`` samples at the distance ``d``, in cycles per
    unit of ``d`` (float64).
    """
    check_device(device)
    return array(np.fft.fftfreq(n, d))


def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> ndarray:
    """Return the frequencies of a halved spectrum of ``n`` samples at the distance ``d``, in cycles
    per unit of ``d`` (float64).
    """
    check_device(device)
    return array(np.fft.rfftfreq(n, d))


def fftshift(x: Any, axes: Any = None) -> ndarray:
    """Return a spectrum with frequency 0 moved to the middle of the axes, by default of all."""
    return _shifted(x, axes, lambda extent: extent // 2)


def ifftshift(x: Any, axes: Any = None) -> ndarray:
    """Return a spectrum with frequency 0 moved to the front: the inverse of :func:`fftshift`."""
    return _shifted(x, axes, lambda extent: -(extent // 2))


def _shifted(x: Any, axes: Any, by: Callable[[int], int]) -> ndarray:
    values = as_device_array(x)
    along = tuple(range(values.ndim)) if axes is None else integers(axes)
    return roll(values, tuple(by(values.shape[axis]) for axis in along), along)
