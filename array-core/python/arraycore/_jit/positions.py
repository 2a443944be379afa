"""What kernels over a grid call: positions, atomic updates, local arrays. Compiled kernels lower
these names; plain Python, for debuggers, calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .errors import coded


@dataclass(frozen=True)
class _Place:
    """The position of the thread that plain Python runs; axes are x, y, z."""

    thread: tuple[int, ...]
    block: tuple[int, ...]
    threads: tuple[int, ...]
    blocks: tuple[int, ...]


_place: _Place | None = None


def _here() -> _Place:
    if _place is None:
        message = (
            "Only a kernel has a position in a grid: start it by kernel[blocks, threads](...) or "
            "kernel.forall(n)(...)."
        )
        raise coded(RuntimeError(message), "jit_call")
    return _place


def each_thread(blocks: tuple[int, ...], threads: tuple[int, ...]) -> Iterator[None]:
    """Go to each position of a grid, x fastest."""
    global _place
    before = _place
    try:
        for block in product(*(range(extent) for extent in reversed(blocks))):
            for thread in product(*(range(extent) for extent in reversed(threads))):
                _place = _Place(thread[::-1], block[::-1], threads, blocks)
                yield
    finally:
        _place = before


@dataclass(frozen=True)
class PositionAxis:
    """An axis of ``threadIdx`` or similar, as the compiler sees it."""

    name: str
    axis: int


class Position:
    """``threadIdx``, ``blockIdx``, ``blockDim`` or ``gridDim``, with attributes x, y and z."""

    def __init__(self, name: str) -> None:
        self._name = name

    def axis(self, name: str) -> PositionAxis | None:
        """Return an axis for the compiler; None if there is no such axis."""
        return PositionAxis(self._name, "xyz".index(name)) if name in ("x", "y", "z") else None

    def __getattr__(self, name: str) -> int:
        found = self.axis(name)
        if found is None:
            raise AttributeError(f"{self._name} has no {name!r}")
        here = _here()
        values = {
            "threadIdx": here.thread, "blockIdx": here.block, "blockDim": here.threads,
            "gridDim": here.blocks,
        }[self._name]  # fmt: skip
        if found.axis < len(values):
            return values[found.axis]
        return int(self._name.endswith("Dim"))


threadIdx, blockIdx = Position("threadIdx"), Position("blockIdx")
blockDim, gridDim = Position("blockDim"), Position("gridDim")


def grid(ndim: int) -> Any:
    """Return the position of this thread in the whole grid of a kernel.

    Parameters
    ----------
    ndim : int
        The number of axes, from 1 to 3: one number, or a tuple of x, y and z.
    """
    here = _here()
    own = [b * n + t for b, n, t in zip(here.block, here.threads, here.thread, strict=True)]
    own = [*own, 0, 0][:ndim]
    return own[0] if ndim == 1 else tuple(own)


def gridsize(ndim: int) -> Any:
    """Return how many threads the grid has along its first ``ndim`` axes."""
    here = _here()
    sizes = [n * b for n, b in zip(here.threads, here.blocks, strict=True)]
    sizes = [*sizes, 1, 1][:ndim]
    return sizes[0] if ndim == 1 else tuple(sizes)


def _updating(update: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def change(array: Any, index: Any, value: Any) -> Any:
        old = array[index]
        array[index] = update(old, value)
        return old

    return change


def _compare_and_swap(array: Any, index: Any, expected: Any, value: Any) -> Any:
    old = array[index]
    if old == expected:
        array[index] = value
    return old


class _Atomic(SimpleNamespace):
    """Updates of an element that no other thread interrupts. Each takes an array, an index and a
    value, and returns the element before: ``add``, ``sub``, ``max``, ``min``, ``exch`` and
    ``cas(array, index, expected, value)``.
    """


atomic = _Atomic(
    add=_updating(lambda a, b: a + b), sub=_updating(lambda a, b: a - b),
    max=_updating(max), min=_updating(min), exch=_updating(lambda a, b: b),
    cas=_compare_and_swap,
)  # fmt: skip
#: The operation of each atomic function, and how many values it takes.
ATOMICS: Final[dict[Any, tuple[str, int]]] = {
    atomic.add: ("atomic_add", 1), atomic.sub: ("atomic_sub", 1), atomic.max: ("atomic_max", 1),
    atomic.min: ("atomic_min", 1), atomic.exch: ("atomic_exchange", 1),
    atomic.cas: ("atomic_compare_exchange", 2),
}  # fmt: skip


def local_array(shape: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros of one thread's own; in kernels its length is a constant."""
    return np.zeros(shape, dtype)


def shared_array(shape: Any, dtype: npt.DTypeLike) -> Any:
    """Refuse: arraycore has no memory that threads share."""
    raise coded(NotImplementedError("arraycore has no memory that threads share."), "jit_call")


def syncthreads() -> None:
    """Refuse: arraycore has no barriers."""
    raise coded(NotImplementedError("arraycore has no barriers in kernels."), "jit_call")


def is_local_array(function: Any) -> bool:
    return function is local_array


def is_shared(function: Any) -> bool:
    return function in (shared_array, syncthreads)
