"""Reads sweep files in YAML or JSON. They have those keys of W&B (Weights & Biases) that mean the
same here.

    sweep = read_sweep(Path("sweep.yaml"))
    sweep.program, sweep.space, sweep.method, sweep.trials, sweep.direction

Every problem has the code ``bad_sweep`` and names file, line and key. Any thread may use this
module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NoReturn

from hyperflock._base.distributions import Range, choice, integer, uniform
from hyperflock._base.errors import HyperflockError
from hyperflock._model.grid import grid_size, suggest_grid
from hyperflock._model.sweep_tree import Node, read_tree
from hyperflock._transport.messages import Direction

# The most whole numbers that a grid lists for a parameter with min and max.
MAX_LISTED = 10_000

_KEYS = ("program", "name", "method", "metric", "parameters", "run_cap", "priority")
_METHODS = ("grid", "random", "sobol")
_GOALS = ("minimize", "maximize")
_DISTRIBUTIONS = {
    "constant": ("value",),
    "categorical": ("values",),
    "int_uniform": ("min", "max"),
    "uniform": ("min", "max"),
    "log_uniform": ("min", "max"),
    "log_uniform_values": ("min", "max"),
}
# Keys of W&B that have no counterpart here, each with what to do instead.
_ELSEWHERE = {
    "command": "the objective is a function, which gets its values in trial.params",
    "description": "give the study a name",
    "early_terminate": "use an Optuna study with a pruner",
    "entity": "leave it out",
    "probabilities": "each of the values has the same probability",
    "project": "leave it out",
    "target": "the study runs all of its trials",
}


@dataclass(frozen=True)
class Sweep:
    """The search that a file describes.

    Attributes
    ----------
    program : str
        ``SCRIPT.py`` or ``SCRIPT.py:function``, below the file's folder.
    space : dict or list of dict
        What `Client.grid`, `random` or `sobol` takes.
    method : str or None
        ``random`` or ``sobol``; None tries every point of the space.
    trials : int
        The number of points to draw.
    direction : str
        ``minimize`` or ``maximize``.
    name : str or None
        The study's name.
    priority : int
        The study's priority among those of its owner, from -100 to 100.
    """

    program: str
    space: Any
    method: Literal["random", "sobol"] | None
    trials: int
    direction: Direction
    name: str | None
    priority: int = 0


def read_sweep(path: Path) -> Sweep:
    """Read a sweep file.

    Raises
    ------
    HyperflockError
        ``bad_sweep``: the file cannot be read, or a key is wrong. ``no_yaml``: PyYAML is missing.
    """
    file = _File(path)
    root = read_tree(path, file.refuse)
    if root.kind != "dict":
        file.refuse(root.line, "", "a sweep is a list of keys and values")
    file.check_keys(root, "", _KEYS)
    method = file.one_of(file.required(root, "method", ""), "method", _METHODS)
    direction = _direction(file, root)
    parameters = file.required(root, "parameters", "")
    if parameters.kind != "dict" or not parameters.members:
        file.refuse(parameters.line, "parameters", "needs at least one parameter with its values")
    space = {
        name: _values(file, node, f"parameters.{name}", method)
        for name, node in parameters.members.items()
    }
    name = file.text(root.members["name"], "name") if "name" in root.members else None
    program = file.text(file.required(root, "program", ""), "program")
    cap = _run_cap(file, root)
    priority = _priority(file, root)
    if method == "grid":
        return Sweep(program, _capped(space, cap), None, 0, direction, name, priority)
    if cap is None:
        file.refuse(root.line, "run_cap", f"is missing: method {method} needs a number of trials")
    drawn: Literal["random", "sobol"] = "random" if method == "random" else "sobol"
    return Sweep(program, space, drawn, cap, direction, name, priority)


class _File:
    """Checks nodes of a sweep file, and raises errors that name the file and the line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def refuse(self, line: int, key: str, why: str) -> NoReturn:
        where = f"{self._path.name}:{line}" if line else self._path.name
        raise HyperflockError(
            f"{where}: {f'{key} ' if key else ''}{why}", code="bad_sweep", field=key or None
        )

    def required(self, node: Node, name: str, above: str) -> Node:
        if name not in node.members:
            self.refuse(node.line, f"{above}{name}", "is missing")
        return node.members[name]

    def check_keys(self, node: Node, above: str, known: tuple[str, ...]) -> None:
        for name, member in node.members.items():
            key = f"{above}{name}"
            if name in known:
                continue
            if name in _ELSEWHERE:
                self.refuse(member.line, key, f"has no counterpart here: {_ELSEWHERE[name]}")
            self.refuse(member.line, key, f"is unknown; the keys are {', '.join(known)}")

    def text(self, node: Node, key: str) -> str:
        if not isinstance(node.value, str) or not node.value:
            self.refuse(node.line, key, "must be a text")
        return node.value

    def one_of(self, node: Node, key: str, names: tuple[str, ...]) -> str:
        if node.value == "bayes":
            self.refuse(node.line, key, "bayes needs a sampler: use an Optuna study")
        if node.value not in names:
            self.refuse(node.line, key, f"must be one of {', '.join(names)}")
        return str(node.value)

    def number(self, node: Node, key: str) -> float | int:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(node.line, key, "must be a number")
        if not math.isfinite(value):
            self.refuse(node.line, key, "must be a finite number")
        return value


