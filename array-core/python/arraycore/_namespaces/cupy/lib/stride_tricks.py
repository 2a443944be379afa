"""``cupy.lib.stride_tricks``: arraycore's views with given strides, and windows."""

from arraycore.lib.stride_tricks import as_strided, sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]
