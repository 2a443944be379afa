"""Builds the tables and lines in which commands show studies, trials and devices.

If ``short`` is true, a function's text is for a terminal, and long values are cut. Otherwise the
text is for a pipe or a file, and has every value whole.

The module is pure. Text from other people and devices is cleaned here or before (_base/text.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from msgspec import UnsetType
from rich.table import Table
from rich.text import Text

from hyperflock._base.text import clean, value_text
from hyperflock._cli.columns import Fit, fitted
from hyperflock._client.artifacts import Artifact
from hyperflock._client.study import Study
from hyperflock._execution.comparison import Compared
from hyperflock._model.provenance import Provenance
from hyperflock._model.results import Attempt, TrialResult
from hyperflock._model.space import values_of
from hyperflock._reports.best import best_line, best_numbers, best_text, number_text, tells_best
from hyperflock._reports.estimate import estimate_text
from hyperflock._reports.export import study_dict
from hyperflock._reports.held import held_text
from hyperflock._reports.html import state_text
from hyperflock._reports.stopped import stopped_text
from hyperflock._reports.webhook import webhook_text
from hyperflock._transport.messages import Bounds, Dimension, SamplerRow, StudyRow, ValueRange

# The codes of errors for which the server does not believe a result.
SUSPICIONS = frozenset({"no_points", "value_out_of_range"})
# Why the server itself rejects an attempt, by its code.
SERVER_REASONS = {
    "device_fails": "its device failed several trials in a row, so the trial ran again elsewhere",
    "same_value": "its device gave this value again and again, so the trial ran again elsewhere",
}
_RIGHT = {"number", "value", "run s", "attempts", "done", "id", "study", "trial", "bytes"}
_DEVICE = ("device", "class", "engine", "state", "study", "trial")
_TRIAL = ("number", "params", "value", "run s", "attempts", "device", "note")
# The ways in which tables are shortened in a narrow terminal.
_STUDIES = Fit({"name": 20}, ("owner", "created", "failed", "best"))
_TRIALS = Fit({"params": 24, "device": 20, "note": 20}, ("attempts", "run s", "device"))
_ARTIFACTS = Fit({"name": 24}, ("type", "bytes"))
_MAX_VALUES = 20
# The number of points at a curve's end that a terminal shows.
_LAST = 20
# The number of characters of a user attribute that a terminal shows.
_MAX_ATTRIBUTE = 200


def studies(found: Sequence[Study], width: int | None = None) -> Table:
    """Return a table with one row per study; with a width, each row fits into one line."""
    short = width is not None
    names = ("id", "name", "state", "done", "failed", "best", "owner", "created")
    rows = [
        (
            str(study.id),
            study.name,
            state_text(study.row),
            f"{study.done}/{study.row.goal}",
            str(study.row.failed),
            best_text(study.row, short=short),
            study.owner,
            _day(study.row.created_at),
        )
        for study in found
    ]
    return _fitting(names, rows, width, _STUDIES)


def trials(
    found: Sequence[TrialResult], width: int | None = None, *, row: StudyRow | None = None
) -> Table:
    """Return a table with one row per finished trial; with a width, each row fits into one line.

    If the study's row is given, the table marks the best trials (with a star if there is a width)
    and the trials that do not meet their constraints.
    """
    best = frozenset() if row is None else best_numbers(row)
    rows = [_cells(trial, short=width is not None, best=best) for trial in found]
    return _fitting(_TRIAL, rows, width, _TRIALS)


def artifacts(found: Sequence[Artifact], width: int | None = None) -> Table:
    """Return a table with one row per uploaded file; with a width, each row fits into one line."""
    short = width is not None
    rows = [
        (
            str(one.trial),
            _cut(one.name, 60, short),
            f"{one.bytes:,}",
            _cut(one.type, 40, short),
            one.id,
        )
        for one in found
    ]
    return _fitting(("trial", "name", "bytes", "type", "artifact"), rows, width, _ARTIFACTS)


def devices(found: Sequence[Mapping[str, Any]], *, short: bool = False) -> Table:
    """Return a table with one row per connected device."""
    table = _table(*_DEVICE)
    for row in found:
        _add(table, *(_cut(str(row.get(name, "-")), 60, short) for name in _DEVICE))
    return table


def tokens(found: Sequence[Mapping[str, Any]], *, short: bool = False) -> Table:
    """Return a table with one row per token."""
    table = _table("id", "name", "made", "state")
    for row in found:
        ends = row.get("expires_at")
        state = "in use" if row.get("current") else "open"
        if row.get("revoked_at"):
            state = "ended"
        elif isinstance(ends, int):
            state = f"{state}, until {_day(ends)}"
        made = row.get("created_at")
        name = _cut(str(row.get("name", "-")), 60, short)
        _add(table, str(row.get("token")), name, _day(made) if made else "-", state)
    return table


def _day(milliseconds: int) -> str:
    when = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def study_lines(study: Study, *, short: bool = False) -> list[tuple[str, str]]:
    """Return the details of a study as names and texts."""
    row = study.row
    told = study_dict(row)
    counts = f"{row.complete} complete, {row.pruned} pruned, {row.failed} failed"
    best = told["best"]
    lines = [
        ("study", f"{study.id} '{study.name}'"),
        ("state", state_text(row)),
        ("trials", f"{study.done} of {row.goal} done ({counts}), {row.running} running"),
    ]
    if estimate := estimate_text(row):
        lines.append(("estimate", estimate))
    lines += [
        ("attempts", str(row.attempts)),
        ("direction", ", ".join(row.aims)),
        ("runtime", study.runtime),
        ("seed", str(row.seed)),
        ("entry", told["entry"]),
        ("submitted", f"{told['created_at']} by {study.owner}"),
    ]
    if row.rank:
        lines.append(("priority", str(row.rank)))
    if row.code_count > 1:
        lines.append(("code", f"version {row.code_count}"))
    if row.kind == "asked":
        lines.append(("sampler", sampler_text(row, short=short)))
    elif row.kind:
        lines.append(("kind", row.kind))
    if told["backend"]:
        lines.append(("backend", told["backend"]))
    if row.value_range:
        lines.append(("value range", ", ".join(_range_text(one) for one in row.value_range)))
    for name, value in told["requires"].items():
        lines.append((f"requires {name}", str(value)))
    if told["finished_at"]:
        lines.append(("ended", told["finished_at"]))
    if row.held:
        lines.append(("held", held_text(row)))
    if told["stopped_by"]:
        lines.append(("paused by", stopped_text(row)))
    if row.webhook:
        lines.append(("webhook", webhook_text(row)))
    if tells_best(row):
        lines.append(("best", best_line(row, short=short)))
    if best:
        lines.append(("best point", params_text(best["params"], short=short)))
    for dimension in row.space:
        text = "one of each point" if row.kind == "points" else _values_text(dimension, short)
        lines.append((f"space {_cut(dimension.name, 40, short)}", text))
    return lines


def _range_text(bounds: Bounds) -> str:
    low = "-inf" if isinstance(bounds.low, UnsetType) else number_text(bounds.low)
    high = "inf" if isinstance(bounds.high, UnsetType) else number_text(bounds.high)
    return f"{low} to {high}"


def sampler_text(row: StudyRow, *, short: bool = False) -> str:
    """Return a text about the sampler of an ask-and-tell study."""
    is_over = row.state != "running"
    if not isinstance(row.sampler, SamplerRow):
        return "none" if is_over else "none so far"
    label = _cut(row.sampler.label, 60, short)
    if row.sampler.attached:
        return label
    if is_over:
        return f"none now, was {label}"
    waits = "needs one once it is resumed" if row.paused is True else "waits for one"
    return f"none now, was {label}: the study {waits}"


def trial_lines(trial: TrialResult, *, short: bool = False) -> list[tuple[str, str]]:
    """Return the details of a trial as names and texts."""

    def number(value: float) -> str:
        return number_text(value, short=short)

    lines = [
        ("trial", str(trial.number)),
        ("state", trial.state),
        ("params", params_text(trial.params, short=short)),
        ("seed", str(trial.seed)),
    ]
    if trial.values:
        lines.append(("value", ", ".join(map(number, trial.values))))
    for name, value in trial.constraints.items():
        lines.append((f"constraint {_cut(name, 40, short)}", number(value)))
    points = (trial.points or ())[-_LAST if short else 0 :]
    lines += [(f"step {step}", number(value)) for step, value in points]
    for name, value in trial.summary.items():
        pairs = (trial.series or {}).get(name, ())
        steps = f", {len(pairs)} values to step {pairs[-1][0]}" if pairs else ""
        lines.append((f"summary {_cut(name, 40, short)}", f"{number(value)}{steps}"))
    for name, told in trial.user_attrs.items():
        shown = _cut(json.dumps(told, ensure_ascii=False), _MAX_ATTRIBUTE, short)
        lines.append((f"attribute {_cut(name, 40, short)}", shown))
    return lines


def _computed_on(run: Attempt) -> str:
    """Return the back end that an attempt used, and its graphics adapter if it used one."""
    return f"{run.backend} on {run.adapter}" if run.adapter else run.backend


def provenance_lines(told: Provenance) -> list[tuple[str, str]]:
    """Return a result's provenance as names and texts."""
    lines = [
        ("code", f"{told.code_sha256} {told.entry}"),
        *((f"data {name}", sha256) for name, sha256 in told.data.items()),
        ("runtime", told.runtime),
        ("seeds", f"{told.study_seed} of the study, {told.seed} of the trial"),
    ]
    if told.attempt is not None:
        device = filter(None, (told.device, told.device_class, told.engine))
        ran = " on ".join(filter(None, (told.backend, told.adapter)))
        lines.append(("computed by", f"attempt {told.attempt}, {' '.join(device)}, {ran}"))
    if told.software:
        lines.append(("software", versions_text(told.software)))
    if told.submitted_with:
        lines.append(("submitted with", versions_text(told.submitted_with)))
    for saved in told.checkpoints:
        step = "before its first step" if saved.step is None else f"after step {saved.step}"
        lines.append(("goes on from", f"attempt {saved.attempt}, {step}"))
    return lines


