"""Checks that a supported version of Optuna is installed. Any thread may use this module."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from hyperflock._base.errors import OptunaMissingError

OLDEST, NEWEST = 4, 5


def check_version() -> None:
    """Check the installed version of Optuna without importing it.

    Raises
    ------
    OptunaMissingError
        ``no_optuna``: it is not installed, or its version is not supported.
    """
    try:
        found = version("optuna")
    except PackageNotFoundError:
        raise OptunaMissingError(
            "Optuna is not installed; 'pip install hyperflock[optuna]' brings it"
        ) from None
    if not OLDEST <= int(found.partition(".")[0]) <= NEWEST:
        raise OptunaMissingError(
            f"this is Optuna {found}, but hyperflock.optuna needs version {OLDEST} or {NEWEST}; "
            "'pip install hyperflock[optuna]' brings one"
        )
