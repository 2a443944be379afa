"""Loads a package's public names when they are first used, and refuses those that a trial lacks.

    __getattr__, __dir__ = public_names(__name__, {"Client": "_client.client", ...})

An objective's module may import ``hyperflock`` at its top, also in a browser, and may mention every
public name: in annotations, or below ``if __name__ == "__main__":``. In a trial, a name that needs
the researcher's machine raises an error only when it is called. Any thread may use this module.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from hyperflock._base.errors import NotInTrialError

# The package's folders that a trial has.
_IN_TRIAL = ("_base", "_trial")
_homes: dict[str, Mapping[str, str]] = {}


class _Elsewhere:
    """A stand-in for a public name that only the researcher's machine has."""

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise NotInTrialError(
            f"{cls.__module__}.{cls.__name__} is not available inside a trial: put the code that "
            'submits the study below `if __name__ == "__main__":`.'
        )


@functools.cache
def in_trial() -> bool:
    """Return whether this is a trial's runtime, which has only the package's in-trial part."""
    try:
        return importlib.util.find_spec("hyperflock._client") is None
    except ModuleNotFoundError:  # a dry run, which hides it
        return True


def is_elsewhere(package: str, name: str) -> bool:
    """Return whether only the researcher's machine has a public name of ``hyperflock``, of
    ``hyperflock.optuna`` or of ``hyperflock.sklearn``.
    """
    # All of them; without Optuna or scikit-learn they cannot be imported to look.
    if package in ("hyperflock.optuna", "hyperflock.sklearn"):
        return True
    home = _homes.get(package, {}).get(name)
    return home is not None and home.partition(".")[0] not in _IN_TRIAL


def public_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package : str
        The package's name.
    homes : Mapping
        The module below ``hyperflock`` that defines each public name.
    """
    _homes[package] = homes

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        if in_trial() and is_elsewhere(package, name):
            found: Any = type(name, (_Elsewhere,), {"__module__": package})
        else:
            found = getattr(importlib.import_module(f"hyperflock.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return load, lambda: sorted({*vars(sys.modules[package]), *homes})
