"""Checks that a supported scikit-learn is installed, and compares it with that of devices.

    check_version()
    differences()      # ("scikit-learn is 1.9.1 here and 1.8.0 in browsers",)

Any thread may use this module.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from hyperflock._base.errors import SklearnMissingError
from hyperflock._bundle.source.runtime import PACKS

OLDEST = (1, 6)
_REMEDY = "'pip install hyperflock[sklearn]' brings it"


def check_version() -> None:
    """Check the installed version of scikit-learn without importing it.

    Raises
    ------
    SklearnMissingError
        ``no_sklearn``: it is not installed, or its version is not supported.
    """
    try:
        found = version("scikit-learn")
    except PackageNotFoundError:
        raise SklearnMissingError(f"scikit-learn is not installed; {_REMEDY}") from None
    if _minor(found) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise SklearnMissingError(
            f"this is scikit-learn {found}, but hyperflock.sklearn needs {oldest} or newer; "
            f"{_REMEDY}"
        )


def differences() -> tuple[str, ...]:
    """Return a sentence for each package whose version here differs from that of the browsers.

    Only the first two numbers of a version count.
    """
    found = []
    for name in ("scikit-learn", "scipy"):
        here, there = version(name), PACKS[name].version
        if _minor(here) != _minor(there):
            found.append(f"{name} is {here} here and {there} in browsers")
    return tuple(found)


def _minor(text: str) -> tuple[int, ...]:
    """Return the first two numbers of a version."""
    return tuple(int(part) for part in text.split(".")[:2])
