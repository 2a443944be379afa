"""``cupyx.scipy``: only its modules ``linalg`` and ``special``."""

from . import linalg, special

__all__ = ["linalg", "special"]
