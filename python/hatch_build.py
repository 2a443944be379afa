"""Puts files from other folders into the wheel. Runs only in a build.

- The worker's packages, which a dry run calls. In a checkout they are next to this folder, and in a
  source distribution inside it. A copy of this folder alone has none of them.
- The example that ``hyperflock demo`` runs.
- The server and what it serves, if ``HYPERFLOCK_WHEEL_PACKED`` names a folder with them
  (``deploy/wheels.py``). ``HYPERFLOCK_WHEEL_TAG`` is then the wheel's tag. A wheel without a server
  is pure: it works everywhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "hyperflock_worker"
DEMO = "digits_grid.py"


class MoreFiles(BuildHookInterface[Any]):
    """A build hook that adds files to a wheel or source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, except to an editable install, which finds them in its checkout."""
        if version == "editable":
            return
        root = Path(self.root)
        places = (root / "worker", root.parent / "worker-runtime" / "python")
        found = next((place for place in places if (place / PACKAGE).is_dir()), None)
        if found is None:
            self.app.display_warning(
                "This folder is not in a checkout, so the package lacks the worker that dry runs "
                "and hyperflock.chainer need."
            )
        target = "worker" if self.target_name == "sdist" else "hyperflock/_worker"
        for path in sorted((found / PACKAGE).rglob("*.py")) if found else ():
            inside = path.relative_to(found).as_posix()
            build_data["force_include"][str(path)] = f"{target}/{inside}"
        if self.target_name != "wheel":
            return
        demo = f"hyperflock/_local/demo/{DEMO}"
        build_data["force_include"][str(root / "examples" / DEMO)] = demo
        if packed := os.environ.get("HYPERFLOCK_WHEEL_PACKED"):
            for path in sorted(Path(packed).iterdir()):
                inside = f"hyperflock/_local/packed/{path.name}"
                build_data["force_include"][str(path)] = inside
            build_data["tag"] = os.environ["HYPERFLOCK_WHEEL_TAG"]
            build_data["pure_python"] = False
