"""Puts the worker's packages into the wheel: a dry run calls them. Runs in the build, nowhere else.

They live beside this folder in a checkout, and inside of a source distribution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("hyperflock_worker",)


class WorkerPackages(BuildHookInterface[Any]):
    """Adds the package to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, but for an editable install, which finds them in its checkout."""
        if version == "editable":
            return
        root = Path(self.root)
        places = (root / "worker", root.parent / "worker-runtime" / "python")
        found = next(place for place in places if (place / "hyperflock_worker").is_dir())
        target = "worker" if self.target_name == "sdist" else "hyperflock/_worker"
        for package in PACKAGES:
            for path in sorted((found / package).rglob("*.py")):
                inside = path.relative_to(found).as_posix()
                build_data["force_include"][str(path)] = f"{target}/{inside}"
