"""Objectives of each kind that can be bundled, in a script that a researcher runs.

As a script it bundles each objective, calls it in a dry run and in this process, and prints both
values as JSON. It is kept small, because people read its bundles when they debug.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import json
import math
import random
import xml
import xml.etree.ElementTree
from typing import Any

import numpy as np
from patience import LIMIT_S
from travelling_helper import Private, act, make_objective, scaled_by_helper
from travelling_pack.inner import in_package

RATE = 0.5
TABLE: dict[str, Any] = {"a": [1, 2, {"b": (3, 4.5)}], "none": None, "inf": math.inf}
TABLE["self"] = TABLE
WEIGHTS = np.arange(12.0, dtype=np.float32).reshape(3, 4)
LARGE = np.ones(20_000)
Point = collections.namedtuple("Point", "x y")


class Mode(enum.Enum):
    """An enumeration of the script's own."""

    fast = 1
    slow = 2


@dataclasses.dataclass
class Config:
    """A data class of the script's own."""

    width: int = 3
    mode: Mode = Mode.slow

    def area(self) -> float:
        return float(self.width * RATE * self.mode.value)


class Base:
    """A base class. It is bundled because a bundled class derives from it."""

    def bias(self) -> float:
        return 0.25


class Objective(Base):
    """A callable object with a state."""

    def __init__(self, k: float) -> None:
        self.k = k
        self.config = Config(7)
        self.point = Point(1, 2)
        self.me = self

    def bias(self) -> float:
        return 2.0 * super().bias()

    def __call__(self, trial: Any) -> float:
        total = self.me.k + self.config.area() + self.point.y
        return float(total + self.bias() + scaled(trial))


def scaled(trial: Any) -> float:
    return float(trial.params["x"] * len(TABLE) + WEIGHTS.sum() + LARGE.sum())


@functools.lru_cache(maxsize=100)
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def plus_one(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(trial: Any) -> float:
        return float(function(trial) + 1)

    return wrapper


@plus_one
def decorated(trial: Any) -> float:
    """A docstring of
    two lines.
    """
    return float(trial.params["x"] + fibonacci(10))


@scaled_by_helper
def decorated_by_helper(trial: Any) -> float:
    return float(trial.params["x"] + RATE)


def outer(b: float) -> Any:
    weight = np.float32(2.5)

    def factorial(n: int) -> int:
        return 1 if n == 0 else n * factorial(n - 1)

    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    def inner(trial: Any, *, k: float = b) -> float:
        from travelling_helper import act as again

        text = """two
        lines"""
        total = factorial(3) * weight + k + even(4) + again(0.5) + len(text)
        return float(total + trial.params["x"])

    return inner


def local_class(size: int) -> Any:
    class Local:
        def size(self) -> int:
            return size

    return lambda trial: Local().size() + trial.params["x"]


def counting() -> Any:
    count = 0

    def objective(trial: Any) -> float:
        nonlocal count
        count += 1
        return float(count)

    return objective


def main() -> None:
    from hyperflock._bundle.bundle import bundle_objective
    from hyperflock._execution.dry_run import dry_run
    from hyperflock._transport import background_loop as _loop

    rate = 0.25
    first, second = (lambda t: 10 * t.params["x"]), (lambda t: 20 * t.params["x"])
    rng = random.Random(3)
    objectives = {
        "lambda": lambda trial: trial.params["x"] * rate,
        "lambda of globals": lambda t: act(t.params["x"]) + TABLE["self"]["a"][2]["b"][1],
        "first of a line": first,
        "second of a line": second,
        "loop variable": [lambda t, i=i: i * 10 for i in range(3)][2],
        "partial": functools.partial(lambda a, trial: a + trial.params["x"], 4),
        "callable": Objective(3.0),
        "method": Objective(1.0).__call__,
        "decorated": decorated,
        "decorated by a module": decorated_by_helper,
        "closure": outer(10),
        "closure of a module": make_objective(0.3),
        "function of a package": in_package(2),
        "local class": local_class(5),
        "own count": counting(),
        "submodule": lambda t: len(xml.etree.ElementTree.fromstring("<a><b/></a>")) + 0.5,
        "generator's state": lambda t: random.Random(3).random() - rng.random(),
        "numpy": lambda t: float(np.linalg.norm(WEIGHTS)) + float(np.float64(1e300)) * 0,
        "script's function": scaled,
        "private name": Private().objective(),
        "function below the guard": below_the_guard,
    }

    class Here:
        params = {"x": 2.0}  # noqa: RUF012

    values = {}
    for name, objective in objectives.items():
        trying = dry_run(
            bundle_objective(objective),
            [],
            params=Here.params,
            seed=1,
            runtime="chainer-7.8.1",
            time_limit_s=LIMIT_S,
            where="cpython",
        )
        run = _loop.run(trying)
        values[name] = [run.value if run.error is None else str(run), float(objective(Here()))]
    print(json.dumps(values))


if __name__ == "__main__":

    def below_the_guard(trial: Any) -> float:
        return RATE + float(trial.params["x"])

    main()
