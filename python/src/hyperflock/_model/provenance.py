"""Where a result comes from: code, data, versions, seeds, device. Plain data; any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperflock._base.text import clean
from hyperflock._model.spec import StudySpec
from hyperflock._transport.messages import AttemptRow, TrialRow


@dataclass(frozen=True)
class Saved:
    """A checkpoint that a result goes on from.

    Attributes
    ----------
    attempt : int
        That saved it.
    step : int or None
        The last step that was reported before it; None: none was.
    """

    attempt: int
    step: int | None


@dataclass(frozen=True)
class Provenance:
    """All that decided a trial's result, and what computed it.

    Attributes
    ----------
    entry : str
        ``module:function`` of the objective.
    code_sha256 : str
        Of the bundle's zip.
    source_sha256 : str
        Of its sources alone, as the package that sent it says; empty: it does not.
    data : dict
        SHA-256 of each data set by its name, wheels and large arrays of the code included.
    runtime : str
        What the study asked for: ``chainer-7.8.1``.
    software : dict
        Versions by name, of the deciding attempt: ``hyperflock-server``, ``hyperflock-worker``,
        ``pyodide``, ``numpy``, ``chainer``, for Optuna's trials ``optuna``; under ``runtime`` the
        identifier of all that the browser had loaded. Empty: there is no result yet.
    study_seed, seed : int
        The study's, and what follows from it for the trial.
    submitted_with : dict
        The package and the Python that submitted the study.
    attempt : int or None
        The run whose result counts, else the newest one; None: there was none.
    device, device_class, engine, backend, adapter : str or None
        Where it ran, as in `TrialResult`.
    checkpoints : tuple of Saved
        Those that the result goes on from, the newest first; empty: it is of one run.
    """

    entry: str
    code_sha256: str
    source_sha256: str
    data: dict[str, str]
    runtime: str
    software: dict[str, str]
    study_seed: int
    seed: int
    submitted_with: dict[str, str]
    attempt: int | None
    device: str | None
    device_class: str | None
    engine: str | None
    backend: str | None
    adapter: str | None
    checkpoints: tuple[Saved, ...]


def provenance_of(row: TrialRow, spec: StudySpec) -> Provenance:
    """Make it of a trial's row, with its attempts, and of its study's spec; texts are cleaned."""
    runs = row.attempts_list if isinstance(row.attempts_list, list) else []
    by_id = {run.attempt: run for run in runs}
    decided = by_id.get(row.accepted_attempt) if isinstance(row.accepted_attempt, int) else None
    run = decided or (runs[-1] if runs else None)
    told = spec.provenance
    return Provenance(
        entry=clean(spec.entry),
        code_sha256=spec.bundle.sha256,
        source_sha256=_text(told.get("source_sha256")),
        data={clean(item.name): item.sha256 for item in spec.data},
        runtime=f"chainer-{spec.runtime.chainer}",
        software={} if run is None else software_of(run),
        study_seed=spec.seed,
        seed=row.seed,
        submitted_with={
            name: _text(told[key])
            for name, key in (("package", "client"), ("python", "python"))
            if isinstance(told.get(key), str)
        },
        attempt=None if run is None else run.attempt,
        device=None if run is None else clean(run.device.device),
        device_class=None if run is None else clean(run.device.device_class),
        engine=None if run is None else clean(run.device.engine),
        backend=None if run is None else clean(run.device.backend),
        adapter=None if run is None else _text(run.device.adapter),
        checkpoints=_lineage(run, by_id),
    )


def software_of(run: AttemptRow) -> dict[str, str]:
    """Read what computed an attempt's result; empty where it does not say."""
    return versions_of(run.software) if isinstance(run.software, str) else {}


def versions_of(software: str) -> dict[str, str]:
    """Read ``name/version name/version``; a word without a version has an empty one."""
    pairs = (clean(word).partition("/") for word in software.split())
    found: dict[str, str] = {}
    for name, _, version in pairs:
        # The server's own word comes first: what a device says of it counts for nothing.
        if name:
            found.setdefault(name, version)
    return found


def _lineage(run: AttemptRow | None, by_id: dict[int, AttemptRow]) -> tuple[Saved, ...]:
    found: list[Saved] = []
    while run is not None and isinstance(run.resumed_from, int):
        step = run.resumed_step if isinstance(run.resumed_step, int) else None
        found.append(Saved(run.resumed_from, step))
        before = by_id.get(run.resumed_from)
        # An attempt is older than those that go on from it; anything else is no lineage.
        run = before if before is not None and before.attempt < run.attempt else None
    return tuple(found)


def _text(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""
