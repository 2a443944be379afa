"""``cupy.lib``: only its module ``stride_tricks``."""

from . import stride_tricks

__all__ = ["stride_tricks"]
