"""CuPy's memory pools by arraycore's counters: its own allocator decides, these tell."""

from __future__ import annotations

from typing import Any, NoReturn

import arraycore
from arraycore._runtime import session

from .unsupported import POINTER


class MemoryPool:
    """What arrays hold of the device's memory.

    Parameters
    ----------
    allocator : None
        Another allocator is not taken.
    """

    def __init__(self, allocator: Any = None) -> None:
        if allocator is not None:
            raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")

    def used_bytes(self) -> int:
        """Return how many bytes arrays hold."""
        session.drain()
        return arraycore.counters()["live_bytes"]

    def free_bytes(self) -> int:
        """Return how many bytes are kept for the next arrays."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        """Return the bytes of arrays, and on a device of the buffers kept for the next ones."""
        counted = arraycore.counters()
        return max(counted["device_bytes"], counted["live_bytes"])

    def n_free_blocks(self) -> NoReturn:
        """Not supported: buffers hold several arrays."""
        raise NotImplementedError("arraycore counts no blocks: take free_bytes().")

    def free_all_blocks(self, stream: Any = None) -> None:
        """Free the arrays that Python holds no more.

        Buffers that are kept for the next arrays are given back when memory is short.
        """
        session.drain()

    free_all_free = free_all_blocks

    def get_limit(self) -> NoReturn:
        """Not supported: see :meth:`set_limit`."""
        self.set_limit()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> NoReturn:
        """Not supported: the limit is given when the library is opened."""
        raise NotImplementedError(
            "arraycore's limit is set when it opens: arraycore.open(budget_bytes=...) or "
            "ARRAYCORE_BUDGET_BYTES."
        )

    def malloc(self, size: int) -> NoReturn:
        """Not supported: memory of browsers' devices has no addresses."""
        raise NotImplementedError(f"arraycore gives no memory without an array: {POINTER}.")


class PinnedMemoryPool:
    """Memory of the host that a copy could use: there is no special one."""

    def __init__(self, allocator: Any = None) -> None:
        if allocator is not None:
            raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")

    def free_all_blocks(self) -> None:
        """Free what is kept, which is nothing."""

    def n_free_blocks(self) -> int:
        """Return 0: nothing is kept."""
        return 0

    def malloc(self, size: int) -> bytearray:
        """Return ordinary memory."""
        return bytearray(size)


_POOL, _PINNED_POOL = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the pool that all arrays live in."""
    return _POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of the host's memory."""
    return _PINNED_POOL


def set_allocator(allocator: Any = None) -> None:
    """Take the pool's own allocator, which is the only one."""
    if allocator is not None and getattr(allocator, "__self__", None) is not _POOL:
        raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Take the host's memory, whatever is asked for: no copy needs another."""
