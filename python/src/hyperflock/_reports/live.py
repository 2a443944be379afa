"""Shows a running study as one picture that changes in place: `Study.display`.

    screen = screen_here()
    screen.show(View(row, trials, ...))      # again and again; only a change is drawn

In a notebook a screen is one output below the cell, made of HTML without scripts. It is complete in
itself, so it stays readable when the kernel has ended. Elsewhere a screen prints one line for each
change. All texts are escaped. A screen belongs to one thread.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, ClassVar

from hyperflock._base.text import clean, value_text
from hyperflock._model.results import TrialResult
from hyperflock._reports import curves as _curves
from hyperflock._reports.best import best_line, best_numbers, number_text, tells_best
from hyperflock._reports.curves import Curve
from hyperflock._reports.html import state_text
from hyperflock._transport.messages import BestRow, StudyRow

# A table has at most this many rows, so that a notebook's page stays short.
_MAX_ROWS = 8
_MAX_PARAMS = 12
_STYLE = "max-width: 46em; font-family: sans-serif; line-height: 1.45"
_CELL = 'style="text-align: left; padding: 0 1em 0 0; vertical-align: top"'


@dataclass(frozen=True)
class View:
    """What a screen shows.

    Attributes
    ----------
    row
        The study.
    trials
        Its finished trials.
    running
        Its running trials, with their curves so far.
    best
        The best trial of a study with one direction, with its curve, as it was fetched last.
    devices
        A text about the connected devices; empty if it is not known.
    note
        Why nothing runs, or how to go on; empty if there is nothing to say.
    """

    row: StudyRow
    trials: Sequence[TrialResult] = ()
    running: Sequence[TrialResult] = ()
    best: TrialResult | None = None
    devices: str = ""
    note: str = ""


class Screen(ABC):
    """Where a view is shown.

    Attributes
    ----------
    needs_trials : bool
        Whether it shows trials, devices and curves. Otherwise it shows the row and the note only.
    """

    needs_trials: ClassVar[bool]

    @abstractmethod
    def show(self, view: View) -> None:
        """Show a view, if it looks different from the one before."""


class Notebook(Screen):
    """One output of a notebook's cell, which each view replaces."""

    needs_trials = True

    def __init__(self) -> None:
        self._handle: Any = None
        self._last = ""

    def show(self, view: View) -> None:
        """Show a view, if it looks different from the one before."""
        drawn = html(view)
        if drawn == self._last:
            return
        self._last = drawn
        data = {"text/html": drawn, "text/plain": line(view)}
        if self._handle is None:
            display: Any = import_module("IPython.display").display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class Terminal(Screen):
    """Standard output, with a line for each change."""

    needs_trials = False

    def __init__(self) -> None:
        self._last = ""

    def show(self, view: View) -> None:
        """Print the view's line, if it differs from the last printed line."""
        text = line(view)
        if text != self._last:
            self._last = text
            print(text, flush=True)


