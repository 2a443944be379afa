"""Shows studies in notebooks as small HTML tables with escaped texts. The module is pure; any
thread may use it.

The tables have no colours and no scripts, so they are readable on light and dark pages. Each has a
caption and column heads for screen readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from html import escape

from hyperflock._base.text import clean
from hyperflock._model.results import params_of
from hyperflock._reports.best import best_line, best_text, tells_best
from hyperflock._reports.estimate import estimate_text
from hyperflock._reports.held import held_state, held_text
from hyperflock._reports.stopped import stopped_text
from hyperflock._transport.messages import BestRow, SamplerRow, StudyRow

_MAX_PARAMS = 20
_MAX_STUDIES = 10
_LEFT = 'style="text-align: left"'


def study(row: StudyRow) -> str:
    """Return a study's row as HTML."""
    lines = [
        ("state", state_text(row)),
        ("trials", f"{row.done} of {row.goal} ({row.complete} complete, {row.pruned} pruned, "
                   f"{row.failed} failed), {row.running} running"),
        ("direction", ", ".join(row.aims)),
    ]  # fmt: skip
    if estimate := estimate_text(row):
        lines.append(("estimate", estimate))
    if row.rank:
        lines.append(("priority", str(row.rank)))
    if held := held_text(row):
        lines.append(("held", held))
    if stopped := stopped_text(row):
        lines.append(("paused", stopped.splitlines()[0]))
    if tells_best(row):
        lines.append(("best", best_line(row)))
    if isinstance(row.best, BestRow):
        for name, value in list(params_of(row.best.params).items())[:_MAX_PARAMS]:
            lines.append((f"best {clean(name, limit=60)}", clean(str(value), limit=60)))
    created = datetime.fromtimestamp(row.created_at / 1000, timezone.utc)
    lines.append(("submitted", f"{created:%Y-%m-%d %H:%M} UTC by {clean(row.owner, limit=60)}"))
    if (
        isinstance(row.sampler, SamplerRow)
        and not row.sampler.attached
        and state_text(row) == "running"
    ):
        lines.append(("sampler", "none now: the study waits for one"))
    cells = "".join(
        f'<tr><th scope="row" {_LEFT}>{escape(head)}</th><td {_LEFT}>{escape(text)}</td></tr>'
        for head, text in lines
    )
    share = 100 * row.done / row.goal if row.goal else 100.0
    title = escape(f"Study {row.study}: {clean(row.name, limit=120)}")
    return (
        f"<div><table>{_caption(title)}{cells}</table>"
        f'<progress max="100" value="{share:.1f}" aria-label="finished trials"></progress> '
        f"{share:.0f} %</div>"
    )


def client(url: str, rows: Sequence[StudyRow] | None, *, is_all: bool = True) -> str:
    """Return a client's newest studies as HTML; ``rows`` is None if the server does not answer.

    ``is_all`` says whether ``rows`` are all studies.
    """
    title = escape(f"Hyperflock at {clean(url, limit=200)}")
    if rows is None:
        return f"<div><strong>{title}</strong>: no answer now</div>"
    heads = "".join(
        f'<th scope="col" {_LEFT}>{head}</th>' for head in ("id", "name", "state", "done", "best")
    )
    body = "".join(_row(_cells(row)) for row in rows[:_MAX_STUDIES])
    more = len(rows) - _MAX_STUDIES
    count = f"{more}" if is_all else f"more than {more}"
    foot = f"<p>and {count} older ones: client.studies()</p>" if more > 0 else ""
    return f"<div><table>{_caption(title)}<tr>{heads}</tr>{body}</table>{foot}</div>"


def state_text(row: StudyRow) -> str:
    """Return a study's state as text for people."""
    if held := held_state(row):
        return held
    return "paused" if row.paused is True and row.state == "running" else row.state


def _cells(row: StudyRow) -> Iterable[str]:
    best = best_text(row)
    name = clean(row.name, limit=60)
    return (str(row.study), name, state_text(row), f"{row.done} of {row.goal}", best)


def _row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td {_LEFT}>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _caption(title: str) -> str:
    return f"<caption {_LEFT}><strong>{title}</strong></caption>"
