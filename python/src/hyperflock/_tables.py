"""How the command shows studies and trials: tables, lines, CSV rows.

Pure. What other people and their devices wrote is cleaned here or before (_text.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from rich.table import Table
from rich.text import Text

from hyperflock._grid import Scalar
from hyperflock._protocol import BestRow
from hyperflock._results import TrialResult
from hyperflock._study import Study
from hyperflock._text import clean, csv_cell

_RIGHT = {"number", "value", "run s", "attempts", "done", "id"}


def studies(found: Sequence[Study]) -> Table:
    """One row per study."""
    table = _table("id", "name", "state", "done", "failed", "best", "owner", "created")
    for study in found:
        row = study.row
        done = row.complete + row.pruned + row.failed
        best = f"{row.best.value:.6g}" if isinstance(row.best, BestRow) else "-"
        created = datetime.fromtimestamp(row.created_at / 1000, timezone.utc)
        _add(
            table,
            str(study.id),
            study.name,
            row.state,
            f"{done}/{row.total}",
            str(row.failed),
            best,
            study.owner,
            created.astimezone().strftime("%Y-%m-%d %H:%M"),
        )
    return table


def study_dict(study: Study) -> dict[str, Any]:
    """One study for JSON."""
    row = study.row
    best = row.best if isinstance(row.best, BestRow) else None
    return {
        "id": study.id,
        "name": study.name,
        "owner": study.owner,
        "state": row.state,
        "direction": row.direction,
        "total": row.total,
        "complete": row.complete,
        "pruned": row.pruned,
        "failed": row.failed,
        "running": row.running,
        "attempts": row.attempts,
        "best": best
        and {"trial": best.trial, "value": best.value, "params": json.loads(best.params)},
        "created_at": datetime.fromtimestamp(row.created_at / 1000, timezone.utc).isoformat(),
    }


def trials(study: Study, found: Sequence[TrialResult]) -> Table:
    """One row per finished trial."""
    table = _table("number", "params", "value", "run s", "attempts", "device", "note")
    for trial in found:
        _add(table, *_cells(trial))
    return table


class Lines:
    """The rows of a watched study, one at a time, in columns that fit its space."""

    def __init__(self, study: Study) -> None:
        widest = sum(
            len(clean(d.name)) + 2 + max(len(_scalar(v)) for v in d.values) for d in study.row.space
        )
        self._widths = (6, min(60, max(6, widest)), 10, 7, 8)

    def head(self) -> str:
        """Names of the columns."""
        return self._line(("number", "params", "value", "run s", "attempts", "device", "note"))

    def of(self, trial: TrialResult) -> str:
        """One trial."""
        return self._line(_cells(trial))

    def _line(self, cells: Sequence[str]) -> str:
        number, params, value, run_s, attempts, *rest = cells
        w = self._widths
        head = f"{number:>{w[0]}}  {params:<{w[1]}}  {value:>{w[2]}}  {run_s:>{w[3]}}"
        return "  ".join([head, f"{attempts:>{w[4]}}", *rest]).rstrip()


def csv_rows(study: Study, found: Sequence[TrialResult]) -> Iterator[list[Any]]:
    """A head and one row per trial; a column for each parameter."""
    names = [dimension.name for dimension in study.row.space]
    fixed = ("number", "state", "value", "seed", "run_s", "load_s", "attempts")
    texts = ("device", "device_class", "engine", "backend")
    yield [*fixed, *texts, "error", *(csv_cell(f"params_{name}") for name in names)]
    for trial in found:
        yield [
            *("" if getattr(trial, name) is None else getattr(trial, name) for name in fixed),
            *(csv_cell(getattr(trial, name) or "") for name in texts),
            csv_cell(trial.error.message) if trial.error else "",
            *(_csv_value(trial.params.get(name)) for name in names),
        ]


def params_text(params: Mapping[str, Scalar]) -> str:
    """Parameters for people."""
    return " ".join(f"{clean(name)}={_scalar(value)}" for name, value in params.items())


def _scalar(value: Scalar) -> str:
    return clean(value, limit=40) if isinstance(value, str) else str(value)


def _csv_value(value: Scalar) -> Any:
    if value is None:
        return ""
    return csv_cell(value) if isinstance(value, str) else value


def _cells(trial: TrialResult) -> tuple[str, ...]:
    device = " ".join(filter(None, (trial.device, trial.device_class, trial.engine, trial.backend)))
    return (
        str(trial.number),
        params_text(trial.params),
        trial.state if trial.value is None else f"{trial.value:.6g}",
        f"{trial.run_s:.1f}",
        str(trial.attempts),
        clean(device, limit=60) or "-",
        f"[{trial.error.code}] {clean(trial.error.message, limit=80)}" if trial.error else "",
    )


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, justify="right" if name in _RIGHT else "left", overflow="fold")
    return table


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(Text(cell) for cell in cells))
