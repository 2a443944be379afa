"""``cupy.linalg``: arraycore's linear algebra, most of which NumPy computes on the CPU."""

from __future__ import annotations

from arraycore.linalg import *  # noqa: F403
from arraycore.linalg import __all__ as __all__
