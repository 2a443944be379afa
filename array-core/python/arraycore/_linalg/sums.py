"""Sums over axes in an array's own dtype, as products of tensors need them."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._core.kernels import ReductionKernel


@cache
def _kernel(combined: str) -> ReductionKernel:
    return ReductionKernel("T x", "T y", "x", combined, "y = a", "T()", "sum")


def summed(a: Any, axes: tuple[int, ...]) -> Any:
    """Return the sum over axes in the array's dtype: bool is true where any element is.

    float16 is summed in float32 and rounded once.
    """
    if not axes:
        return a
    if a.dtype == "float16":
        return summed(a.astype("float32"), axes).astype("float16")
    return _kernel("a || b" if a.dtype == bool else "a + b")(a, axis=axes)
