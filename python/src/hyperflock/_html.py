"""How a notebook shows a study: a small table, every text of it escaped. Pure; any thread."""

from __future__ import annotations

from datetime import datetime, timezone
from html import escape

from hyperflock._protocol import BestRow, SamplerRow, StudyRow
from hyperflock._results import params_of
from hyperflock._text import clean

_MAX_PARAMS = 20


def study(row: StudyRow) -> str:
    """Write a study's row as HTML, without scripts and without styles for the rest of the page."""
    lines = [
        ("state", row.state),
        ("trials", f"{row.done} of {row.goal} ({row.complete} complete, {row.pruned} pruned, "
                   f"{row.failed} failed), {row.running} running"),
        ("direction", ", ".join(row.aims)),
    ]  # fmt: skip
    if isinstance(row.best, BestRow):
        lines.append(("best", f"{row.best.value:.6g}, trial {row.best.trial}"))
        for name, value in list(params_of(row.best.params).items())[:_MAX_PARAMS]:
            lines.append((f"best {clean(name, limit=60)}", clean(str(value), limit=60)))
    created = datetime.fromtimestamp(row.created_at / 1000, timezone.utc)
    lines.append(("submitted", f"{created:%Y-%m-%d %H:%M} UTC by {clean(row.owner, limit=60)}"))
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(head)}</th>'
        f'<td style="text-align: left">{escape(text)}</td></tr>'
        for head, text in lines
    )
    if isinstance(row.sampler, SamplerRow) and not row.sampler.attached and row.state == "running":
        lines.append(("sampler", "none now: the study waits for one"))
    share = 100 * row.done / row.goal if row.goal else 100.0
    title = f"Study {row.study}: {clean(row.name, limit=120)}"
    return (
        f"<div><strong>{escape(title)}</strong><br/>"
        f'<progress max="100" value="{share:.1f}" aria-label="finished trials"></progress> '
        f"{share:.0f} %<table>{cells}</table></div>"
    )
