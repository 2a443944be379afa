"""Writes a study's finished trials as CSV, JSON, JSON lines or a pandas table.

    text("csv", study.row, study.trials)
    frame(study.row, study.trials)

CSV is for spreadsheets: a text that looks like a formula gets an apostrophe in front, and None is
an empty cell. JSON keeps every value and its type. Parquet is in parquet.py. Only `write` touches
files; any thread.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import to_builtins

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean, csv_cell
from hyperflock._model.grid import Scalar
from hyperflock._model.results import TrialResult, params_of, space_of
from hyperflock._transport.messages import BestRow, Dimension, StudyRow

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


def text(format: TextFormat, study: StudyRow, trials: Sequence[TrialResult]) -> str:
    """Return the trials as text; see `Study.export`.

    Raises
    ------
    HyperflockError
        ``bad_format``: there is no such format.
    """
    if format == "csv":
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows(csv_rows(study, trials))
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
            # The mode of a usual new file; a temporary file's mode is stricter.
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


def csv_rows(study: StudyRow, trials: Sequence[TrialResult]) -> Iterator[list[Any]]:
    """Return a row of names and one row per trial, with a column for each parameter."""
    heads = _heads(study, trials)
    names = [d.name for d in space_of(study, trials)]
    yield [csv_cell(name) for name, _ in heads]
    for trial in trials:
        yield [_csv_value(value) for value in _values(names, trial, len(heads))]


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
        "best": best
        and {"trial": best.trial, "value": best.value, "params": params_of(best.params)},
        "space": {dimension.name: dimension.values for dimension in row.space},
        "seed": row.seed,
        "runtime": clean(row.runtime_name),
        "backend": row.runtime.backend or None,
        "requires": to_builtins(row.requires) if row.requires else {},
        "entry": clean(row.entry),
        "bundle_sha256": row.bundle.sha256,
        "created_at": _iso(row.created_at),
        "finished_at": _iso(finished) if finished else None,
    }


def frame(study: StudyRow, trials: Sequence[TrialResult]) -> pandas.DataFrame:
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
    for name, dtype, values in columns_of(study, trials):
        if dtype == "datetime64[ns, UTC]":
            table[name] = pandas.Series(pandas.to_datetime(values, utc=True)).astype(dtype)
        else:
            table[name] = pandas.Series(values, dtype=text_dtype if dtype == "str" else dtype)
    return pandas.DataFrame(table)


def columns_of(
    study: StudyRow, trials: Sequence[TrialResult]
) -> Iterator[tuple[str, str, list[Any]]]:
    """Return each column's name, dtype and values; the values have Python's own types."""
    heads = _heads(study, trials)
    names = [d.name for d in space_of(study, trials)]
    rows = [_values(names, trial, len(heads)) for trial in trials]
    for index, (name, dtype) in enumerate(heads):
        yield name, dtype, [row[index] for row in rows]


def _heads(study: StudyRow, trials: Sequence[TrialResult]) -> list[tuple[str, str]]:
    """Return the name and dtype of every column."""
    several = max((len(trial.values) for trial in trials), default=0)
    more = [(f"value_{index}", "float64") for index in range(1, several)]
    params = [(f"params_{d.name}", _dtype(d)) for d in space_of(study, trials)]
    return [*_HEAD, *more, *_MIDDLE, *params]


def _values(names: Sequence[str], trial: TrialResult, width: int) -> list[Any]:
    """Return one trial's row; the last columns are the parameters with these names."""
    error = trial.error
    more: list[Any] = list(trial.values[1:])
    more += [None] * (width - len(_HEAD) - len(_MIDDLE) - len(names) - len(more))
    told = {"error_code": error and error.code, "error": error and error.message}
    return [
        *(getattr(trial, name) for name, _ in _HEAD),
        *more,
        *(told[name] if name in told else getattr(trial, name) for name, _ in _MIDDLE),
        *(trial.params.get(name) for name in names),
    ]


def _dtype(dimension: Dimension) -> str:
    """Return the dtype for a parameter. It depends only on the space, so it never changes."""
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


def _csv_value(value: Scalar | datetime) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    return csv_cell(value) if isinstance(value, str) else value


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat()
