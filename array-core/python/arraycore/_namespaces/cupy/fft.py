"""``cupy.fft``: arraycore's transforms, which NumPy computes on the CPU."""

from __future__ import annotations

from arraycore.fft import *  # noqa: F403
from arraycore.fft import __all__ as __all__
