"""Runs one trial here: in a process of its own, or in a local browser. For dry runs and replays.

    run = await dry_run(bundle, data, params={"rate": 0.1}, seed=7, runtime="chainer-7.8.1",
                        time_limit_s=60, where="cpython")
    run.value, run.seconds, run.output, run.error
    ran = await run_job(Job(...), "cpython", time_limit_s=60)

The bundle is unpacked and run by the worker's own code (``hyperflock_worker``), and sees only what
a volunteer's browser has. A coroutine for any event loop; cancelled, it ends the other process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hyperflock._bundle import Bundle
from hyperflock._data import DataSet
from hyperflock._errors import DryRunError
from hyperflock._grid import Scalar, params_text
from hyperflock._loop import in_thread
from hyperflock._results import TrialError
from hyperflock._runtime import ASKED_PACKAGES, RUNTIME_PACKAGES, chainer_of
from hyperflock._text import clean

Where = Literal["cpython", "browser"]

MAX_OUTPUT_CHARACTERS = 1 << 20
# Above the trial's own limit: for starting Python, or a browser with Pyodide.
_START_S = {"cpython": 60.0, "browser": 180.0}

# What an Optuna that was installed here imports of its own; the browsers' one is made without.
_OPTUNA_NEEDS = frozenset({"sqlalchemy", "alembic", "yaml", "greenlet", "mako", "markupsafe"})

# What the other process gets of the environment: no tokens, keys or addresses.
_KEPT = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ARRAYCORE_LIBRARY"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        *("CHROMIUM", "CHROMIUM_FLAGS", "DISPLAY", "XDG_RUNTIME_DIR"),
    }
)

_CHILD = Path(__file__).with_name("_dry_run_child.py")
_CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class DryRun:
    """What a dry run found; nothing was queued.

    Attributes
    ----------
    where : str
        ``cpython`` or ``browser``.
    state : str
        ``complete``, ``pruned`` or ``failed``.
    params : dict
        The point that was tried.
    values : tuple of float
        What the objective gave.
    points : tuple of (int, float)
        The curve that it reported, as (step, value).
    seconds : float
        From unpacking the bundle to the result.
    output : str
        What it printed.
    error : TrialError or None
        Why it failed, with the objective's traceback.
    bundle_bytes : int
        Of the zip that would travel.
    files : tuple of str
        Sources in it.
    """

    where: str
    state: str
    params: dict[str, Scalar]
    values: tuple[float, ...]
    points: tuple[tuple[int, float], ...]
    seconds: float
    output: str
    error: TrialError | None
    bundle_bytes: int
    files: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """The first value; None when there is none."""
        return self.values[0] if self.values else None

    def __str__(self) -> str:
        head = f"dry run in {self.where}: {self.state} after {self.seconds:.2f} s"
        lines = [f"{head}, params {params_text(self.params)}"]
        if self.values:
            lines.append(f"value {', '.join(f'{value:.6g}' for value in self.values)}")
        if self.error is not None:
            lines += [f"error [{self.error.code}]: {self.error.message}", self.error.traceback]
        if self.output:
            lines += ["output:", self.output]
        return "\n".join(line.rstrip("\n") for line in lines)


@dataclass(frozen=True)
class Job:
    """One trial, as the process that runs it needs it.

    Attributes
    ----------
    entry, bundle
        Where the objective is, and the zip that it is in.
    data
        With wheels and arrays of the code.
    params
        JSON text.
    seed, number
        The trial's.
    runtime
        ``chainer-7.8.1``.
    backend
        What the study asks of devices; None: nothing.
    opened
        What a local browser opens for it: ``webgpu`` or ``cpu``.
    asked
        Of a trial of an Optuna study: ``{"directions", "suggested"}``, as the runner takes it.
    again
        The trial ran before: names that were not suggested then are an error, and `prune_at` says
        at which step it is told to stop; None: never.
    """

    entry: str
    bundle: bytes
    data: Sequence[DataSet]
    params: str
    seed: int
    runtime: str
    backend: str | None = None
    opened: str = "cpu"
    number: int = 0
    asked: Mapping[str, Any] | None = None
    again: bool = False
    prune_at: int | None = None


@dataclass(frozen=True)
class Ran:
    """What a job came to.

    Attributes
    ----------
    outcome : dict
        As the worker's runner tells it: ``outcome``, ``values``, ``error``, ``backend``.
    points : tuple of (int, float)
        What was reported.
    seconds : float
        From unpacking the bundle to the result.
    output : str
        What was printed, cleaned.
    versions : dict
        Of what it ran on, by name.
    missing : tuple of str
        Packages that the browsers have, and for want of which it failed here.
    """

    outcome: dict[str, Any]
    points: tuple[tuple[int, float], ...]
    seconds: float
    output: str
    versions: dict[str, str]
    missing: tuple[str, ...]


async def dry_run(
    bundle: Bundle,
    data: Sequence[DataSet],
    *,
    params: Mapping[str, Scalar],
    seed: int,
    runtime: str,
    time_limit_s: float,
    where: Where,
    backend: str | None = None,
) -> DryRun:
    """Run one trial; errors as in `run_job`. What the objective raises is in the result."""
    job = Job(
        entry=bundle.entry,
        bundle=bundle.content,
        data=(*data, *bundle.attached),
        params=params_text(params),
        seed=seed,
        runtime=runtime,
        backend=backend,
    )
    ran = await run_job(job, where, time_limit_s)
    error = ran.outcome.get("error")
    return DryRun(
        where=where,
        state=ran.outcome["outcome"],
        params=dict(params),
        values=tuple(ran.outcome.get("values", ())),
        points=ran.points,
        seconds=ran.seconds,
        output=ran.output,
        error=TrialError(**error) if error else None,
        bundle_bytes=len(bundle.content),
        files=bundle.files,
    )


async def run_job(
    job: Job, where: Where, time_limit_s: float, *, browser: str | None = None
) -> Ran:
    """Run one trial.

    Parameters
    ----------
    job, where
        What, and on what.
    time_limit_s
        For the trial alone, without the start of Python or of a browser; 0: none.
    browser
        The browser's program; None: the one that ``HYPERFLOCK_BROWSER`` names, else Chromium.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: what it needs is not here. ``dry_run_broken``: the process or the
        browser ended without an outcome.
    """
    with tempfile.TemporaryDirectory(prefix="hyperflock-dry-run-") as name:
        folder = Path(name).resolve()
        await in_thread(lambda: _write_job(folder, job))
        command, cwd = _command(where, folder, job)
        limit_s = time_limit_s + _START_S[where] if time_limit_s else None
        output, ended = await _run(command, cwd, limit_s, _browsers(where, browser))
        told = _outcome(folder, ended, output, time_limit_s)
    return Ran(
        outcome=told["outcome"],
        points=tuple((int(step), float(value)) for step, value in told["points"]),
        seconds=float(told["seconds"]),
        output=clean(output, keep_lines=True),
        versions={str(k): str(v) for k, v in told.get("versions", {}).items()},
        missing=tuple(map(str, told.get("missing", ()))),
    )


def worker_packages() -> Path:
    """The folder of the worker's packages: of a checkout, or as installed with this package.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: it is in neither place.
    """
    for folder in (_CHECKOUT / "worker-runtime" / "python", Path(__file__).with_name("_worker")):
        if (folder / "hyperflock_worker" / "runner.py").is_file():
            return folder
    raise DryRunError("the worker's Python packages are not here; install hyperflock again")


def _write_job(folder: Path, job: Job) -> None:
    files: dict[str, tuple[str, str, str]] = {}
    for number, item in enumerate(job.data):
        with item.open() as source, (folder / f"data-{number}").open("wb") as file:
            shutil.copyfileobj(source, file)
        files[item.ref.name] = (item.ref.kind, f"data-{number}", item.ref.filename)
    spec = {
        "attempt": 1,
        "study": 1,
        "trial": job.number,
        "entry": job.entry,
        "params": job.params,
        "seed": job.seed,
        "chainer": chainer_of(job.runtime),
        # Which back ends are here is found out where it runs.
        "device": None if job.backend is None else {"wanted": job.backend},
        "asked": job.asked,
    }
    packages = RUNTIME_PACKAGES - {"hyperflock", "hyperflock_worker"}
    if job.asked is not None:
        packages |= ASKED_PACKAGES | _OPTUNA_NEEDS
    told = {
        "spec": spec,
        "data": files,
        "worker": [str(worker_packages())],
        "installed": sorted(packages),
        "folders": sys.path,
        "again": job.again,
        "prune_at": job.prune_at,
    }
    (folder / "bundle.zip").write_bytes(job.bundle)
    (folder / "job.json").write_text(json.dumps(told), "utf-8")
    shutil.copy(_CHILD, folder / "dry_run.py")


def _command(where: Where, folder: Path, job: Job) -> tuple[list[str], Path]:
    script = str(folder / "dry_run.py")
    if where == "cpython":
        return [sys.executable, "-I", "-S", "-X", "utf8", script, str(folder)], folder
    runtime = _CHECKOUT / "build" / "runtime"
    command = _CHECKOUT / "worker-runtime" / "node" / "python_command.ts"
    node = _CHECKOUT / "build" / "venv" / "bin" / "node"
    found = str(node) if node.is_file() else shutil.which("node")
    index = runtime / "index.json"
    if not command.is_file() or not index.is_file() or found is None:
        raise DryRunError(
            "a run in a browser needs a checkout of Hyperflock after './run build'; "
            "one on CPython needs none"
        )
    pieces = json.loads(index.read_text("utf-8"))["pieces"]
    options = ["--host", "chromium", "--backend", job.opened, "--mount", str(folder)]
    for piece in (job.runtime, *(sorted(ASKED_PACKAGES) if job.asked is not None else ())):
        if piece not in pieces:
            raise DryRunError(f"the built runtime has no {piece}; './run build' makes it")
        archive = runtime / Path(pieces[piece]["base"]).name / f"{piece}.zip"
        options += ["--wheel", str(archive)]
    quiet = "--disable-warning=ExperimentalWarning"
    return [found, quiet, str(command), *options, script, str(folder)], _CHECKOUT


def _browsers(where: Where, browser: str | None) -> dict[str, str]:
    """Which browser the command opens, as it is told: by a variable."""
    given = browser or os.environ.get("HYPERFLOCK_BROWSER")
    if where == "cpython" or not given:
        return {}
    found = shutil.which(given)
    if found is None:
        raise DryRunError(f"'{clean(given)}' is no program; give the path of a Chromium")
    return {"CHROMIUM": found}


async def _run(
    command: list[str], cwd: Path, limit_s: float | None, settings: Mapping[str, str]
) -> tuple[str, bool]:
    """Run a command; gives what it printed, and whether it ended within its time."""
    environment = {**{k: v for k, v in os.environ.items() if k in _KEPT}, **settings}
    with tempfile.TemporaryFile() as file:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            await in_thread(lambda: process.wait(limit_s))
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        finally:
            process.kill()
            process.wait()
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_OUTPUT_CHARACTERS))
        return file.read().decode("utf-8", "replace"), ended


def _outcome(folder: Path, ended: bool, output: str, time_limit_s: float) -> dict[str, Any]:
    path = folder / "outcome.json"
    if path.is_file():
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return told
    if ended:
        raise DryRunError(
            f"the dry run ended without an outcome: {clean(output[-500:])}", code="dry_run_broken"
        )
    error = {
        "cause": "timeout",
        "code": "time_limit",
        "traceback": "",
        "message": f"the trial took longer than its {time_limit_s:g} s",
    }
    return {
        "outcome": {"outcome": "failed", "error": error},
        "points": [],
        "seconds": time_limit_s,
    }
