"""Describes a call of a kernel as Chainer makes it, and the memory of its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]


class Parameter:
    """A kernel's parameter: ``[raw] type name``, as CuPy's users write it."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self.raw = words[0] == "raw"
        self.type, self.name = words[-2:]

    @property
    def is_letter(self) -> bool:
        return len(self.type) == 1

    def dtype(self, letters: Mapping[str, Any]) -> np.dtype[Any]:
        return np.dtype(letters[self.type] if self.is_letter else self.type)


def parameters(text: str) -> list[Parameter]:
    return [Parameter(part) for part in text.split(",") if part.strip()]


@dataclass
class Call:
    """A kernel's call. ``ins`` are arrays and scalars. Without ``outs``, new outputs are made."""

    kind: str  # "elementwise" or "reduction"
    texts: dict[str, str]
    ins: list[Any]
    outs: list[Array]
    size: int | None = None
    axis: int | tuple[int, ...] | None = None
    keepdims: bool = False
    inputs: list[Parameter] = field(init=False)
    outputs: list[Parameter] = field(init=False)

    def __post_init__(self) -> None:
        self.inputs = parameters(self.texts["in_params"])
        self.outputs = parameters(self.texts["out_params"])

    @property
    def name(self) -> str:
        return self.texts["name"]

    def arrays(self) -> list[Array]:
        return [a for a in [*self.ins, *self.outs] if isinstance(a, np.ndarray)]

    def letters(self) -> dict[str, np.dtype[Any]]:
        """Return each type letter's dtype: that of its first array, looking at outputs first."""
        bound: dict[str, np.dtype[Any]] = {}
        pairs = [*zip(self.outputs, self.outs, strict=False)]
        pairs += zip(self.inputs, self.ins, strict=True)
        for parameter, value in pairs:
            if isinstance(value, np.ndarray):
                bound.setdefault(parameter.type, value.dtype)
        return bound

    def scalars_cast(self) -> list[Any]:
        """Return the inputs, with scalars as NumPy scalars of their parameter's dtype."""
        letters = self.letters()
        return [
            value if isinstance(value, np.ndarray) else p.dtype(letters).type(value)
            for p, value in zip(self.inputs, self.ins, strict=True)
        ]

    def loop(self) -> tuple[int, ...]:
        pairs = [*zip(self.inputs, self.ins, strict=True)]
        if self.kind == "elementwise":
            pairs += zip(self.outputs, self.outs, strict=False)
        shapes = [a.shape for p, a in pairs if isinstance(a, np.ndarray) and not p.raw]
        return np.broadcast_shapes(*shapes) if shapes else (int(self.size or 0),)

    def reduced(self) -> frozenset[int]:
        """Return the axes that a reduction removes."""
        if self.kind == "elementwise":
            return frozenset()
        ndim = len(self.loop())
        axes = range(ndim) if self.axis is None else np.atleast_1d(self.axis)
        return frozenset(int(a) % ndim for a in axes)

    def kept(self) -> tuple[int, ...]:
        """Return the shape of an output without the reduced axes."""
        reduced = self.reduced()
        return tuple(n for a, n in enumerate(self.loop()) if a not in reduced)

    def result_shape(self) -> tuple[int, ...]:
        """Return the shape of an output that the kernel makes."""
        reduced = self.reduced()
        if not self.keepdims:
            return self.kept()
        return tuple(1 if a in reduced else n for a, n in enumerate(self.loop()))


class Engine(Protocol):
    """Runs kernels on NumPy's arrays."""

    def run(self, call: Call) -> list[Array]:
        """Write to ``call.outs``, or make the outputs; return them."""


@dataclass
class Window:
    """Where an array lies in the memory of its owner. All numbers count elements."""

    owner: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Memory:
    """The arrays of a call as windows of one-dimensional owners. Shared memory has one owner.

    If an array's owner is not contiguous or has another dtype, a copy of the array becomes its
    owner.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.flats: list[Array] = []  # views of the owners' own memory
        self.windows: list[Window] = []
        self._copies: list[tuple[Array, Array]] = []
        places: dict[int, int] = {}
        for array in arrays:
            owner = _owner(array)
            if owner is None:
                copied = np.array(array, subok=False, order="C")
                self._copies.append((array, copied))
                array = owner = copied
            address = owner.__array_interface__["data"][0]
            if address not in places:
                places[address] = len(self.flats)
                self.flats.append(_row(owner))
            item = array.itemsize
            offset = (array.__array_interface__["data"][0] - address) // item
            steps = tuple(s // item for s in array.strides)
            self.windows.append(Window(places[address], offset, array.shape, steps))

    def finish(self) -> None:
        """Write the copies back to their arrays."""
        for array, copied in self._copies:
            array[...] = copied


def _row(owner: Array) -> Array:
    flat = np.lib.stride_tricks.as_strided(owner, (owner.size,), (owner.itemsize,))
    return flat.view(np.ndarray)


def _owner(array: Array) -> Array | None:
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    whole = owner.flags.c_contiguous or owner.flags.f_contiguous
    return owner if whole and owner.dtype == array.dtype else None


def view_of(flat: Array, window: Window) -> Array:
    """Return the window of ``flat`` as a NumPy array."""
    steps = tuple(s * flat.itemsize for s in window.strides)
    return np.lib.stride_tricks.as_strided(flat[window.offset :], window.shape, steps)
