"""Runs one trial on this machine, in a child process or in a browser, for dry runs and replays.

    run = await dry_run(bundle, data, params={"rate": 0.1}, seed=7, runtime="chainer-7.8.1",
                        time_limit_s=60, where="cpython")
    run.value, run.seconds, run.output, run.error
    ran = await run_job(Job(...), "cpython", time_limit_s=60)

The worker's own code (``hyperflock_worker``) unpacks and runs the bundle, which sees only what a
volunteer's browser has. browser_run.py runs it in a browser. These are coroutines for any event
loop; cancelling one ends the other process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from hyperflock._base.errors import DryRunError
from hyperflock._base.param_values import params_text
from hyperflock._base.text import clean, value_text
from hyperflock._bundle.bundle import Bundle
from hyperflock._bundle.source.runtime import (
    ASKED_PACKAGES,
    PACKS,
    RUNTIME_PACKAGES,
    chainer_of,
)
from hyperflock._execution import value_snapshot
from hyperflock._execution.browser_run import MAX_OUTPUT_CHARACTERS, Told, run_in_browser
from hyperflock._execution.drift_check import Drift, Snapshots, compare, names_of
from hyperflock._execution.job import Job
from hyperflock._execution.notes import version_notes, without
from hyperflock._execution.worker import worker_packages
from hyperflock._model.data import DataSet
from hyperflock._model.provenance import versions_of
from hyperflock._model.results import TrialError, attributes_of
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http
from hyperflock._trial.host import series_of

Where = Literal["cpython", "browser"]

# The time limit in seconds for starting Python. The trial's own limit begins after the start.
_START_S = 60.0
# The seconds after the trial's time limit in which the child process may still write its outcome,
# because a busy machine may need them. A trial that does not end is stopped after these seconds.
_WRITE_S = 2.0
_LOOK_S = 0.02

# Packages that an installed Optuna imports. The browsers' build of Optuna does not need them.
_OPTUNA_NEEDS = frozenset({"sqlalchemy", "alembic", "yaml", "greenlet", "mako", "markupsafe"})
# Packages that newer versions of the packs import. The browsers' builds do not need them.
_PACKS_NEED = frozenset({"cloudpickle", "loky", "narwhals"})

# The environment variables that the child process gets. None of them holds a secret or an address.
_KEPT = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ARRAYCORE_LIBRARY"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    }
)

_CHILD = Path(__file__).with_name("child.py")
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class DryRun:
    """The result of a dry run. Nothing was sent to the server's queue.

    Attributes
    ----------
    where : str
        ``cpython`` or ``browser``.
    state : str
        ``complete``, ``pruned`` or ``failed``.
    params : dict
        The point that was tried.
    values : tuple of float
        The values that the objective returned.
    points : tuple of (int, float)
        The reported curve as (step, value).
    seconds : float
        The duration from unpacking the bundle to the result.
    output : str
        What the trial printed.
    error : TrialError or None
        Why the trial failed, with the objective's traceback.
    bundle_bytes : int
        The size of the zip that would be sent.
    files : tuple of str
        The names of the sources in the zip.
    differ : tuple of str
        A sentence for each global whose value in this process differs from the value after an
        import of the files.
    not_compared : tuple of str
        The globals that the objective uses and that could not be compared, each with the reason.
    notes : tuple of str
        Sentences that say what this run did not check, and which versions differ from those of
        devices.
    series : dict
        The logged series: (step, value) pairs by name.
    summary : dict
        The newest value of each series, and the named numbers that the objective returned.
    """

    where: str
    state: str
    params: dict[str, Any]
    values: tuple[float, ...]
    points: tuple[tuple[int, float], ...]
    seconds: float
    output: str
    error: TrialError | None
    bundle_bytes: int
    files: tuple[str, ...]
    differ: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    series: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    summary: dict[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """The first value; None if there is none."""
        return self.values[0] if self.values else None

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {value_text(value)}" for name, value in self.params.items())
        head = f"dry run in {self.where}: {self.state} after {self.seconds:.2f} s"
        lines = [f"{head}, params {shown}"]
        if self.values:
            lines.append(f"value {', '.join(f'{value:.6g}' for value in self.values)}")
        if self.error is not None:
            lines += [f"error [{self.error.code}]: {self.error.message}", self.error.traceback]
        lines += [f"differs: {sentence}" for sentence in self.differ]
        if self.not_compared:
            lines.append(f"not compared: {'; '.join(self.not_compared)}")
        lines += [f"note: {note}" for note in self.notes]
        if self.output:
            lines += ["output:", self.output]
        return "\n".join(line.rstrip("\n") for line in lines)


@dataclass(frozen=True)
class Ran:
    """The result of a job.

    Attributes
    ----------
    outcome : dict
        The outcome as the worker's runner returns it: ``outcome``, ``values``, ``error``,
        ``backend``.
    points : tuple of (int, float)
        The reported curve as (step, value).
    rows : tuple of (int, dict)
        The logged rows: steps and values by name.
    seconds : float
        The duration from unpacking the bundle to the result.
    output : str
        What the trial printed, without control characters.
    versions : dict
        The versions of the software that ran it, by name.
    missing : tuple of str
        Packages that the browsers have and this machine lacks, if the trial failed for that reason.
    lacking : tuple of str
        All packages that the trial tried to import, that the browsers have and this machine lacks.
    globals : dict
        Snapshots of the globals that the job names, by module.
    """

    outcome: dict[str, Any]
    points: tuple[tuple[int, float], ...]
    seconds: float
    output: str
    versions: dict[str, str]
    missing: tuple[str, ...]
    lacking: tuple[str, ...] = ()
    globals: Snapshots = field(default_factory=dict)
    rows: tuple[tuple[int, dict[str, float]], ...] = ()


async def dry_run(
    bundle: Bundle,
    data: Sequence[DataSet],
    *,
    params: Mapping[str, Any],
    seed: int,
    runtime: str,
    time_limit_s: float,
    where: Where,
    backend: str | None = None,
    http: Http | None = None,
) -> DryRun:
    """Run one trial; errors are those of `run_job`. An error of the objective is in the result."""
    job = Job(
        entry=bundle.entry,
        bundle=bundle.content,
        data=(*data, *bundle.attached),
        params=params_text(params),
        seed=seed,
        runtime=runtime,
        backend=backend,
        opened="cpu" if backend in {None, "webgl2", "cpu"} else "webgpu",
        globals=names_of(bundle.reached) if bundle.reached else {},
        modules=sorted(bundle.reached.modules.values()) if bundle.reached else (),
    )
    ran = await run_job(job, where, time_limit_s, http=http)
    error = ran.outcome.get("error")
    series = series_of(ran.rows)
    last = {name: pairs[-1][1] for name, pairs in series.items()}
    drift = compare(bundle.reached, ran.globals) if bundle.reached else Drift()
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
        differ=drift.differ,
        not_compared=drift.not_compared,
        notes=_notes(bundle, ran, runtime, where),
        series=series,
        summary={**last, **attributes_of(ran.outcome.get("attrs", "")).summary},
    )


def _notes(bundle: Bundle, ran: Ran, runtime: str, where: Where) -> tuple[str, ...]:
    """Return sentences about what a dry run did not check."""
    notes = [] if where == "browser" else list(version_notes(ran.versions, runtime))
    notes += [without(package) for package in ran.lacking]
    if bundle.reached is None:
        notes.append("the script was only read, so its globals were not compared")
    elif where == "browser":
        notes.append("a browser reports no globals, so they were not compared")
    return tuple(notes)


async def run_job(
    job: Job,
    where: Where,
    time_limit_s: float,
    *,
    http: Http | None = None,
    browser: str | None = None,
) -> Ran:
    """Run one trial.

    Parameters
    ----------
    job
        The job.
    where
        ``cpython`` or ``browser``.
    time_limit_s
        The time limit of the trial; it does not include the start of Python or a browser. 0 means
        no limit.
    http
        A connection to the server whose pages and runtime a browser uses; CPython needs none.
    browser
        The browser's program; None means ``HYPERFLOCK_BROWSER``, or Chromium.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: this machine lacks something that the trial needs.
        ``dry_run_broken``: the process or the browser ended without an outcome.
        ``runtime_unavailable``, ``runtime_damaged``: see `find_runtime`.
    """
    if where == "browser":
        assert http is not None
        return _ran(await run_in_browser(job, http, time_limit_s, browser), time_limit_s)
    with tempfile.TemporaryDirectory(prefix="hyperflock-dry-run-") as name:
        folder = Path(name).resolve()
        await in_thread(lambda: _write_job(folder, job))
        output, cut_after = await _run(folder, time_limit_s)
        told = _outcome(folder, output, cut_after, time_limit_s)
    return Ran(
        outcome=told["outcome"],
        points=tuple((int(step), float(value)) for step, value in told["points"]),
        seconds=float(told["seconds"]),
        output=clean(output, keep_lines=True),
        versions={str(k): str(v) for k, v in told.get("versions", {}).items()},
        missing=tuple(map(str, told.get("missing", ()))),
        lacking=tuple(map(str, told.get("lacking", ()))),
        globals=told.get("globals", {}),
        rows=tuple((int(step), values) for step, values in told.get("rows", ())),
    )


def _ran(told: Told, time_limit_s: float) -> Ran:
    """Return what a browser reported. A trial that exceeded its time limit has no curve."""
    outcome = told.outcome
    is_late = outcome is None or _is_late(told.seconds, time_limit_s)
    return Ran(
        outcome=_late(time_limit_s) if is_late else {**(outcome or {}), "backend": told.backend},
        points=() if is_late else tuple(told.points),
        rows=() if is_late else tuple(told.rows),
        seconds=told.seconds,
        output=clean(told.output, keep_lines=True),
        versions=versions_of(told.software),
        missing=(),
    )


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
        # Without the field `backends`, the child process finds the back ends of this machine.
        "device": None if job.backend is None else {"wanted": job.backend},
        "asked": job.asked,
    }
    # Chainer 7 contains ChainerX and imports it.
    packages = RUNTIME_PACKAGES | {"chainerx"}
    if job.has_optuna:
        packages |= ASKED_PACKAGES | _OPTUNA_NEEDS
    packages |= {unit for name in job.packs for unit in PACKS[name].imports}
    if job.packs:
        packages |= _PACKS_NEED
    told = {
        "spec": spec,
        "data": files,
        "installed": dict.fromkeys(sorted(packages), sys.path)
        | {"hyperflock": [str(_PACKAGE.parent)], "hyperflock_worker": [str(worker_packages())]},
        "again": job.again,
        "prune_at": job.prune_at,
        "globals": job.globals,
        "modules": job.modules,
    }
    (folder / "bundle.zip").write_bytes(job.bundle)
    (folder / "job.json").write_text(json.dumps(told), "utf-8")
    shutil.copy(_CHILD, folder / "dry_run.py")
    shutil.copy(value_snapshot.__file__, folder / "value_snapshot.py")


async def _run(folder: Path, time_limit_s: float) -> tuple[str, float | None]:
    """Run the job that a folder contains.

    Returns
    -------
    str, float or None
        What the job printed, and the seconds after which it was stopped; None if it ended by
        itself.
    """
    with tempfile.TemporaryFile() as file:
        process = _start(folder, file)
        try:
            cut_after = await in_thread(lambda: _wait(process, folder / "begun", time_limit_s))
        finally:
            process.kill()
            process.wait()
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_OUTPUT_CHARACTERS))
        return file.read().decode("utf-8", "replace"), cut_after


def _start(folder: Path, file: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the job that a folder contains, and write its output to a file."""
    command = [sys.executable, "-I", "-S", "-X", "utf8", str(folder / "dry_run.py"), str(folder)]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k in _KEPT},
        stdin=subprocess.DEVNULL,
        stdout=file,
        stderr=subprocess.STDOUT,
    )