def versions_text(versions: Mapping[str, str]) -> str:
    """Return names and versions as text for people."""
    return clean(" ".join(f"{name} {version}" for name, version in versions.items())) or "-"


def replayed(found: Sequence[Compared], *, short: bool = False) -> Table:
    """Return a table of compared items. With ``short``, a long curve has only its last step and the
    steps with the largest differences.
    """
    steps = [one for one in found if one.what.startswith("step ")]
    hidden: set[str] = set()
    if short and len(steps) > _LAST:
        by_difference = sorted(steps[:-1], key=_how_different)
        hidden = {one.what for one in by_difference[: len(steps) - _LAST]}
    table = _table("", "recorded", "here", "difference", "")
    for one in found:
        if one.what not in hidden:
            difference = "" if one.difference is None else _difference(one.difference, short)
            mark = "" if one.same else "differs"
            told = (_told(value, short) for value in (one.recorded, one.here))
            _add(table, one.what, *told, difference, mark)
    if hidden:
        _add(table, f"{len(hidden)} more steps", "", "", "none of them differs more", "")
    return table


def _how_different(one: Compared) -> float:
    return one.difference if one.difference is not None else math.inf


def _difference(value: float, short: bool) -> str:
    return f"{value:.2g}" if short else repr(value)


def _told(value: str | float | None, short: bool) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else number_text(value, short=short)


