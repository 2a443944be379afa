"""``cupy.random``: arraycore's streams of random numbers, which are not CuPy's nor NumPy's."""

from __future__ import annotations

from typing import Any

from arraycore.random import *  # noqa: F403

from ._absent import HOST, names_of

_lookup = names_of(
    "cupy.random",
    "arraycore.random",
    dict.fromkeys(
        (
            "hypergeometric",
            "logseries",
            "multinomial",
            "multivariate_normal",
            "negative_binomial",
            "noncentral_chisquare",
            "noncentral_f",
            "triangular",
            "vonmises",
            "wald",
            "zipf",
        ),
        HOST,
    ),
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
