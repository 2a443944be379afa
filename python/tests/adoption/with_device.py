"""Runs a command against a console with one device, both in this process, and prints its output.

    python with_device.py FOLDER COMMAND...

The device unpacks and calls the bundle that was sent, with the worker's own code. It can import no
package that browsers lack. Each finished trial is written to FOLDER, so that it can be run again
elsewhere.
"""

from __future__ import annotations

import importlib.abc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from fake_asked import AskedStudy, AskedTrial
from fake_console import FakeConsole
from hyperflock._base.param_values import params_text
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, runtime_has
from hyperflock._execution.worker import import_worker
from hyperflock._model import grid as _grid
from hyperflock._trial.host import LocalHost
from patience import LIMIT_S
from worker_device import WorkerDevice

# Packages that an installed Optuna or Chainer imports, although browsers lack them.
OPTUNA_NEEDS = {"sqlalchemy", "alembic", "yaml", "greenlet", "mako", "markupsafe", "chainerx"}
HIDDEN = ("matplotlib", "seaborn", "torch")


class Hiding(importlib.abc.MetaPathFinder):
    """A finder that refuses packages that browsers lack."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None and fullname in HIDDEN:
            assert not runtime_has(fullname)
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


class Device(WorkerDevice):
    """A device of an ask-and-tell study that stores the trials that it ran."""

    def __init__(self, console: FakeConsole, folder: Path) -> None:
        super().__init__(console)
        self._folder = folder

    def _compute(self, asked: AskedStudy, trial: AskedTrial) -> None:
        super()._compute(asked, trial)
        suggested = {name: [kind, value] for name, kind, value in trial.suggested}
        asked_of = {
            "directions": len(asked.spec.directions),  # type: ignore[arg-type]
            "suggested": json.dumps(suggested),
            "attrs": trial.attrs,
        }
        keep(self._console, self._folder, asked.spec, trial.number, "{}", asked_of, trial.row)


def keep(
    console: Any,
    folder: Path,
    spec: Any,
    number: int,
    params: str,
    asked: dict[str, Any] | None,
    row: dict[str, Any],
) -> None:
    """Write a trial with its bundle and result."""
    told = {
        "attempt": number + 1,
        "study": 1,
        "trial": number,
        "entry": spec.entry,
        "params": params,
        "seed": _grid.trial_seed(spec.seed, number),
        "chainer": spec.runtime.chainer,
        "asked": asked,
    }
    data = {d.name: (d.kind, d.sha256, d.filename) for d in spec.data}
    for sha256 in (spec.bundle.sha256, *(d.sha256 for d in spec.data)):
        (folder / sha256).write_bytes(console.blobs[sha256])
    kept = {"spec": told, "bundle": spec.bundle.sha256, "data": data, "row": row}
    (folder / f"trial-{number}.json").write_text(json.dumps(kept))


def compute_grid(console: FakeConsole, folder: Path, leaving: threading.Event) -> None:
    """Compute the trials of a grid as soon as the grid is submitted."""
    from hyperflock_worker.runner import run_attempt

    while not leaving.wait(0.05):
        with console.lock:
            specs = {study: spec for study, spec in console.specs.items() if spec.kind != "asked"}
        for study, spec in specs.items():
            space = {d.name: d.values for d in spec.space}
            for number in range(_grid.grid_size(space)):
                if any(row["trial"] == number for row in console.finished[study]):
                    continue
                params = params_text(_grid.grid_point(space, number))
                told = {
                    "attempt": number + 1,
                    "study": study,
                    "trial": number,
                    "entry": spec.entry,
                    "params": params,
                    "seed": _grid.trial_seed(spec.seed, number),
                    "chainer": spec.runtime.chainer,
                }
                bundle = console.blobs[spec.bundle.sha256]
                data = {d.name: (d.kind, console.blobs[d.sha256], d.filename) for d in spec.data}
                outcome = json.loads(run_attempt(json.dumps(told), bundle, data, (), LocalHost()))
                fields = {"error": outcome["error"]} if "error" in outcome else {}
                values = outcome.get("values", [])
                console.finish(study, number, outcome["outcome"], values=values, **fields)
                row = {"state": outcome["outcome"], "values": values, **fields}
                keep(console, folder, spec, number, params, None, row)


def main(folder: Path, command: list[str]) -> None:
    """Run the command; print its exit code and output as JSON."""
    import_worker()
    import optuna  # noqa: F401

    for name in [name for name in sys.modules if name.split(".")[0] in HIDDEN]:
        del sys.modules[name]
    sys.meta_path.insert(0, Hiding())
    assert {"optuna", "tqdm"} <= ASKED_PACKAGES
    leaving = threading.Event()
    with FakeConsole() as console, Device(console, folder):
        grids = threading.Thread(target=compute_grid, args=(console, folder, leaving), daemon=True)
        grids.start()
        done = subprocess.run(
            command,
            env={**os.environ, "HYPERFLOCK_URL": console.url, "HYPERFLOCK_TOKEN": console.token},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        leaving.set()
        grids.join(LIMIT_S)
        asked_nothing = not console.requests
    told = {
        "code": done.returncode,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "asked_nothing": asked_nothing,
    }
    sys.__stdout__.write("\n" + json.dumps(told) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
