"""Runs Optuna scripts in plain Optuna and on a fake device, and compares both studies.

    python optuna_scripts.py FOLDER SCRIPT...

It runs as a separate process. ``PYTHONPATH`` must contain the worker's packages and Chainer.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hyperflock.optuna
import optuna
from fake_console import FakeConsole
from hyperflock_worker import compat
from told import told
from worker_device import WorkerDevice


def compared(study: optuna.Study) -> list[tuple[Any, ...]]:
    """Return what must be equal in both runs, including the attributes of the sampler."""
    return [
        (*common, {k: v for k, v in trial.system_attrs.items() if "hyperflock" not in k})
        for common, trial in zip(told(study), study.trials, strict=True)
    ]


def run(script: Path) -> optuna.Study:
    """Run a script as its own main module. Return its study."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        study: optuna.Study = runpy.run_path(str(script), run_name="__main__")["study"]
    assert printed.getvalue()
    return study


def plainly(study: optuna.Study, objective: Any, n_trials: int, client: object) -> None:
    """Optimize in this process, without a device. Replaces `hyperflock.optuna.optimize`."""
    study.optimize(objective, n_trials=n_trials)


def main(folder: Path, names: list[str]) -> None:
    """Run each script both ways and compare."""
    compat.install()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print("optuna", optuna.__version__)
    for name in names:
        with FakeConsole() as console:
            os.environ.update(HYPERFLOCK_URL=console.url, HYPERFLOCK_TOKEN=console.token)
            with patch.object(hyperflock.optuna, "optimize", plainly):
                plain = run(folder / name)
            with WorkerDevice(console):
                study = run(folder / name)
        assert len(study.trials) >= 16, name
        for here, there in zip(compared(plain), compared(study), strict=True):
            assert here == there, f"{name}: {here} is not {there}"
        states = sorted({t.state.name for t in study.trials})
        print(name, len(study.trials), *states)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
