"""The interface of the two bridges to array-core's C functions."""

from __future__ import annotations

from typing import Any, Protocol

#: The most ids that one call of :meth:`Bridge.free` takes.
FREE_IDS = 1024


class Bridge(Protocol):
    """The functions of array-core that Python calls, with integers as arguments. Each call is one
    crossing from Python into array-core.

    Functions that may fail return a negative number; :meth:`error` then describes the error.
    """

    name: str

    def open(self, backend: int, budget_bytes: float, /) -> int: ...
    def close(self) -> int: ...
    def reset(self) -> int: ...
    def set_promotion(self, mode: int, /) -> int: ...
    def error(self) -> str:
        """Return the last error as text: the kind's number, the code and the message."""
        ...

    def create(self, dtype: int, shape: tuple[int, ...], elements: Any | None) -> int:
        """Create an array and return its id. ``elements`` is a C-contiguous buffer, or None for
        zeros.
        """
        ...

    def read(self, array: int, target: Any) -> int:
        """Copy an array's elements into a C-contiguous writable buffer of their size."""
        ...

    def item(self, array: int, /) -> float | bool:
        """Return the element of a one-element array as a float.

        Return False if an error occurred. Return True if the caller must call :meth:`read`: a float
        may not hold the array's dtype exactly, or there is not exactly one element.
        """
        ...

    def describe(self, array: int) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
        """Return dtype number, shape and strides in bytes; None after an error."""
        ...

    def free(self, arrays: list[int]) -> int: ...

    def ufunc_number(self, name: str) -> int:
        """Return a ufunc's number; -1 if array-core has no ufunc of that name."""
        ...

    def unary(self, ufunc: int, a: int, freed_a: int, freed_b: int, /) -> int: ...
    def binary(self, ufunc: int, a: int, b: int, freed_a: int, freed_b: int, /) -> int: ...
    def binary_scalar(
        self,
        ufunc: int,
        a: int,
        value: float,
        kind: int,
        left: int,
        freed_a: int,
        freed_b: int,
        /,
    ) -> int: ...

    def call(self, operation: int, freed_a: int, freed_b: int, /, *words: int) -> int:
        """Call an operation of array-core by its number in ``ac_operation``, with 32-bit words as
        arguments. The call also frees the arrays ``freed_a`` and ``freed_b``, unless they are 0.
        """
        ...

    def kernel(self, kind: int, texts: str) -> int:
        """Make a kernel from texts that each end with a zero character, and return its number."""
        ...

    def device_text(self) -> str:
        """Return the device's vendor, architecture, name and description, one per line."""
        ...

    def profile_text(self) -> str:
        """Return the last profile as text; ``src/runtime/profile.h`` describes it."""
        ...

    def counter(self, name: int, /) -> float: ...
