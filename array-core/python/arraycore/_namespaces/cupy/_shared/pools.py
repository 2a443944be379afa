"""CuPy's memory pools, which report the counters of arraycore's own allocator."""

from __future__ import annotations

from typing import Any, NoReturn

import arraycore
from arraycore._runtime import session

from .unsupported import POINTER


class MemoryPool:
    """The pool of the device's memory.

    Parameters
    ----------
    allocator : None
        Another allocator is not supported.
    """

    def __init__(self, allocator: Any = None) -> None:
        if allocator is not None:
            raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")

    def used_bytes(self) -> int:
        """Return the number of bytes that arrays use."""
        session.drain()
        return arraycore.counters()["live_bytes"]

    def free_bytes(self) -> int:
        """Return the number of bytes that are kept for the next arrays."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        """Return the number of bytes that arrays use. On a device, add the bytes that are kept for
        the next arrays.
        """
        counted = arraycore.counters()
        return max(counted["device_bytes"], counted["live_bytes"])

    def n_free_blocks(self) -> NoReturn:
        """Raise NotImplementedError: a buffer holds several arrays, so no blocks are counted."""
        raise NotImplementedError("arraycore counts no blocks: take free_bytes().")

    def free_all_blocks(self, stream: Any = None) -> None:
        """Free the arrays that Python no longer holds.

        Buffers that are kept for the next arrays are released when memory is short.
        """
        session.drain()

    free_all_free = free_all_blocks

    def get_limit(self) -> NoReturn:
        """Raise NotImplementedError; see :meth:`set_limit`."""
        self.set_limit()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> NoReturn:
        """Raise NotImplementedError: the limit is set when the library is opened."""
        raise NotImplementedError(
            "arraycore's limit is set when it opens: arraycore.open(budget_bytes=...) or "
            "ARRAYCORE_BUDGET_BYTES."
        )

    def malloc(self, size: int) -> NoReturn:
        """Raise NotImplementedError: the memory of a browser's device has no addresses."""
        raise NotImplementedError(f"arraycore gives no memory without an array: {POINTER}.")


class PinnedMemoryPool:
    """CuPy's pool of page-locked host memory for copies. Here it gives ordinary memory."""

    def __init__(self, allocator: Any = None) -> None:
        if allocator is not None:
            raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")

    def free_all_blocks(self) -> None:
        """Do nothing: the pool keeps no memory."""

    def n_free_blocks(self) -> int:
        """Return 0: the pool keeps no memory."""
        return 0

    def malloc(self, size: int) -> bytearray:
        """Return ``size`` bytes of ordinary memory."""
        return bytearray(size)


_POOL, _PINNED_POOL = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the pool that all arrays live in."""
    return _POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of the host's memory."""
    return _PINNED_POOL


def set_allocator(allocator: Any = None) -> None:
    """Accept the pool's own allocator; another one raises NotImplementedError."""
    if allocator is not None and getattr(allocator, "__self__", None) is not _POOL:
        raise NotImplementedError(f"arraycore takes no allocator: {POINTER}.")


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Do nothing: copies always use ordinary memory."""
