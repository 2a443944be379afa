"""``cupy.cuda.pinned_memory``: ordinary memory, which uploads are as fast from."""

from __future__ import annotations

from typing import Any

from .._shared.pools import PinnedMemoryPool

__all__ = ["PinnedMemoryPool", "alloc_pinned_memory"]


def alloc_pinned_memory(size: int) -> bytearray:
    """Return ordinary memory of so many bytes; ``numpy.frombuffer`` makes an array of it."""
    return bytearray(size)


def _add_to_watch_list(event: Any, obj: Any) -> None:
    """Keep an object until an event: an upload has its own copy, so there is nothing to keep."""
