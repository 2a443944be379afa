"""Runs a finished trial again on this machine and compares the results.

    found = await replay(http, study_id=3, number=17, on="cpython", tolerance=0.01)
    found.same, found.compared

The study's code runs as in a dry run (dry_run.py), with the trial's parameters, suggested values
and seed. The coroutines run on any event loop.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hyperflock._base.errors import DryRunError, HyperflockError, ReplayError
from hyperflock._base.text import clean
from hyperflock._execution.comparison import Compared, compared
from hyperflock._execution.dry_run import Ran, run_job
from hyperflock._execution.job import Job
from hyperflock._execution.notes import version_notes, without
from hyperflock._model.data import DataSet
from hyperflock._model.provenance import Provenance
from hyperflock._model.results import TrialError, TrialResult, trial_result
from hyperflock._model.spec import parse_spec
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Backend, StudySpec, TrialRow
from hyperflock._transport.validation import convert

ReplayOn = Literal["cpython", "chromium"]
PLACES: tuple[ReplayOn, ...] = ("cpython", "chromium")
DEFAULT_TOLERANCE = 0.01
# A replay may run this many seconds longer than the study's time limit, because this machine may be
# slower than the device.
_SLOWER_S = 60.0

# The codes of attempts that ended before the objective's first line, or because of the time limit.
_CANNOT = frozenset(
    {
        *("import_failed", "entry_not_found", "data_invalid", "runtime_mismatch", "time_limit"),
        *("bundle_damaged", "bundle_unsafe", "bundle_too_large"),
    }
)


@dataclass(frozen=True)
class Replay:
    """The result of running a trial again, compared with the recorded one.

    Attributes
    ----------
    study, trial : int
        The numbers of the study and the trial.
    on : str
        ``cpython`` or ``chromium``.
    tolerance : float
        The tolerance with which numbers were compared.
    same : bool
        Whether state, values and every point of the curve are the same.
    compared : tuple of Compared
        The state, each value, each step of the curve, and the error's code if there was one.
    seconds, recorded_s : float
        The duration here and on the device.
    backend : str
        What the run here used: ``webgpu``, ``cpu`` (array-core's) or ``numpy``.
    versions : dict
        The versions of the software here, by name.
    notes : tuple of str
        Reasons why numbers may differ: other versions, another runtime or another back end, or a
        package that is missing here.
    provenance : Provenance
        The provenance of the recorded result.
    output : str
        What the run here printed.
    error : TrialError or None
        Why the run here failed.
    """

    study: int
    trial: int
    on: str
    tolerance: float
    same: bool
    compared: tuple[Compared, ...]
    seconds: float
    recorded_s: float
    backend: str
    versions: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance
    output: str
    error: TrialError | None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        how = "the same" if self.same else "different"
        head = f"trial {self.trial} of study {self.study} on {self.on}: {how} within"
        rows = [
            f"  {c.what}: {c.recorded} recorded, {c.here} here" for c in self.compared if not c.same
        ]
        notes = [f"  note: {note}" for note in self.notes]
        return "\n".join([f"{head} {self.tolerance:g}", *rows, *notes])


async def fetch_spec(http: Http, study: int, code_version: int | None = None) -> StudySpec:
    """Fetch a study's spec with the newest version of its code, or with another version."""
    chosen = "" if code_version is None else f"?code_version={code_version}"
    return parse_spec(json.dumps(await http.get(f"/api/studies/{study}/spec{chosen}")))


async def spec_of(http: Http, row: TrialRow) -> StudySpec:
    """Fetch the spec with the code that computed a trial."""
    version = row.code_version if isinstance(row.code_version, int) else None
    return await fetch_spec(http, row.study, version)


async def replay(
    http: Http,
    study: int,
    number: int,
    *,
    on: ReplayOn,
    tolerance: float,
    browser: str | None = None,
    trust: bool = False,
) -> Replay:
    """Run a trial again; see `Study.replay`.

    Raises
    ------
    ReplayError, DryRunError
        The trial cannot be run again, or not on this machine.
    HyperflockError
        ``bad_field``, ``bad_number``: `on` or the tolerance is wrong.
    """
    if on not in PLACES:
        raise HyperflockError(
            f"on is {on!r}, but may be 'cpython' or 'chromium'", code="bad_field", field="on"
        )
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < math.inf):
        raise HyperflockError(
            "the tolerance is not a number from 0 on", code="bad_number", field="tolerance"
        )
    if not trust:
        await _refuse_code_of_others(http, study)
    row = convert(await http.get(f"/api/studies/{study}/trials/{number}"), TrialRow)
    spec = await spec_of(http, row)
    recorded = trial_result(row, spec)
    if recorded.state not in {"complete", "pruned", "failed"}:
        raise ReplayError(
            f"trial {number} of study {study} is {recorded.state} and has no result yet",
            code="trial_unfinished",
        )
    ran = await run_job(
        await _job(http, study, spec, row, recorded),
        "cpython" if on == "cpython" else "browser",
        _limit_s(spec, recorded),
        http=http,
        browser=browser,
    )
    return _judged(study, on, float(tolerance), recorded, ran)


