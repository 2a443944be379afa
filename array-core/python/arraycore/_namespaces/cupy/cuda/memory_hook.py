"""``cupy.cuda.memory_hook``: the base class of hooks, which are not supported."""

from __future__ import annotations

from typing import NoReturn

from .._shared.unsupported import COUNTERS


class MemoryHook:
    """The base class of hooks that CuPy calls for each allocation.

    A ``with`` statement raises NotImplementedError, because array-core allocates without calling
    Python.
    """

    name = "MemoryHook"

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"arraycore tells nobody of each allocation: {COUNTERS} before and after."
        )

    def __exit__(self, *error: object) -> None: ...
