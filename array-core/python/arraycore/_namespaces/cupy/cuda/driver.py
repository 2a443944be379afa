"""``cupy.cuda.driver``: there is no CUDA, so there is no context either."""

from __future__ import annotations


class CUDADriverError(RuntimeError):
    """Raised by functions that would need CUDA's context."""


def ctxGetCurrent() -> None:
    """Raise the error of a missing context, which Chainer checks for before it forks.

    Raises
    ------
    CUDADriverError
        Always.
    """
    raise CUDADriverError("CUDA_ERROR_NOT_INITIALIZED: arraycore has no CUDA.")
