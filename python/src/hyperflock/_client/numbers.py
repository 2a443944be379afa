"""Numbers of studies and trials as callers give them."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Any

from hyperflock._base.errors import HyperflockError


def number_of(given: Any, what: str) -> int:
    """Return the number of a study or a trial, which may be given as digits in a text.

    Raises
    ------
    HyperflockError
        ``bad_number``: it is not a whole number.
    """
    if not isinstance(given, bool):
        # Python raises ValueError for texts with more than 4,300 digits.
        with suppress(TypeError, ValueError):
            is_text = isinstance(given, str) and given.isdecimal()
            return int(given) if is_text else operator.index(given)
    raise HyperflockError(f"a {what} goes by its number, not by {given!r:.100}", code="bad_number")
