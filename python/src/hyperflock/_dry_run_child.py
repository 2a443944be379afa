"""Runs one trial as a volunteer's browser would: the other process of a dry run.

    python -I -S _dry_run_child.py FOLDER     # also in Pyodide, by the worker runtime's command

``FOLDER`` holds ``job.json``, the bundle and the data; ``outcome.json`` is left there. It uses the
worker's packages and nothing of the researcher's. On an ordinary Python only what the browsers'
runtime has can be imported, wherever it is installed. The process's only thread.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


class _Installed(importlib.abc.MetaPathFinder):
    """Finds what is installed here, where the browsers have it too."""

    def __init__(self, names: Sequence[str], folders: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._folders = list(folders)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if path is not None or fullname not in self._names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, self._folders)
        if spec is None and fullname in {"numpy", "chainer"}:
            raise ModuleNotFoundError(
                f"{fullname} is not installed here, though the browsers have it; "
                "install it, or use dry_run='browser'",
                name=fullname,
            )
        return spec


def main(folder: Path) -> None:
    """Run the job of a folder."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    if sys.platform != "emscripten":
        sys.path[:0] = job["worker"]
        sys.meta_path.insert(0, _Installed(job["installed"], job["folders"]))
    from hyperflock_worker import bridge
    from hyperflock_worker.runner import run_attempt

    local = bridge.LocalBridge()
    bridge.set_bridge(local)
    bundle = (folder / "bundle.zip").read_bytes()
    data = {
        name: (kind, (folder / file).read_bytes(), filename)
        for name, (kind, file, filename) in job["data"].items()
    }
    begun = time.perf_counter()
    outcome = json.loads(run_attempt(json.dumps(job["spec"]), bundle, data))
    seconds = time.perf_counter() - begun
    told = {"outcome": outcome, "points": local.reports, "seconds": seconds}
    (folder / "outcome.json").write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
