"""``cupy.cuda.runtime``: the functions that do not depend on CUDA."""

from __future__ import annotations

from typing import Any

from arraycore._runtime.devices import synchronize

from .._shared.unsupported import COUNTERS, POINTER, names_of

_lookup = names_of(
    "cupy.cuda.runtime",
    None,
    {
        "deviceGetAttribute": "ask arraycore.device_info()",
        "driverGetVersion": "ask arraycore.device_info()",
        "free": POINTER,
        "malloc": POINTER,
        "memGetInfo": COUNTERS,
        "memcpy": POINTER,
        "runtimeGetVersion": "ask arraycore.device_info()",
    },
)


class CUDARuntimeError(RuntimeError):
    """Never raised: arraycore raises DeviceError and MemoryError."""


def deviceSynchronize() -> None:
    """Wait until the device has finished all operations."""
    synchronize()


def getDevice() -> int:
    """Return the number of the current device, which is 0."""
    return 0


def getDeviceCount() -> int:
    """Return the number of devices, which is 1."""
    return 1


def __getattr__(name: str) -> Any:
    return _lookup(name)