def _limit_s(spec: StudySpec, recorded: TrialResult) -> float:
    """Return the replay's time limit in seconds, which is `_SLOWER_S` longer than the study's. If
    the study's limit ended the recorded trial, return the study's limit. 0 means no limit.
    """
    limit_s = spec.limits.time_limit_ms / 1000
    ended_by_it = recorded.error is not None and recorded.error.code == "time_limit"
    return limit_s + _SLOWER_S if limit_s and not ended_by_it else limit_s


async def _refuse_code_of_others(http: Http, study: int) -> None:
    owner = (await http.get(f"/api/studies/{study}")).get("owner")
    if owner != (await http.get("/api/me")).get("name"):
        raise ReplayError(
            f"study {study} is {clean(str(owner), limit=60)}'s: its code would run here; "
            "say trust=True, or --trust, if you would run it yourself",
            code="untrusted_code",
        )


async def _job(
    http: Http, study: int, spec: StudySpec, row: TrialRow, recorded: TrialResult
) -> Job:
    """Fetch the code and data of a trial as a job."""

    async def blob(sha256: str, size: int, what: str) -> bytes:
        content = await http.fetch(f"/api/studies/{study}/blobs/{sha256}")
        if len(content) != size or hashlib.sha256(content).hexdigest() != sha256:
            raise ReplayError(f"{what} is not what its hash says", code="blob_damaged")
        return content

    asked = None
    if spec.kind == "asked":
        logged = row.suggested if isinstance(row.suggested, list) else []
        directions = spec.directions if isinstance(spec.directions, list) else [spec.direction]
        values = {name: [distribution, value] for name, distribution, value in logged}
        asked = {
            "directions": len(directions),
            "suggested": json.dumps(values),
            "attrs": row.asked_attrs if isinstance(row.asked_attrs, str) else None,
        }
    wanted = spec.runtime.backend
    points = recorded.points or ()
    return Job(
        entry=spec.entry,
        bundle=await blob(spec.bundle.sha256, spec.bundle.bytes, "the study's code"),
        data=[
            DataSet(ref, await blob(ref.sha256, ref.bytes, f"'{clean(ref.name)}'"))
            for ref in spec.data
        ],
        params=row.params,
        seed=row.seed,
        runtime=f"chainer-{spec.runtime.chainer}",
        backend=_backend_of(wanted if isinstance(wanted, str) else None),
        opened="webgpu" if recorded.backend == "webgpu" else "cpu",
        number=row.trial,
        asked=asked,
        again=True,
        prune_at=None if recorded.state != "pruned" else points[-1][0] if points else 0,
    )


def _backend_of(wanted: Backend | None) -> str | None:
    # A trial of a study that requires a graphics device also runs without one, on the best back end
    # here.
    return "auto" if wanted in {"webgpu", "webgl2"} else wanted


def _judged(study: int, on: str, tolerance: float, recorded: TrialResult, ran: Ran) -> Replay:
    told = ran.outcome.get("error")
    error = TrialError(**told) if told else None
    if error is not None:
        if ran.missing:
            raise DryRunError(
                f"{clean(ran.missing[0])} is not installed here, though the browsers have it; "
                "install it, or replay on chromium"
            )
        known = recorded.error.code if recorded.error else None
        if error.code in _CANNOT and error.code != known:
            raise ReplayError(f"the trial cannot run here: {clean(error.message)} [{error.code}]")
    found = compared(
        recorded.state,
        recorded.values,
        recorded.points or (),
        recorded.error.code if recorded.error else None,
        state=str(ran.outcome["outcome"]),
        values=tuple(ran.outcome.get("values", ())),
        points=ran.points,
        error=error.code if error else None,
        tolerance=tolerance,
    )
    assert recorded.provenance is not None
    backend = str(ran.outcome.get("backend") or "numpy")
    return Replay(
        study=study,
        trial=recorded.number,
        on=on,
        tolerance=tolerance,
        same=_all_same(found),
        compared=found,
        seconds=ran.seconds,
        recorded_s=recorded.run_s,
        backend=backend,
        versions=ran.versions,
        notes=_notes(recorded, backend, ran.versions) if on == "chromium" else _notes_here(ran),
        provenance=recorded.provenance,
        output=ran.output,
        error=error,
    )


def _notes(recorded: TrialResult, backend: str, here: Mapping[str, str]) -> tuple[str, ...]:
    assert recorded.provenance is not None
    notes = []
    then, now = recorded.provenance.software.get("runtime"), here.get("runtime")
    # Other versions of Python, Pyodide or NumPy need no note: the bundle's lock refuses them.
    if then and now and then != now:
        notes.append(f"the runtime was {then[:12]}, and the server's is {now[:12]} now")
    if recorded.backend and recorded.backend != backend:
        notes.append(f"it computed on {clean(recorded.backend)}, and on {backend} here")
    return tuple(notes)


def _notes_here(ran: Ran) -> tuple[str, ...]:
    """Return how this machine's Python differs from the devices', and which packages it lacks."""
    return (*version_notes(ran.versions, None), *map(without, ran.lacking))


def _all_same(found: Sequence[Compared]) -> bool:
    return all(one.same for one in found)
