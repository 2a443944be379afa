"""``cupy.cuda.pinned_memory``: gives ordinary memory, from which uploads are just as fast."""

from __future__ import annotations

from typing import Any

from .._shared.pools import PinnedMemoryPool

__all__ = ["PinnedMemoryPool", "alloc_pinned_memory"]


def alloc_pinned_memory(size: int) -> bytearray:
    """Return ``size`` bytes of ordinary memory; ``numpy.frombuffer`` makes an array of them."""
    return bytearray(size)


def _add_to_watch_list(event: Any, obj: Any) -> None:
    """Do nothing. CuPy keeps ``obj`` alive until ``event``, but here uploads copy it at once."""
