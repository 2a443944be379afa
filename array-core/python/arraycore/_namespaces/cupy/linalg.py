"""``cupy.linalg``: what ``arraycore.linalg`` has."""

from __future__ import annotations

from typing import Any

from ._absent import HOST, names_of

_lookup = names_of(
    "cupy.linalg",
    "arraycore.linalg",
    dict.fromkeys(
        (
            "cholesky",
            "det",
            "eigh",
            "eigvalsh",
            "inv",
            "lstsq",
            "matrix_power",
            "matrix_rank",
            "norm",
            "pinv",
            "qr",
            "slogdet",
            "solve",
            "svd",
            "tensorinv",
            "tensorsolve",
        ),
        HOST,
    ),
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