def attempt_texts(trial: TrialResult) -> list[str]:
    """Return texts of all runs of a trial, each with its error's traceback below."""
    texts = []
    for run in trial.attempt_list or ():
        device = f"{run.device} ({run.device_class}, {run.engine}, {_computed_on(run)})"
        state = "suspect" if run.error and run.error.code in SUSPICIONS else run.state
        text = f"attempt {run.id} {state} on {device}, {run.run_s:.1f} s"
        if run.code_version > 1:
            text += f", version {run.code_version} of the code"
        if run.rejection:
            reason = run.rejection.reason
            if not run.rejection.by:
                reason = SERVER_REASONS.get(reason, reason)
            why = f": {reason}" if reason else ""
            who = run.rejection.by or "the server"
            text += f"\n  rejected by {who} at {run.rejection.at:%Y-%m-%d %H:%M}{why}"
        if run.error:
            text += f"\n  [{run.error.code}] {run.error.message}"
            text += "".join(f"\n  {line}" for line in run.error.traceback.splitlines())
        texts.append(text)
    return texts


class Lines:
    """A table of a watched study, printed row by row, with columns for its parameters."""

    def __init__(self, study: Study, *, short: bool = False) -> None:
        self._short = short
        widest = sum(
            len(clean(d.name)) + 2 + max((len(_shown(v, True)) for v in values_of(d)), default=12)
            for d in study.row.space
        )
        if study.row.kind == "asked":  # its parameters are not known beforehand
            widest = 40
        # A number with all of its digits takes up to 24 characters.
        self._widths = (6, min(60, max(6, widest)), 10 if short else 24, 7, 8)

    def head(self) -> str:
        """Return the names of the columns."""
        return self._line(_TRIAL)

    def of(self, trial: TrialResult) -> str:
        """Return the row of a trial."""
        return self._line(_cells(trial, short=self._short))

    def _line(self, cells: Sequence[str]) -> str:
        number, params, value, run_s, attempts, *rest = cells
        w = self._widths
        head = f"{number:>{w[0]}}  {params:<{w[1]}}  {value:>{w[2]}}  {run_s:>{w[3]}}"
        return "  ".join([head, f"{attempts:>{w[4]}}", *rest]).rstrip()


