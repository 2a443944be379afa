"""Draws a study's trials as SVG without a plotting library.

    plot("history", study.row, study.trials).save("history.svg")
    plot("parallel", study.row, study.trials)        # the last line of a notebook's cell

Only complete trials are drawn. Only `Plot.save` writes files. Any thread may use the module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, get_args

from hyperflock._base.errors import HyperflockError, NoCompleteTrialError
from hyperflock._base.text import clean
from hyperflock._model.results import TrialResult, space_of
from hyperflock._reports.export import write
from hyperflock._transport.messages import Dimension, StudyRow, ValueRange

PlotKind = Literal["history", "parallel"]
KINDS: tuple[PlotKind, ...] = ("history", "parallel")
# The names of Optuna's own plots, which plotly or Matplotlib draws.
OptunaPlot = Literal[
    "contour",
    "edf",
    "hypervolume_history",
    "intermediate_values",
    "optimization_history",
    "parallel_coordinate",
    "param_importances",
    "pareto_front",
    "rank",
    "slice",
    "terminator_improvement",
    "timeline",
]
OPTUNA_KINDS: tuple[OptunaPlot, ...] = get_args(OptunaPlot)

# A picture has at most this many points. More would make it slow and not clearer.
MAX_POINTS = 4000
MAX_LINES = 1000

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 24, 44, 52
_MAX_LABELS = 12
_LINE = "#1f5fa8"
_POINT = "#8a94a3"
_INK = "#20262e"
_FAINT = "#d8dde3"


@dataclass(frozen=True)
class Plot:
    """A picture.

    Attributes
    ----------
    svg : str
        The picture as self-contained SVG, readable on light and dark pages.
    """

    svg: str

    def _repr_svg_(self) -> str:
        """Return the SVG for a notebook."""
        return self.svg

    def __repr__(self) -> str:
        return f"<Plot, {len(self.svg)} characters of SVG; save(path) writes it>"

    def save(self, path: str | Path) -> None:
        """Write the SVG.

        Raises
        ------
        HyperflockError
            ``cannot_write``; ``bad_format``: the file's name ends like another format's.
        """
        path = Path(path)
        if path.suffix.lower() not in {"", ".svg"}:
            raise HyperflockError(
                f"'{clean(path.name, limit=200)}' would hold SVG; take a name that ends in .svg",
                code="bad_format",
            )
        write(path, self.svg)


def plot(kind: PlotKind | OptunaPlot, study: StudyRow, trials: Sequence[TrialResult]) -> Plot:
    """Return a picture of the complete trials; see `Study.plot`.

    Raises
    ------
    NoCompleteTrialError
        No trial is complete yet.
    HyperflockError
        ``bad_plot``: there is no such kind.
    """
    if kind not in KINDS:
        raise HyperflockError(
            f"there is no plot {kind!r}; take one of {', '.join([*KINDS, *OPTUNA_KINDS])}",
            code="bad_plot",
        )
    found = complete(trials)
    if not found:
        raise NoCompleteTrialError(f"study {study.study} has no complete trial yet")
    draw = _history if kind == "history" else _parallel
    return Plot(draw(study, found))


def complete(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """Return the complete trials in the order in which they finished."""
    return sorted(
        (trial for trial in trials if trial.state == "complete" and trial.values),
        key=lambda trial: (trial.finished_at is None, trial.finished_at, trial.number),
    )


def best_so_far(study: StudyRow, values: Iterable[float]) -> list[float]:
    """Return for each value the best one of it and all values before it."""
    return list(accumulate(values, min if study.direction == "minimize" else max))


def _history(study: StudyRow, ordered: Sequence[TrialResult]) -> str:
    """Draw values in the order in which trials finished, and the best so far."""
    values = [trial.values[0] for trial in ordered]
    best = best_so_far(study, values)
    marks = ticks(min(values), max(values))
    low, high = marks[0], marks[-1]
    count = len(ordered)

    def at(index: int, value: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (index + 0.5) / count
        return x, _height(value, low, high)

    # If there are too many points, draw every n-th, and each that was better than all before it.
    step = -(-count // MAX_POINTS)
    shown = [i for i in range(count) if i % step == 0 or i == 0 or best[i] != best[i - 1]]
    parts = [_horizontal(tick, low, high) for tick in marks]
    for index in shown:
        trial = ordered[index]
        x, y = at(index, trial.values[0])
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_POINT}">{_title(trial)}</circle>'
        )
    path, before = [], None
    for index in shown:
        x, y = at(index, best[index])
        path.append(f"M{x:.1f} {y:.1f}" if before is None else f"H{x:.1f}V{y:.1f}")
        before = y
    parts.append(
        f'<path d="{"".join(path)}H{_WIDTH - _RIGHT}" fill="none" stroke="{_LINE}" '
        'stroke-width="2"/>'
    )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(_label(middle, _HEIGHT - 14, f"complete trials as they finished, 1 to {count}"))
    parts.append(_label(_LEFT, _TOP - 12, f"value ({study.direction}); line: best so far", "start"))
    return _svg(study, f"history of {count} trials, best {best[-1]:.6g}", parts)


def _parallel(study: StudyRow, trials: Sequence[TrialResult]) -> str:
    """Draw one axis for each parameter and one for the value, and a line for each trial."""
    sign = 1 if study.direction == "minimize" else -1
    ordered = sorted(trials, key=lambda t: (sign * t.values[0], t.number))[:MAX_LINES]
    marks = ticks(min(t.values[0] for t in ordered), max(t.values[0] for t in ordered))
    low, high = marks[0], marks[-1]
    space = space_of(study, ordered)
    axes = len(space) + 1
    xs = [_LEFT + (_WIDTH - 2 * _LEFT) * index / max(1, axes - 1) for index in range(axes)]
    heights = [_positions(dimension) for dimension in space]
    parts = []
    for place, trial in reversed(list(enumerate(ordered))):  # the best trial is drawn last, on top
        ys = [
            positions.get(_key(trial.params.get(dimension.name)), _HEIGHT - _BOTTOM)
            for positions, dimension in zip(heights, space, strict=True)
        ]
        ys.append(_height(trial.values[0], low, high))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        share = place / max(1, len(ordered) - 1)
        width = 2.5 if place == 0 else 1.2
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{_shade(share)}" '
            f'stroke-width="{width}" stroke-opacity="0.85">{_title(trial)}</polyline>'
        )
    for x, dimension, positions in zip(xs, space, heights, strict=False):
        parts.append(_axis(x, clean(dimension.name, limit=18)))
        parts += _axis_labels(x, dimension, positions)
    parts.append(_axis(xs[-1], f"value ({study.direction})"))
    parts += [_label(xs[-1] + 6, _height(t, low, high) + 4, f"{t:g}", "start") for t in marks]
    best = f"{ordered[0].values[0]:.6g}"
    return _svg(study, f"parallel coordinates of {len(ordered)} trials, best {best}", parts)


def _positions(dimension: Dimension) -> dict[str, float]:
    """Return each value's position on its parameter's axis: on the scale of a range, otherwise in
    the space's order, evenly spaced.
    """
    if isinstance(dimension.range, ValueRange):
        scale = _scale(dimension.range)
        return {_key(value): _height(scale(value), 0.0, 1.0) for value in dimension.values}
    count = len(dimension.values)
    found = {}
    for index, value in enumerate(dimension.values):
        share = 0.5 if count == 1 else index / (count - 1)
        found[_key(value)] = _height(share, 0.0, 1.0)
    return found


def _scale(numbers: ValueRange) -> Callable[[float], float]:
    """Return a function that maps the numbers of a range to numbers from 0 to 1."""
    low, high = numbers.low, numbers.high
    if low == high:
        return lambda _: 0.5
    if numbers.log:
        return lambda value: math.log(value / low) / math.log(high / low)
    return lambda value: (value - low) / (high - low)


def _key(value: Any) -> str:
    """Return a key that keeps 1, 1.0 and True apart: three values of a grid, but equal in a
    dict.
    """
    return repr(value)


def _axis_labels(x: float, dimension: Dimension, positions: dict[str, float]) -> Iterator[str]:
    if isinstance(dimension.range, ValueRange):
        for end in dict.fromkeys((dimension.range.low, dimension.range.high)):
            place = _height(_scale(dimension.range)(end), 0.0, 1.0)
            yield _label(x - 6, place + 4, f"{end:.6g}", "end")
        return
    step = -(-len(dimension.values) // _MAX_LABELS)
    for value in dimension.values[::step]:
        shown = clean(str(value), limit=12)
        yield _label(x - 6, positions[_key(value)] + 4, shown, "end")


def _axis(x: float, name: str) -> str:
    line = f'<path d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="{_INK}"/>'
    return line + _label(x, _HEIGHT - _BOTTOM + 22, name)


def _horizontal(tick: float, low: float, high: float) -> str:
    y = _height(tick, low, high)
    line = f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_FAINT}"/>'
    return line + _label(_LEFT - 8, y + 4, f"{tick:g}", "end")


def _height(value: float, low: float, high: float) -> float:
    return _HEIGHT - _BOTTOM - share_of(value, low, high) * (_HEIGHT - _TOP - _BOTTOM)


def share_of(value: float, low: float, high: float) -> float:
    """Return a value's position between ``low`` and ``high``, as a number from 0 to 1."""
    # Halves are subtracted, because the difference itself may exceed the range of a double.
    return (value / 2 - low / 2) / (high / 2 - low / 2)


def ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from at most ``low`` to at least ``high``."""
    if not high / 2 - low / 2 > 1e-300:  # one value, or nearly one
        margin = abs(low) / 2 if abs(low) > 1e-290 else 1.0
        low, high = low - margin, high + margin
    rough = high / 5 - low / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [index * step for index in range(first, last + 1)]
    return ticks if len(ticks) > 1 and math.isfinite(ticks[0] + ticks[-1]) else [low, high]


def _shade(share: float) -> str:
    """Return a colour between blue, for the best, and grey."""
    ends = ((31, 95, 168), (205, 209, 215))
    mixed = (round(a + (b - a) * share) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _title(trial: TrialResult) -> str:
    params = " ".join(
        f"{clean(name, limit=40)}={clean(str(value), limit=40)}"
        for name, value in trial.params.items()
    )
    return f"<title>{escape(f'trial {trial.number}: {trial.values[0]:.6g}, {params}')}</title>"


def _label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    # A white outline keeps the text readable where lines cross it.
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}" stroke="#ffffff" '
        f'stroke-width="3" paint-order="stroke">{escape(text)}</text>'
    )


def _svg(study: StudyRow, what: str, parts: Sequence[str]) -> str:
    name = f"study {study.study} {clean(study.name, limit=60)}: {what}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{escape(name)}" '
        'font-family="sans-serif" font-size="11">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        f"{_label(_LEFT, 20, name, 'start')}{''.join(parts)}</svg>\n"
    )
