"""``cupy.cuda.memory``: the memory pool; memory cannot be allocated without an array."""

from __future__ import annotations

from typing import Any

from .._shared.pools import MemoryPool, set_allocator
from .._shared.unsupported import POINTER, absent

__all__ = ["MemoryPointer", "MemoryPool", "UnownedMemory", "alloc", "set_allocator"]


class MemoryPointer:
    """Raises NotImplementedError: the memory of a browser's device has no addresses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"arraycore has no memory pointers: {POINTER}.")


UnownedMemory = MemoryPointer
alloc = absent("cupy.cuda.alloc", POINTER)
