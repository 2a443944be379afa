"""Runs one trial as a volunteer's browser would: the other process of a dry run or a replay.

    python -I -S _execution/child.py FOLDER

``FOLDER`` holds ``job.json``, the bundle and the data; ``begun`` is left there when the trial's
time begins, ``outcome.json`` at its end. Only what the browsers' runtime has can be imported,
wherever it is installed: of this package the in-trial part. The process's only thread.
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

# What a browser has of this package, beside its root; the runtime's manifest has the same.
_IN_TRIAL = re.compile(r"hyperflock\.(_base|_trial)(\..+)?|hyperflock\.optuna")


class _Installed(importlib.abc.MetaPathFinder):
    """Finds what is installed here, where the browsers have it too.

    Parameters
    ----------
    places : Mapping
        The folders in which each package is looked for.
    """

    def __init__(self, places: Mapping[str, Sequence[str]]) -> None:
        self._places = places
        self._missing: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.startswith("hyperflock.") and not _IN_TRIAL.fullmatch(fullname):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        if path is not None or fullname not in self._places:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, self._places[fullname])
        if spec is None and fullname in {"numpy", "chainer", "optuna"}:
            self._missing.add(fullname)
            raise ModuleNotFoundError(
                f"{_not_here(fullname)}; install it, or use dry_run='browser'", name=fullname
            )
        return spec

    def for_want_of(self, error: dict[str, str]) -> list[str]:
        """Give what was missing and is in an error's text; the rest the objective did without."""
        shown = error["message"] + error["traceback"]
        return sorted(name for name in self._missing if _not_here(name) in shown)


def _not_here(name: str) -> str:
    return f"{name} is not installed here, though the browsers have it"


def main(folder: Path) -> None:
    """Run the job of a folder."""
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
        "seconds": seconds,
        "missing": installed.for_want_of(outcome["error"]) if "error" in outcome else [],
        "versions": _versions(),
        "globals": found,
    }
    # In one go: this process may be ended at any moment.
    written = folder / "outcome.json.part"
    written.write_text(json.dumps(told), "utf-8")
    written.replace(folder / "outcome.json")


def _report_globals(
    host: Any, folder: Path, job: dict[str, Any], found: dict[str, dict[str, Snapshot]]
) -> None:
    """Write down the globals that the job names, right before the objective is called.

    The runner reports progress at that moment, and has imported what the files import at their top.
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
