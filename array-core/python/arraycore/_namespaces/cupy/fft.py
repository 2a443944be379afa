"""``cupy.fft``: what ``arraycore.fft`` has."""

from __future__ import annotations

from typing import Any

from ._absent import HOST, names_of

_lookup = names_of(
    "cupy.fft",
    "arraycore.fft",
    dict.fromkeys(
        (
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
        ),
        HOST,
    ),
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
