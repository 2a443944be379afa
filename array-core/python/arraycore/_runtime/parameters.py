"""Parameters of NumPy's functions that arraycore refuses, each with an alternative.

``docs/surface.md`` lists them, and a test compares every signature with NumPy's.
"""

from __future__ import annotations

from typing import NoReturn

from .errors import coded

#: What to do in place of passing a parameter, by the parameter's name.
PARAMETERS = {
    "einsum_call": "call einsum_path() without it",
    "like": "pass an array of arraycore, or call the other library's own function",
    "signature": "pass dtype=, or cast the operands by astype()",
}


def refuse_parameter(name: str) -> NoReturn:
    """Raise NotImplementedError for a value of a parameter that arraycore does not take."""
    message = f"arraycore takes no {name}=: {PARAMETERS[name]}."
    raise coded(NotImplementedError(message), "unknown_parameter")
