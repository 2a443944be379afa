"""A module of the researcher's own, which `travelling.py` imports."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

SCALE = 2.0


def scaled_by_helper(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(trial: Any) -> float:
        return float(function(trial) * SCALE)

    return wrapper


def act(x: float) -> float:
    return math.tanh(x) * SCALE


def make_objective(a: float) -> Any:
    from math import pi

    def objective(trial: Any) -> float:
        return act(a) + float(trial.params["x"]) + pi

    return objective


def holding(array: Any) -> Any:
    return lambda trial: float(array.sum())


def first_of(array: Any) -> Any:
    return lambda trial: float(array[0])


def shared_and_cyclic() -> Any:
    shared = [1.0]
    pair: dict[str, Any] = {"a": shared, "b": shared}
    pair["loop"] = pair

    def objective(trial: Any) -> float:
        pair["a"].append(2.0)
        return len(pair["b"]) + (pair["loop"] is pair)

    return objective


def using(value: Any) -> Any:
    return lambda trial: value


class Holder:
    def __init__(self, state: Any) -> None:
        self.state = state


def sharing_a_counter() -> Any:
    count = 0

    def more() -> None:
        nonlocal count
        count += 1

    def objective(trial: Any) -> float:
        more()
        return count

    return objective


COUNT = 0


def setting_a_global() -> Any:
    def objective(trial: Any) -> float:
        global COUNT
        COUNT += 1
        return COUNT

    return objective


def class_of_a_function(size: int) -> Any:
    class Sized:
        def of(self, times: int = size) -> int:
            return times

    return lambda trial: Sized().of()


class Private:
    def __init__(self) -> None:
        self.__hidden = 6.5

    def objective(self) -> Any:
        return lambda trial: self.__hidden + trial.params["x"]


def endless() -> Callable[[Any], float]:
    """Make an objective that reports its process id in a file, and never ends."""

    def objective(trial: Any) -> float:
        import os

        where = trial.params["where"]
        with open(where + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.replace(where + ".new", where)
        while True:
            pass

    return objective