def screen_here() -> Screen:
    """Return the notebook's screen if this process is a kernel, otherwise the terminal's."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return Notebook() if getattr(shell, "kernel", None) is not None else Terminal()


def line(view: View) -> str:
    """Return a view as one line."""
    row = view.row
    parts = [f"{row.done} of {row.goal} trials"]
    if row.failed:
        parts.append(f"{row.failed} failed")
    if row.state == "running":
        parts.append(f"{row.running} running")
    if tells_best(row):
        parts.append(f"best {best_line(row)}")
    text = f"study {row.study} {clean(row.name)}: {state_text(row)}, {', '.join(parts)}"
    return f"{text}; {clean(view.note.splitlines()[0])}" if view.note else text


def html(view: View) -> str:
    """Return a view as HTML."""
    row = view.row
    title = f"Study {row.study}: {clean(row.name, limit=120)}"
    counts = (
        f"{row.done} of {row.goal} trials finished ({row.complete} complete, {row.pruned} pruned, "
        f"{row.failed} failed), {row.running} running"
    )
    goal = max(row.goal, row.done, 1)
    numbers = best_numbers(row)
    best = [trial for trial in view.trials if trial.number in numbers]
    parts = [
        f"<div><strong>{escape(title)}</strong>, {escape(state_text(row))}</div>",
        f'<progress max="{goal}" value="{row.done}" aria-label="finished trials" '
        'style="width: 100%"></progress>',
        f"<div>{escape(counts)}</div>",
        _best(view, best),
    ]
    if view.devices and row.state == "running":
        parts.append(f"<div>Devices: {escape(clean(view.devices, limit=200))}</div>")
    if view.running and row.state == "running":
        parts.append(_running(view))
    if view.note:
        lines = "<br>".join(escape(clean(one, limit=300)) for one in view.note.splitlines())
        parts.append(f'<div role="status"><strong>{lines}</strong></div>')
    parts.append(_curves.learning(_shown_curves(view, best), "learning curves"))
    if len(row.aims) == 1:
        parts.append(_curves.history(row, view.trials))
    else:
        parts.append(_curves.front(row, view.trials, numbers))
    return f'<div style="{_STYLE}">{"".join(filter(None, parts))}</div>'


def _best(view: View, best: Sequence[TrialResult]) -> str:
    """Return the best trial with its parameters, the table of the best ones, or why there are none
    if the study has ended.
    """
    row = view.row
    if len(row.aims) > 1 and best:
        names = [f"value {place} ({aim})" for place, aim in enumerate(row.aims)]
        rows = [
            (str(trial.number), *(number_text(v) for v in trial.values), _params(trial))
            for trial in best[:_MAX_ROWS]
        ]
        more = len(best) - _MAX_ROWS
        caption = f"{len(best)} best trials: no other trial beats them"
        foot = f"<div>and {more} more: study.best_trials</div>" if more > 0 else ""
        return _table(caption, ("trial", *names, "parameters"), rows) + foot
    if isinstance(row.best, BestRow):
        text = best_line(row)
        if best:
            text += f": {_params(best[0])}"
            if best[0].constraints:
                met = ", ".join(
                    f"{clean(name, limit=40)} {number_text(value)}"
                    for name, value in best[0].constraints.items()
                )
                text += f"; meets its constraints ({met})"
        return f"<div>Best: <strong>{escape(text)}</strong></div>"
    if tells_best(row):
        return f"<div>Best: {escape(best_line(row))}</div>"
    return ""


def _running(view: View) -> str:
    """Return the table of running trials."""
    rows = []
    for trial in view.running[:_MAX_ROWS]:
        where = " ".join(filter(None, (trial.device_class, trial.engine, trial.backend)))
        last = ""
        if trial.points:
            step, value = trial.points[-1]
            last = f"{number_text(value)} at step {step}"
        rows.append((str(trial.number), _params(trial), clean(where, limit=60), last))
    more = len(view.running) - _MAX_ROWS
    foot = f"<div>and {more} more</div>" if more > 0 else ""
    head = ("trial", "parameters", "device", "last value")
    return _table("Running trials", head, rows) + foot


def _shown_curves(view: View, best: Sequence[TrialResult]) -> list[Curve]:
    found = []
    drawn = view.best
    # The fetched trial may not be the best any more.
    if drawn and drawn.points and any(trial.number == drawn.number for trial in best):
        found.append(Curve(f"best {drawn.number}", drawn.points, is_best=True))
    if view.row.state == "running":
        found += [
            Curve(f"trial {trial.number}", trial.points)
            for trial in view.running[:_MAX_ROWS]
            if trial.points
        ]
    return found


def _params(trial: TrialResult) -> str:
    items = list(trial.params.items())
    texts = [f"{clean(n, limit=40)}={value_text(v, limit=40)}" for n, v in items[:_MAX_PARAMS]]
    return " ".join(texts) + (" …" if len(items) > _MAX_PARAMS else "")


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col" {_CELL}>{escape(name)}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        # Some notebooks give tables another text colour than the page. Here it is the page's.
        '<table style="color: inherit; font-size: inherit">'
        f'<caption style="color: inherit; text-align: left">{escape(caption)}</caption>'
        f"<tr>{head}</tr>{body}</table>"
    )