def params_text(params: Mapping[str, Any], *, short: bool = False) -> str:
    """Return parameters as text for people."""
    return " ".join(f"{clean(name)}={_shown(value, short)}" for name, value in params.items())


def _shown(value: Any, short: bool) -> str:
    return value_text(value, limit=40 if short else None)


def _cut(text: str, limit: int, short: bool) -> str:
    return clean(text, limit=limit if short else None)


def _values_text(dimension: Dimension, short: bool) -> str:
    """Return a name's values, or its range, as text for people."""
    if isinstance(numbers := dimension.range, ValueRange):
        kind = "integer" if numbers.integer else "uniform"
        low, high = (number_text(end, short=short) for end in (numbers.low, numbers.high))
        step = ""
        if isinstance(numbers.step, float):
            step = f", step {number_text(numbers.step, short=short)}"
        return f"{kind} {low} to {high}{', log' * numbers.log}{step}"
    values = values_of(dimension)
    if not short or len(values) <= _MAX_VALUES:
        return ", ".join(_shown(value, short) for value in values)
    shown = ", ".join(_shown(value, short) for value in values[:_MAX_VALUES])
    return f"{shown}, ... ({len(values)})"


def _cells(
    trial: TrialResult, *, short: bool, best: Container[int] = frozenset()
) -> tuple[str, ...]:
    told = (trial.device_class, trial.engine)
    device = " ".join(filter(None, told if short else (trial.device, *told, trial.backend)))
    star = "*" if short and trial.number in best else ""
    return (
        f"{trial.number}{star}",
        params_text(trial.params, short=short),
        ", ".join(number_text(value, short=short) for value in trial.values) or trial.state,
        f"{trial.run_s:.1f}",
        str(trial.attempts),
        _cut(device, 60, short) or "-",
        _note(trial, short=short, is_best=trial.number in best),
    )


def _note(trial: TrialResult, *, short: bool, is_best: bool) -> str:
    if trial.error:
        return f"[{trial.error.code}] {_cut(trial.error.message, 80, short)}"
    if is_best and not short:  # otherwise a star says it
        return "best"
    return "" if trial.is_feasible else "does not meet its constraints"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, justify="right" if name in _RIGHT else "left", overflow="fold")
    return table


def _fitting(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, fit: Fit
) -> Table:
    """Return a table of full texts, or one that fits into a width."""
    if width is not None:
        names, rows = fitted(names, rows, width, fit)
    table = _table(*names)
    for row in rows:
        _add(table, *row)
    return table


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(Text(cell) for cell in cells))
