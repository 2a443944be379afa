"""Runs one trial as a volunteer's browser would, in the child process of a dry run or a replay.

    python -I -S _execution/child.py FOLDER

``FOLDER`` contains ``job.json``, the bundle and the data. This program creates ``begun`` there when
the trial's time begins, and writes ``outcome.json`` at its end. It can import only packages that
the browsers' runtime has, and of this package only the in-trial part. It has one thread.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import platform
import re
import runpy
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperflock._execution.value_snapshot import Snapshot

# The modules of this package that a browser has, besides ``hyperflock`` itself. The runtime's
# manifest lists the same modules.
_IN_TRIAL = re.compile(r"hyperflock\.(_base|_trial)(\..+)?|hyperflock\.(chainer|optuna|sklearn)")


class _Installed(importlib.abc.MetaPathFinder):
    """A finder of installed packages that hides those which browsers do not have.

    Parameters
    ----------
    places : Mapping
        For each package, the folders in which it is searched for.
    """

    def __init__(self, places: Mapping[str, Sequence[str]]) -> None:
        self._places = places
        self.missing: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.startswith("hyperflock.") and not _IN_TRIAL.fullmatch(fullname):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        if path is not None or fullname not in self._places:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, self._places[fullname])
        if spec is None and fullname in {"numpy", "chainer", "optuna"}:
            self.missing.add(fullname)
            raise ModuleNotFoundError(
                f"{_not_here(fullname)}; install it, or use dry_run='browser'", name=fullname
            )
        return spec

    def for_want_of(self, error: dict[str, str]) -> list[str]:
        """Return the packages that are missing here and that an error's text names.

        A package that is missing but not named there was not the cause of the error.
        """
        shown = error["message"] + error["traceback"]
        return sorted(name for name in self.missing if _not_here(name) in shown)


def _not_here(name: str) -> str:
    return f"{name} is not installed here, though the browsers have it"


def main(folder: Path) -> None:
    """Run the job that a folder contains."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    installed = _Installed(job["installed"])
    sys.meta_path.insert(0, installed)
    from hyperflock_worker.runner import run_attempt

    from hyperflock._trial.host import LocalHost, ReplayHost

    host = ReplayHost(job["prune_at"]) if job["again"] else LocalHost()
    found: dict[str, dict[str, Snapshot]] = {}
    if job["globals"]:
        _report_globals(host, folder, job, found)
    bundle = (folder / "bundle.zip").read_bytes()
    data = {
        name: (kind, (folder / file).read_bytes(), filename)
        for name, (kind, file, filename) in job["data"].items()
    }
    (folder / "begun").touch()
    begun = time.perf_counter()
    outcome = json.loads(run_attempt(json.dumps(job["spec"]), bundle, data, (), host))
    seconds = time.perf_counter() - begun
    told = {
        "outcome": outcome,
        "points": host.points,
        "rows": host.rows,
        "seconds": seconds,
        "missing": installed.for_want_of(outcome["error"]) if "error" in outcome else [],
        "lacking": sorted(installed.missing),
        "versions": _versions(),
        "globals": found,
    }
    # The file appears complete or not at all, because this process may be ended at any moment.
    written = folder / "outcome.json.part"
    written.write_text(json.dumps(told), "utf-8")
    written.replace(folder / "outcome.json")


def _report_globals(
    host: Any, folder: Path, job: dict[str, Any], found: dict[str, dict[str, Snapshot]]
) -> None:
    """Write snapshots of the globals that the job names, just before the objective is called.

    This function is called when the runner reports progress for the first time. The objective's
    files have been imported by then.
    """
    snapshot = runpy.run_path(str(folder / "value_snapshot.py"))["snapshot"]
    before = host.progress

    def progress() -> None:
        host.progress = before
        for module, names in job["globals"].items():
            there = vars(sys.modules.get(module, object))
            found[module] = {
                name: snapshot(there[name], job["modules"]) for name in names if name in there
            }
        before()

    host.progress = progress


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the trial used."""
    names = ("numpy", "chainer", "optuna")
    used = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    found = {name: str(version) for name, version in used.items() if version is not None}
    return {"python": platform.python_version(), **found}


if __name__ == "__main__":
    job_folder = Path(sys.argv[1])
    sys.argv[:] = [""]  # as in a browser
    main(job_folder)
