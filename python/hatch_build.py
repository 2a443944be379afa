"""Puts the worker's packages into the wheel, because a dry run needs them. Runs only in a build.

In a checkout the worker's packages are next to this folder. In a source distribution they are
inside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("hyperflock_worker",)


class WorkerPackages(BuildHookInterface[Any]):
    """A build hook that adds the worker's packages to a wheel or source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the packages, except to an editable install, which finds them in its checkout."""
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