def _direction(file: _File, root: Node) -> Direction:
    if "metric" not in root.members:
        return "minimize"
    metric = root.members["metric"]
    if metric.kind != "dict":
        file.refuse(metric.line, "metric", "needs a goal")
    file.check_keys(metric, "metric.", ("name", "goal"))
    if "name" in metric.members:  # for readers: the value is what the objective returns
        file.text(metric.members["name"], "metric.name")
    if "goal" not in metric.members:
        return "minimize"
    goal = file.one_of(metric.members["goal"], "metric.goal", _GOALS)
    return "maximize" if goal == "maximize" else "minimize"


def _run_cap(file: _File, root: Node) -> int | None:
    if "run_cap" not in root.members:
        return None
    node = root.members["run_cap"]
    cap = node.value
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
        file.refuse(node.line, "run_cap", "must be a whole number from 1 on")
    return cap


def _priority(file: _File, root: Node) -> int:
    if "priority" not in root.members:
        return 0
    node = root.members["priority"]
    given = node.value
    if isinstance(given, bool) or not isinstance(given, int) or not -100 <= given <= 100:
        file.refuse(node.line, "priority", "must be a whole number from -100 to 100")
    return given


def _values(file: _File, node: Node, key: str, method: str) -> Any:
    """Return a parameter's values, or its distribution."""
    if node.kind != "dict":
        file.refuse(node.line, key, "needs value, values, or min and max")
    given = node.members
    if "distribution" in given:
        kind = file.one_of(given["distribution"], f"{key}.distribution", tuple(_DISTRIBUTIONS))
    elif "values" in given:
        kind = "categorical"
    elif "value" in given:
        kind = "constant"
    else:
        kind = "uniform"
    file.check_keys(node, f"{key}.", ("distribution", *_DISTRIBUTIONS[kind]))
    members = {name: file.required(node, name, f"{key}.") for name in _DISTRIBUTIONS[kind]}
    if kind == "constant":
        return [members["value"].plain()]
    if kind == "categorical":
        values = members["values"]
        if values.kind != "list" or not values.items:
            file.refuse(values.line, f"{key}.values", "must be a list with at least one value")
        found = values.plain()
        return found if method == "grid" else choice(found)
    low = file.number(members["min"], f"{key}.min")
    high = file.number(members["max"], f"{key}.max")
    whole = isinstance(low, int) and isinstance(high, int)
    if "distribution" not in given and whole:
        kind = "int_uniform"
    if kind == "int_uniform" and not whole:
        file.refuse(members["min"].line, key, "has int_uniform, so min and max are whole numbers")
    if low > high:
        file.refuse(members["min"].line, f"{key}.min", f"{low} is greater than max {high}")
    if method == "grid":
        return _listed(file, node, key, kind, low, high)
    return _range(file, members["min"], key, kind, low, high)


def _range(file: _File, node: Node, key: str, kind: str, low: float, high: float) -> Range:
    if kind == "log_uniform":  # W&B's min and max are exponents of e
        try:
            low, high = math.exp(low), math.exp(high)
        except OverflowError:
            file.refuse(node.line, key, "has log_uniform, so min and max are exponents of e")
    if kind == "log_uniform_values" and low <= 0:
        file.refuse(node.line, f"{key}.min", f"must be greater than 0 for {kind}")
    makers: dict[str, Callable[[], Range]] = {
        "int_uniform": lambda: integer(int(low), int(high)),
        "uniform": lambda: uniform(low, high),
    }
    return makers.get(kind, lambda: uniform(low, high, log=True))()


def _listed(file: _File, node: Node, key: str, kind: str, low: float, high: float) -> list[int]:
    """Return the whole numbers of a range for a grid."""
    if kind != "int_uniform":
        file.refuse(node.line, key, "is a range of floats, but method grid needs values")
    if high - low >= MAX_LISTED:
        file.refuse(node.line, key, f"has more than {MAX_LISTED} values for method grid")
    return list(range(int(low), int(high) + 1))


def _capped(space: dict[str, Any], cap: int | None) -> Any:
    """Return a grid's space, or its first ``cap`` points if it has more points."""
    if cap is None or cap >= grid_size(space):
        return space
    return list(islice(suggest_grid(space), cap))
