"""``cupyx.scipy.special``: the functions of ``arraycore.special``."""

from __future__ import annotations

from typing import Any

from arraycore.special import *  # noqa: F403
from cupy._shared.unsupported import names_of

_INSTEAD = "call scipy.special's with array.get(), and arraycore's array() with the result"
_lookup = names_of(
    "cupyx.scipy.special",
    "arraycore.special",
    dict.fromkeys(
        (
            "beta",
            "betaln",
            "binom",
            "ellipj",
            "gammaincinv",
            "j0",
            "j1",
            "loggamma",
            "multigammaln",
            "poch",
            "y0",
            "y1",
        ),
        _INSTEAD,
    ),
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
