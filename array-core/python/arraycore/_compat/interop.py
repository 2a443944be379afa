"""The interfaces of an array for other libraries: NumPy's functions, DLPack, CuPy's devices.

NumPy calls ``__array_function__`` when one of its functions gets an array of arraycore, and then
arraycore's function of the same name is called. No array is copied to NumPy implicitly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._core.creation import array
from .._core.ndarray import ndarray
from .._runtime import devices
from .._runtime.errors import coded
from .array_api import check_version


def _counterpart(function: Callable[..., Any]) -> Any:
    """Return the arraycore function that has the name of a NumPy function, or None."""
    places = getattr(function, "__module__", "").split(".")
    if places[0] != "numpy":
        return None
    module: Any = sys.modules.get(".".join(["arraycore", *places[1:]]))
    if module is None and places[1:]:
        module = getattr(sys.modules["arraycore"], places[1], None)
    name = getattr(function, "__name__", "")
    ours = None if name.startswith("_") else getattr(module, name, None)
    return None if ours is function or not callable(ours) else ours


class Interop:
    """The methods of :class:`arraycore.ndarray` for NumPy, CuPy and other array libraries."""

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call arraycore's function of the same name. NumPy's arrays are not converted.

        Raises
        ------
        NotImplementedError
            arraycore has no such function.
        """
        ours = _counterpart(func)
        if ours is None:
            name = f"{getattr(func, '__module__', '')}.{getattr(func, '__name__', func)}"
            raise NotImplementedError(
                f"arraycore has no counterpart of {name}: call it with array.get()."
            )
        return ours(*args, **kwargs)

    # ---- DLPack: through the host's memory, which other libraries can read

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Copy the array to the host's memory and return a DLPack capsule of the copy.

        Raises
        ------
        BufferError
            ``copy`` is False, or ``dl_device`` is not the host: only a copy there can be shared.
        """
        if copy is False:
            message = "An array of arraycore's is exchanged as a copy: take copy=None."
            raise coded(BufferError(message), "needs_copy")
        if stream is not None:
            message = "An array of arraycore's is exchanged in the host's memory: stream=None."
            raise coded(BufferError(message), "exchange_on_host")
        return self.get().__dlpack__(max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and number of the host's memory."""
        device: tuple[int, int] = np.empty(0).__dlpack_device__()
        return device

    # ---- attributes and methods of CuPy's arrays

    @property
    def device(self) -> devices.Device:
        """The only device; see :class:`cupy.cuda.Device`."""
        return devices.Device()

    @property
    def data(self) -> NoReturn:
        """Raise NotImplementedError: the memory of a browser's device has no addresses."""
        raise NotImplementedError(
            "An array of arraycore's has no address: take an ElementwiseKernel in place of what "
            "reads memory by pointers, and array.get() in place of ndarray.data."
        )

    cstruct = data

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array itself: it is on the only device.

        Raises
        ------
        ValueError
            ``device`` is another device.
        """
        devices.check_device(device)
        return self

    # ---- the array API standard

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module ``arraycore``.

        Raises
        ------
        ValueError
            arraycore does not know this version of the standard.
        """
        check_version(api_version)
        return sys.modules["arraycore"]

    def reduced_view(self: Any, dtype: Any = None) -> Any:
        """Return a view of the fewest axes: neighbours are merged if one step describes both.

        Kernels collapse axes by themselves; this method is CuPy's.
        """
        if dtype is not None:
            self = self.view(dtype)
        shape: list[int] = []
        step = 0  # from one element of the last merged axis to the next one
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if extent == 1:
                continue
            if shape and step == extent * stride:
                shape[-1] *= extent
            else:
                shape.append(extent)
            step = stride
        if self.ndim < 2:
            return self
        return self.reshape([0] if self.size == 0 else shape or [1], copy=False)

    def toDlpack(self) -> Any:
        """Return a DLPack capsule, as CuPy's method of this name does."""
        return self.__dlpack__()


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return a new array with the elements of an object that supports DLPack.

    Parameters
    ----------
    x : object
        An object with ``__dlpack__`` and ``__dlpack_device__`` whose memory is the host's.
    device : Device, optional
        The only device, or None.
    copy : bool, optional
        None or True: the elements are always copied.

    Raises
    ------
    BufferError
        ``copy`` is False, or the object's memory is not the host's.
    """
    if copy is False:
        message = "arraycore shares no memory with others: take copy=None."
        raise coded(BufferError(message), "needs_copy")
    devices.check_device(device)
    if isinstance(x, ndarray):
        return x.copy()
    return array(np.from_dlpack(x))
