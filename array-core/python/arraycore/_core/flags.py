"""An array's memory layout, with the names of NumPy's ``ndarray.flags``."""

from __future__ import annotations

from collections.abc import Iterator


class Flags:
    """An array's memory layout under NumPy's names: ``flags.c_contiguous`` or ``flags["C"]``."""

    __slots__ = ("c_contiguous", "f_contiguous", "writeable")

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        axes = list(zip(shape, strides, strict=True))
        empty = 0 in shape
        self.c_contiguous = empty or _is_dense(reversed(axes), itemsize)
        self.f_contiguous = empty or _is_dense(iter(axes), itemsize)
        self.writeable = empty or all(step != 0 or extent == 1 for extent, step in axes)

    @property
    def contiguous(self) -> bool:
        return self.c_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        short = {"C": "c_contiguous", "F": "f_contiguous", "W": "writeable"}
        attribute = short.get(name, name.lower())
        if name != name.upper() or not hasattr(self, attribute):
            raise KeyError("Unknown flag")
        return bool(getattr(self, attribute))

    def __repr__(self) -> str:
        return "".join(f"  {name.upper()} : {getattr(self, name)}\n" for name in self.__slots__)


def _is_dense(axes: Iterator[tuple[int, int]], itemsize: int) -> bool:
    """Return whether axes, given from the fastest to the slowest, leave no gaps in memory."""
    expected = itemsize
    for extent, step in axes:
        if extent != 1 and step != expected:
            return False
        expected *= extent
    return True
