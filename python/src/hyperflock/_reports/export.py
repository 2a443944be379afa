"""Writes a study's finished trials as CSV, JSON, JSON lines or a pandas table.

    text("csv", study.row, study.trials)
    frame(study.row, study.trials)

CSV is for spreadsheets: a text that looks like a formula gets an apostrophe in front, and None is
an empty cell. JSON keeps every value and its type. Parquet is in parquet.py. Only `write` writes
files. Any thread may use the module.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import UnsetType, to_builtins

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean, csv_cell
from hyperflock._model.results import TrialResult, params_of, space_of, trial_error
from hyperflock._model.space import values_of
from hyperflock._reports.estimate import estimate_dict
from hyperflock._transport.messages import BestRow, Dimension, StopRow, StudyRow, ValueRange

if TYPE_CHECKING:
    import pandas

TextFormat = Literal["csv", "json", "jsonl"]
Format = Literal["csv", "json", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "json", "jsonl", "parquet")

# Columns and their dtypes. A parameter's dtype follows from its values in the space.
_HEAD = (("number", "int64"), ("state", "str"), ("value", "float64"))
_MIDDLE = (
    ("seed", "int64"),
    ("run_s", "float64"),
    ("load_s", "float64"),
    ("attempts", "int64"),
    ("device", "str"),
    ("device_class", "str"),
    ("engine", "str"),
    ("backend", "str"),
    ("adapter", "str"),
    ("started_at", "datetime64[ns, UTC]"),
    ("finished_at", "datetime64[ns, UTC]"),
    ("error_code", "str"),
    ("error", "str"),
)


def text(
    format: TextFormat, study: StudyRow, trials: Sequence[TrialResult], *, series: bool = False
) -> str:
    """Return the trials as text; see `Study.export`.

    Raises
    ------
    HyperflockError
        ``bad_format``: there is no such format.
    """
    if format == "csv":
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows(csv_rows(study, trials, series=series))
        return file.getvalue()
    if format == "json":
        told = {"study": study_dict(study), "trials": [trial.as_dict() for trial in trials]}
        return json.dumps(told, indent=2, allow_nan=False) + "\n"
    if format == "jsonl":
        return "".join(json.dumps(trial.as_dict(), allow_nan=False) + "\n" for trial in trials)
    raise HyperflockError(
        f"there is no format {format!r}; take one of {', '.join(FORMATS)}", code="bad_format"
    )


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    HyperflockError
        ``cannot_write``.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}-")
        try:
            with open(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            # Set the permissions of a usual new file. Those of a temporary file are stricter.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise HyperflockError(
            f"'{path}' cannot be written: {error.strerror or error}", code="cannot_write"
        ) from None


def csv_rows(
    study: StudyRow, trials: Sequence[TrialResult], *, series: bool = False
) -> Iterator[list[Any]]:
    """Return a row of names and one row per trial; with ``series``, one per trial and step."""
    columns = list(series_columns(trials) if series else columns_of(study, trials))
    yield [csv_cell(name) for name, _, _ in columns]
    for row in zip(*(values for _, _, values in columns), strict=True):
        yield [_csv_value(value) for value in row]


def _stop(stop: StopRow | UnsetType) -> dict[str, Any] | None:
    if not isinstance(stop, StopRow):
        return None
    error = dataclasses.asdict(trial_error(stop.error))
    return {"trial": stop.trial, "failures": stop.failures, "error": error}


def study_dict(row: StudyRow) -> dict[str, Any]:
    """Return a study's main properties as plain values for JSON."""
    best = row.best if isinstance(row.best, BestRow) else None
    finished = row.finished_at if isinstance(row.finished_at, int) else 0
    return {
        "id": row.study,
        "name": clean(row.name),
        "owner": clean(row.owner),
        "project": clean(row.project),
        "state": row.state,
        "paused": bool(row.paused),
        "stopped_by": _stop(row.stopped_by),
        "held": to_builtins(row.held) if row.held else None,
        "priority": row.rank,
        "kind": row.kind or "grid",
        "direction": row.direction,
        "directions": row.aims,
        "total": row.total,
        "goal": row.goal,
        "sampler": to_builtins(row.sampler) if row.sampler else None,
        "complete": row.complete,
        "pruned": row.pruned,
        "failed": row.failed,
        "running": row.running,
        "attempts": row.attempts,
        "estimate": estimate_dict(row),
        "best": best
        and {"trial": best.trial, "value": best.value, "params": params_of(best.params)},
        "best_trials": row.best_trials if isinstance(row.best_trials, list) else None,
        "webhook": to_builtins(row.webhook) if row.webhook else None,
        "space": {d.name: to_builtins(d.range) if d.range else values_of(d) for d in row.space},
        "seed": row.seed,
        "runtime": clean(row.runtime_name),
        "backend": row.runtime.backend or None,
        "requires": to_builtins(row.requires) if row.requires else {},
        "entry": clean(row.entry),
        "bundle_sha256": row.bundle.sha256,
        "code_version": row.code_count,
        "created_at": _iso(row.created_at),
        "finished_at": _iso(finished) if finished else None,
    }


