"""Determines which values are plain: numbers, texts, arrays, and containers of them.

    is_plain({"rate": [0.1, 0.2]})      # True
    is_plain(Net())                     # False

A plain value can be written before any of the researcher's definitions. Any thread may use this
module.
"""

from __future__ import annotations

import argparse
import enum
import types
from typing import Any

import numpy as np

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), range)
_CONTAINERS = (list, tuple, set, frozenset)
_NAMESPACES = (argparse.Namespace, types.SimpleNamespace)
_MODULES = frozenset({"datetime", "decimal", "fractions", "uuid", "re", "zoneinfo"})
_MAX_DEPTH = 50


def is_plain(value: Any, _depth: int = 0) -> bool:
    """Return whether a value consists of values of Python and NumPy alone."""
    kind = type(value)
    if kind in _ATOMS or kind.__module__ in _MODULES:
        return True
    if isinstance(value, np.generic) or kind is np.ndarray or kind.__name__ == "dtype":
        return kind.__module__.startswith("numpy") and not getattr(value, "hasobject", False)
    if _depth > _MAX_DEPTH:  # a value may contain itself
        return False
    if kind in _CONTAINERS:
        return all(is_plain(item, _depth + 1) for item in value)
    if kind is dict:
        return all(is_plain(part, _depth + 1) for item in value.items() for part in item)
    if kind in _NAMESPACES:
        return all(is_plain(item, _depth + 1) for item in vars(value).values())
    return False


def is_mutable(value: Any) -> bool:
    """Return whether a value can change, so that a copy of it could differ later."""
    kind = type(value)
    unchangeable = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
    return not (
        kind in _ATOMS
        or kind.__module__ in _MODULES
        or isinstance(value, (enum.Enum, tuple, frozenset, np.generic, np.ufunc, *unchangeable))
    )
