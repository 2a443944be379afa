"""What the Python array API standard asks for in addition to NumPy's names.

The standard is https://data-apis.org/array-api/2024.12; ``docs/surface.md`` says what is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.devices import Device, check_device
from .._runtime.dtypes import DTYPES
from .._runtime.errors import coded

__all__ = ["isdtype"]

__array_api_version__ = "2024.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", __array_api_version__)
_MOST_AXES = 32


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind, as :func:`numpy.isdtype`.

    Parameters
    ----------
    dtype : dtype
        The dtype.
    kind : dtype, str or tuple of these
        A dtype, or "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" or "numeric".
    """
    return bool(np.isdtype(np.dtype(dtype), kind))


def check_version(api_version: str | None) -> None:
    """Raise if arraycore does not follow a version of the standard.

    Raises
    ------
    ValueError
        There is no such version, or arraycore does not know it.
    """
    if api_version is not None and api_version not in _VERSIONS:
        known = ", ".join(_VERSIONS)
        message = f"arraycore has no version {api_version!r} of the array API: take {known}."
        raise coded(ValueError(message), "unknown_api_version")


class NamespaceInfo:
    """What the standard's ``__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Return whether masks and sizes that depend on data work, and the most axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MOST_AXES,
        }

    def default_device(self) -> Device:
        return Device()

    def devices(self) -> list[Device]:
        return [Device()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of results for which none is asked."""
        check_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.asarray(0).dtype,  # as NumPy, of 32 bits in browsers
            "indexing": np.dtype(np.int64),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the standard's dtypes, or those of a kind, by name."""
        check_device(device)
        standard = {dtype.name: dtype for dtype in DTYPES if dtype.name != "float16"}
        return {
            name: dtype for name, dtype in standard.items() if kind is None or isdtype(dtype, kind)
        }


def __array_namespace_info__() -> NamespaceInfo:
    """Return the standard's description of the namespace: dtypes, devices and capabilities."""
    return NamespaceInfo()