def frame(
    study: StudyRow, trials: Sequence[TrialResult], *, series: bool = False
) -> pandas.DataFrame:
    """Return a pandas table; see `Study.to_pandas`.

    Raises
    ------
    HyperflockError
        ``no_pandas``: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise HyperflockError(
            "pandas is not installed; 'pip install pandas' brings it, and "
            "export('csv') needs nothing",
            code="no_pandas",
        ) from None
    # Before pandas 3, the dtype of texts turned a missing value into the text "None".
    text_dtype = "object" if pandas.__version__.startswith(("1.", "2.")) else "str"
    table = {}
    for name, dtype, values in series_columns(trials) if series else columns_of(study, trials):
        if dtype == "datetime64[ns, UTC]":
            table[name] = pandas.Series(pandas.to_datetime(values, utc=True)).astype(dtype)
        else:
            table[name] = pandas.Series(values, dtype=text_dtype if dtype == "str" else dtype)
    return pandas.DataFrame(table)


@dataclass(frozen=True)
class _Column:
    """A column of the table: its name, its dtype, and its value for a trial."""

    name: str
    dtype: str
    of: Callable[[TrialResult], Any]


def columns_of(
    study: StudyRow, trials: Sequence[TrialResult]
) -> Iterator[tuple[str, str, list[Any]]]:
    """Return each column's name, dtype and values; the values have Python's own types."""
    for column in _columns(study, trials):
        yield column.name, column.dtype, [column.of(trial) for trial in trials]


def series_columns(trials: Sequence[TrialResult]) -> Iterator[tuple[str, str, list[Any]]]:
    """Return the columns of the logged series, with one row for each trial and step.

    They are ``number``, ``step`` and one for each series. A missing value is None.
    """
    rows: dict[tuple[int, int], dict[str, float]] = {}
    for trial in trials:
        steps = sorted({step for pairs in (trial.series or {}).values() for step, _ in pairs})
        rows.update({(trial.number, step): {} for step in steps})
        for name, pairs in (trial.series or {}).items():
            for step, value in pairs:
                rows[trial.number, step][name] = value
    yield "number", "int64", [number for number, _ in rows]
    yield "step", "int64", [step for _, step in rows]
    for name in _names_in(trial.series or {} for trial in trials):
        yield name, "float64", [values.get(name) for values in rows.values()]


def _columns(study: StudyRow, trials: Sequence[TrialResult]) -> list[_Column]:
    several = max((len(trial.values) for trial in trials), default=0)
    values = [_Column(f"value_{i}", "float64", _further_value(i)) for i in range(1, several)]
    params = [
        _Column(f"params_{d.name}", _dtype(d), _entry("params", d.name))
        for d in space_of(study, trials)
    ]
    summary = [
        _Column(f"summary_{name}", "float64", _entry("summary", name))
        for name in _names_in(trial.summary for trial in trials)
    ]
    attributes = [
        _Column(f"user_attrs_{name}", _dtype_of_attribute(name, trials), _entry("user_attrs", name))
        for name in _names_in(trial.user_attrs for trial in trials)
    ]
    head = [_Column(name, dtype, attrgetter(name)) for name, dtype in _HEAD]
    if study.code_count > 1:
        head.append(_Column("code_version", "int64", attrgetter("code_version")))
    middle = [_Column(name, dtype, _ERRORS.get(name, attrgetter(name))) for name, dtype in _MIDDLE]
    return [*head, *values, *middle, *params, *summary, *attributes]


_ERRORS: dict[str, Callable[[TrialResult], Any]] = {
    "error_code": lambda trial: trial.error and trial.error.code,
    "error": lambda trial: trial.error and trial.error.message,
}


def _further_value(index: int) -> Callable[[TrialResult], Any]:
    return lambda trial: trial.values[index] if index < len(trial.values) else None


def _entry(table: str, name: str) -> Callable[[TrialResult], Any]:
    return lambda trial: getattr(trial, table).get(name)


def _names_in(tables: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names that occur in any of the tables, in the order of their first use."""
    return list(dict.fromkeys(name for table in tables for name in table))


def _dtype_of_attribute(name: str, trials: Sequence[TrialResult]) -> str:
    """Return the dtype for a user attribute, as for a parameter with the same values."""
    return _dtype(Dimension(name, [trial.user_attrs.get(name) for trial in trials]))


def _dtype(dimension: Dimension) -> str:
    """Return the dtype for a parameter with these values, or with this range."""
    if isinstance(dimension.range, ValueRange):
        return "int64" if dimension.range.integer else "float64"
    kinds = {type(value) for value in dimension.values}
    missing = type(None) in kinds
    kinds.discard(type(None))
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in dimension.values):
        return "object"  # integers of an ask-and-tell study may have any length
    if kinds == {bool}:
        return "boolean" if missing else "bool"
    if kinds == {int}:
        return "Int64" if missing else "int64"
    if kinds in ({float}, {int, float}):
        return "float64"
    if kinds == {str}:
        return "str"
    return "object"


def _csv_value(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        value = str(value)
    return csv_cell(value) if isinstance(value, str) else value


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat()
