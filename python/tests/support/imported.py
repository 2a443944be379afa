"""Writes a researcher's files and imports the one with the objective."""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path
from typing import Any


class ImportedFiles:
    """Writes modules into a folder and imports them. `forget` removes them from this process.

    Parameters
    ----------
    folder
        Where the files are written; it must be on ``sys.path``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = set(sys.modules)

    def __call__(self, text: str, returned: str = "0", **others: str) -> Any:
        """Write and import ``fresh.py``, whose objective returns the expression ``returned``."""
        for name, other in others.items():
            (self._folder / f"{name}.py").write_text(textwrap.dedent(other))
        objective = f"\ndef objective(trial):\n    return {returned}\n"
        (self._folder / "fresh.py").write_text(textwrap.dedent(text) + objective)
        importlib.invalidate_caches()
        return importlib.import_module("fresh")

    def forget(self) -> None:
        """Remove from `sys.modules` the modules that were imported from the folder."""
        for name in set(sys.modules) - self._before:
            file = str(getattr(sys.modules[name], "__file__", None) or "")
            if file.startswith(str(self._folder)):
                del sys.modules[name]
