"""Describes where a result comes from: code, data, versions, seeds, device. The module has plain
data only; any thread may use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperflock._base.text import clean
from hyperflock._transport.messages import AttemptRow, StudySpec, TrialRow


@dataclass(frozen=True)
class Saved:
    """A checkpoint from which an attempt of a trial continued.

    Attributes
    ----------
    attempt : int
        The run that saved it.
    step : int or None
        The last step that was reported before it; None if none was.
    """

    attempt: int
    step: int | None


@dataclass(frozen=True)
class Provenance:
    """Everything that determined a trial's result, and what computed it.

    Attributes
    ----------
    entry : str
        ``module:function`` of the objective.
    code_sha256 : str
        The SHA-256 of the bundle's zip.
    source_sha256 : str
        The SHA-256 of its sources alone, as the sending package reported it; empty if it did not.
    data : dict
        The SHA-256 of each data set by name, including wheels and large arrays of the code.
    runtime : str
        The runtime that the study asked for, such as ``chainer-7.8.1``.
    software : dict
        The versions of software by name, as the run whose result counts had them:
        ``hyperflock-server``, ``hyperflock-worker``, ``pyodide``, ``numpy``, ``chainer``, and
        ``optuna`` for Optuna's trials; ``runtime`` is the identifier of everything that the browser
        had loaded. Empty while there is no result.
    study_seed, seed : int
        The study's seed, and the trial's seed that follows from it.
    submitted_with : dict
        The versions of the package and of Python that submitted the study.
    attempt : int or None
        The run whose result counts, or the newest run; None if there was none.
    device, device_class, engine, backend, adapter : str or None
        Where it ran; see `TrialResult`.
    checkpoints : tuple of Saved
        The checkpoints of earlier runs on which the result is based, the newest first.
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
    """Return the provenance of a trial from its row and its study's spec, with cleaned texts."""
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
    """Return the software that computed an attempt's result; empty if it is unknown."""
    return versions_of(run.software) if isinstance(run.software, str) else {}


def versions_of(software: str) -> dict[str, str]:
    """Parse ``name/version name/version``; a name without a version gets an empty one."""
    pairs = (clean(word).partition("/") for word in software.split())
    found: dict[str, str] = {}
    for name, _, version in pairs:
        # The server writes the first word, its own version. A second word with the same name comes
        # from the device and is ignored.
        if name:
            found.setdefault(name, version)
    return found


def _lineage(run: AttemptRow | None, by_id: dict[int, AttemptRow]) -> tuple[Saved, ...]:
    found: list[Saved] = []
    while run is not None and isinstance(run.resumed_from, int):
        step = run.resumed_step if isinstance(run.resumed_step, int) else None
        found.append(Saved(run.resumed_from, step))
        before = by_id.get(run.resumed_from)
        # An attempt can continue only an older one; any other reference is ignored.
        run = before if before is not None and before.attempt < run.attempt else None
    return tuple(found)


def _text(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""
