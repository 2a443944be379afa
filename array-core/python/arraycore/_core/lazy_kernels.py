"""The package's own kernels in CuPy's dialect: texts in a module, kernels once they are called.

A kernel asks the library for its number, which is not open while modules are imported; and most
programs call few of them.
"""

from __future__ import annotations

from typing import Any

from .kernels import ElementwiseKernel, ReductionKernel


class _Own:
    """A kernel that is made at its first call."""

    __slots__ = ("_kernel", "_kind", "_texts")

    def __init__(self, kind: Any, *texts: str | None) -> None:
        self._kind, self._texts = kind, texts
        self._kernel: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._kernel is None:
            self._kernel = self._kind(*self._texts)
        return self._kernel(*args, **kwargs)


def elementwise(in_params: str, out_params: str, operation: str, name: str) -> _Own:
    """Return what an :class:`arraycore.ElementwiseKernel` of the same texts does."""
    return _Own(ElementwiseKernel, in_params, out_params, operation, name)


def reduction(
    in_params: str, out_params: str, mapped: str, reduced: str, post: str, identity: str | None,
    name: str,
) -> _Own:  # fmt: skip
    """Return what an :class:`arraycore.ReductionKernel` of the same texts does."""
    return _Own(ReductionKernel, in_params, out_params, mapped, reduced, post, identity, name)