def _wait(process: subprocess.Popen[bytes], begun: Path, time_limit_s: float) -> float | None:
    """Wait for the process.

    Returns
    -------
    float or None
        The seconds of its trial if that exceeded the time limit, otherwise None.
    """
    if not time_limit_s:
        process.wait()
        return None
    started, began = time.monotonic(), None
    while process.poll() is None:
        now = time.monotonic()
        if began is None and begun.exists():
            began = now
        if began is None and now - started > _START_S:
            raise DryRunError(
                f"the dry run did not begin within {_START_S:.0f} s", code="dry_run_broken"
            )
        if began is not None and now - began > time_limit_s + _WRITE_S:
            return now - began
        time.sleep(_LOOK_S)
    return None


def _outcome(
    folder: Path, output: str, cut_after: float | None, time_limit_s: float
) -> dict[str, Any]:
    """Return what the child process wrote. A trial that exceeded its time limit has no curve."""
    path = folder / "outcome.json"
    if path.is_file():
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if not _is_late(float(told["seconds"]), time_limit_s):
            return told
        return {**told, "outcome": _late(time_limit_s), "points": [], "rows": [], "missing": ()}
    if cut_after is None:
        raise DryRunError(
            f"the dry run ended without an outcome: {clean(output[-500:])}", code="dry_run_broken"
        )
    return {"outcome": _late(time_limit_s), "points": [], "seconds": cut_after}


def _is_late(seconds: float, time_limit_s: float) -> bool:
    return bool(time_limit_s) and seconds > time_limit_s


def _late(time_limit_s: float) -> dict[str, Any]:
    error = {
        "cause": "timeout",
        "code": "time_limit",
        "traceback": "",
        "message": f"the trial took longer than its {time_limit_s:g} s",
    }
    return {"outcome": "failed", "error": error}
