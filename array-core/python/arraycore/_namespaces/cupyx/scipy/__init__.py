"""``cupyx.scipy``."""

from . import linalg, special

__all__ = ["linalg", "special"]
