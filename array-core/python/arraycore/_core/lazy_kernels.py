"""The package's own kernels in CuPy's dialect, which are compiled at their first call.

A kernel can be made only while the library is open, and it is not open while modules are imported.
Also, most programs call only a few of these kernels.
"""

from __future__ import annotations

from typing import Any

from .kernels import ElementwiseKernel, ReductionKernel


class _Own:
    """A kernel of the package that is made at its first call."""

    __slots__ = ("_kernel", "_kind", "_texts")

    def __init__(self, kind: Any, *texts: str | None) -> None:
        self._kind, self._texts = kind, texts
        self._kernel: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._kernel is None:
            self._kernel = self._kind(*self._texts)
        return self._kernel(*args, **kwargs)


def elementwise(in_params: str, out_params: str, operation: str, name: str) -> _Own:
    """Return an :class:`arraycore.ElementwiseKernel` that is made at its first call."""
    return _Own(ElementwiseKernel, in_params, out_params, operation, name)


def reduction(
    in_params: str, out_params: str, mapped: str, reduced: str, post: str, identity: str | None,
    name: str,
) -> _Own:  # fmt: skip
    """Return an :class:`arraycore.ReductionKernel` that is made at its first call."""
    return _Own(ReductionKernel, in_params, out_params, mapped, reduced, post, identity, name)
