"""``cupyx.scipy.linalg``: the functions of ``arraycore.linalg``."""

from __future__ import annotations

from typing import Any

from cupy._shared.unsupported import names_of

_INSTEAD = "call scipy.linalg's with array.get(), and arraycore's array() with the result"
_lookup = names_of(
    "cupyx.scipy.linalg",
    "arraycore.linalg",
    dict.fromkeys(("lu", "lu_factor", "lu_solve", "solve_triangular"), _INSTEAD),
)


def __getattr__(name: str) -> Any:
    return _lookup(name)
