"""``cupy.cuda.driver``: there is no CUDA, and so no context of it."""

from __future__ import annotations


class CUDADriverError(RuntimeError):
    """Raised where CUDA would be asked for its context."""


def ctxGetCurrent() -> None:
    """Raise, as where no context was made: Chainer asks so before it forks.

    Raises
    ------
    CUDADriverError
        Always.
    """
    raise CUDADriverError("CUDA_ERROR_NOT_INITIALIZED: arraycore has no CUDA.")
