"""``cupy.cuda.device``: the only device, and its number."""

from __future__ import annotations

from typing import NoReturn

from arraycore._runtime.devices import Device

from .._shared.unsupported import POINTER

__all__ = ["Device", "get_cublas_handle", "get_device_id"]


def get_device_id() -> int:
    """Return the number of the current device, which is 0."""
    return 0


def get_cublas_handle() -> NoReturn:
    """Raise NotImplementedError: there is no cuBLAS."""
    raise NotImplementedError(
        f"arraycore has no cuBLAS: call matmul, dot, tensordot or einsum; {POINTER}."
    )
