"""Draws a running study's curves as SVG that fits a notebook's page, light or dark.

    learning([Curve("trial 4", ((0, 0.9), (10, 0.2)), is_best=True)], "learning curves")
    history(row, trials)
    front(row, trials, best_numbers(row))

Axes and texts have the page's own text colour (``currentColor``), and lines have colours that stand
out from white and from black. Each line is named at its end, so no reader needs the colours. The
module is pure; any thread may use it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from hyperflock._base.text import clean
from hyperflock._model.results import TrialResult
from hyperflock._reports.plots import best_so_far, complete, share_of, ticks
from hyperflock._transport.messages import StudyRow

# A line has at most this many points. More would make a picture slow and not clearer.
MAX_POINTS = 300

_WIDTH, _HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 84, 28, 40
_BEST = "#3b82c4"
_COLOURS = ("#d1762a", "#2f9e6e", "#a668c9", "#c95a78", "#8a8f2f", "#6d7f99")
_POINT = "#8a94a3"

_Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One line: its name, its (step, value) pairs, and whether it is the best trial's."""

    name: str
    points: Sequence[tuple[int, float]]
    is_best: bool = False


def learning(curves: Sequence[Curve], title: str) -> str:
    """Return a picture of trials' learning curves; an empty text if no curve has a point."""
    shown = [(curve, _thin(_finite(curve.points))) for curve in curves]
    shown = [(curve, points) for curve, points in shown if points]
    if not shown:
        return ""
    frame = _Frame([point for _, points in shown for point in points])
    parts = frame.axes("step")
    ends: list[_Point] = []
    for place, (curve, points) in enumerate(shown):
        colour = _BEST if curve.is_best else _COLOURS[place % len(_COLOURS)]
        at = [frame.at(point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        width = 2.5 if curve.is_best else 1.5
        if len(at) == 1:
            parts.append(f'<circle cx="{at[0][0]:.1f}" cy="{at[0][1]:.1f}" r="3" fill="{colour}"/>')
        else:
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
            )
        # Move the name up until it does not overlap the names of other lines.
        x, y = at[-1]
        while any(abs(x - left) < 60 and abs(y - other) < 11 for left, other in ends):
            y -= 11
        ends.append((x, y))
        name = clean(curve.name, limit=14)
        parts.append(_text(x + 6, y + 4, name, "start", colour))
    last = "; ".join(f"{curve.name} {points[-1][1]:.6g}" for curve, points in shown)
    return _svg(title, f"{title}: {last}", parts)


def history(row: StudyRow, trials: Sequence[TrialResult]) -> str:
    """Return a picture of complete trials' values in the order in which they finished, and of the
    best value so far; an empty text if there are none.
    """
    values = _finite((place, trial.values[0]) for place, trial in enumerate(complete(trials), 1))
    if not values:
        return ""
    places = [place for place, _ in values]
    best = list(zip(places, best_so_far(row, [value for _, value in values]), strict=True))
    frame = _Frame(values)
    parts = frame.axes("complete trials as they finished")
    parts += [_dot(frame.at(point), _POINT) for point in _thin(values)]
    at = [frame.at(point) for point in _thin(best)]
    steps = "".join(f"H{x:.1f}V{y:.1f}" for x, y in at[1:])
    parts.append(
        f'<path d="M{at[0][0]:.1f} {at[0][1]:.1f}{steps}" fill="none" stroke="{_BEST}" '
        'stroke-width="2.5"/>'
    )
    parts.append(_text(at[-1][0] + 6, at[-1][1] + 4, "best", "start", _BEST))
    title = f"value ({row.direction})"
    return _svg(title, f"{title} of {len(values)} trials, best {best[-1][1]:.6g}", parts)


def front(row: StudyRow, trials: Sequence[TrialResult], best_numbers: Container[int]) -> str:
    """Return a picture of the first two objectives' values in each complete trial. The trials that
    no other trial beats are marked. Return an empty text if there are no trials.
    """
    complete = [t for t in trials if t.state == "complete" and len(t.values) > 1]
    pairs = [(t, (t.values[0], t.values[1])) for t in complete]
    pairs = [(t, pair) for t, pair in pairs if all(map(math.isfinite, pair))]
    if not pairs:
        return ""
    points = [pair for _, pair in pairs]
    frame = _Frame(points)
    parts = frame.axes(f"value 0 ({row.aims[0]})")
    best = [(trial, pair) for trial, pair in pairs if trial.number in best_numbers]
    parts += [_dot(frame.at(point), _POINT) for point in _every_nth(points)]
    for trial, pair in best:
        x, y = frame.at(pair)
        parts.append(_dot((x, y), _BEST, 4.5))
        if len(best) <= 12:
            parts.append(_text(x + 7, y - 4, str(trial.number), "start", _BEST))
    title = f"value 1 ({row.aims[1]})"
    return _svg(title, f"values 0 and 1 of {len(pairs)} trials, {len(best)} of them best", parts)


class _Frame:
    """The scales of a picture."""

    def __init__(self, points: Sequence[_Point]) -> None:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        self._x = ticks(min(xs), max(xs)) if min(xs) < max(xs) else [min(xs) - 1, max(xs) + 1]
        self._y = ticks(min(ys), max(ys))

    def at(self, point: _Point) -> _Point:
        """Return where a point is in the picture."""
        x = share_of(point[0], self._x[0], self._x[-1])
        y = share_of(point[1], self._y[0], self._y[-1])
        return (
            _LEFT + x * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM),
        )

    def axes(self, below: str) -> list[str]:
        """Return lines and labels of both axes."""
        parts = []
        for tick in self._y:
            y = self.at((self._x[0], tick))[1]
            parts.append(
                f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="currentColor" '
                'stroke-opacity="0.2"/>'
            )
            parts.append(_text(_LEFT - 6, y + 4, f"{tick:g}", "end"))
        for tick in self._x:
            x = self.at((tick, self._y[0]))[0]
            parts.append(_text(x, _HEIGHT - _BOTTOM + 16, f"{tick:g}", "middle"))
        parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, below, "middle"))
        return parts


def _finite(points: Iterable[tuple[float, float]]) -> list[_Point]:
    return [(x, y) for x, y in points if math.isfinite(y)]


def _every_nth(points: Sequence[_Point]) -> list[_Point]:
    return list(points[:: -(-len(points) // MAX_POINTS)])


def _thin(points: Sequence[_Point]) -> list[_Point]:
    """Return every n-th point, and the last one."""
    shown = _every_nth(points)
    if points and shown[-1] != points[-1]:
        shown.append(points[-1])
    return shown


def _dot(at: _Point, colour: str, radius: float = 3) -> str:
    return f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = "currentColor") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{escape(text)}</text>"
    )


def _svg(title: str, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}" font-family="sans-serif" font-size="11" '
        f'style="display: block; width: 100%; max-width: {_WIDTH}px; height: auto">'
        f"{_text(_LEFT, 14, title, 'start')}{''.join(parts)}</svg>"
    )
