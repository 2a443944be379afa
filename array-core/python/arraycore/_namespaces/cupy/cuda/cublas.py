"""``cupy.cuda.cublas``: Chainer imports it, but its functions raise NotImplementedError."""

from __future__ import annotations

from typing import Any

from .._shared.unsupported import names_of

_PRODUCTS = "call matmul, dot, tensordot or einsum"
_INVERSES = "call linalg's inv, solve or det"
_lookup = names_of(
    "cupy.cuda.cublas",
    None,
    {
        **dict.fromkeys(("sgemm", "dgemm", "cgemm", "zgemm", "gemmEx"), _PRODUCTS),
        **dict.fromkeys(("sgemmBatched", "dgemmBatched"), _PRODUCTS),
        **dict.fromkeys(("sgetrfBatched", "dgetrfBatched"), _INVERSES),
        **dict.fromkeys(("sgetriBatched", "dgetriBatched"), _INVERSES),
    },
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
