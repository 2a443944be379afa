"""Runs a server on this machine: its files, its process, its volunteers, and ways by which phones
reach it.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    # In version 0.1, a module with this name contained the class `LocalRun`. Old pickles look for
    # the class here.
    if name != "LocalRun":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hyperflock._execution.local import LocalRun

    return LocalRun
