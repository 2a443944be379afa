"""What honest devices of the laboratory compute: a value for each trial, known without computing.

    objective = OBJECTIVES["loss"]
    value = objective.value(seed, trial)                      # what is true
    seen = objective.computed(value, chance)                  # what one honest device computes
    objective.is_wrong(seen, value)                           # False

No two devices compute quite the same, because they round differently. How much they differ belongs
to the objective.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

POINTS = 6
# By how much float32 rounds, of the value.
_ROUNDING = 1e-7
# How often two devices disagree by a step of a coarse metric.
_DISAGREE = 0.3


@dataclass(frozen=True)
class Objective:
    """A kind of objective. It is minimized.

    Attributes
    ----------
    value
        Returns the value of a trial, from a generator that belongs to the trial.
    step
        The metric's step; 0: it has none. Devices disagree by at most one step.
    """

    name: str
    value_by: Callable[[random.Random], float]
    step: float = 0.0

    def value(self, seed: int, trial: int) -> float:
        """Return the true value of a trial."""
        return self.value_by(random.Random(seed * 1_000_003 + trial))

    def computed(self, value: float, chance: random.Random) -> float:
        """Return what an honest device computes for a trial with this value."""
        if self.step:
            drift = chance.choice((-self.step, self.step)) if chance.random() < _DISAGREE else 0.0
            return round(value + drift, 6)
        return value * (1 + _ROUNDING * chance.uniform(-1, 1))

    def is_wrong(self, seen: float, value: float) -> bool:
        """Return whether a value is further from the truth than honest devices can be."""
        return not abs(seen - value) <= max(1.01 * self.step, 1e-5 * abs(value), 1e-9)


def curve_to(value: float) -> list[list[float]]:
    """Return a curve that falls to a value: the points of a training."""
    return [[step, value + (1 - value) * 2.0 ** -(step + 1)] for step in range(POINTS - 1)] + [
        [POINTS - 1, value]
    ]


def _stepped(values: Sequence[float]) -> Callable[[random.Random], float]:
    return lambda chance: chance.choice(values)


_PERCENT = [round(0.05 + i / 100, 2) for i in range(61)]
OBJECTIVES = {
    one.name: one
    for one in (
        Objective("loss", lambda chance: chance.uniform(0.05, 0.95)),
        # An error rate in percent, which devices compute differently by a percent.
        Objective("percent", _stepped(_PERCENT), step=0.01),
        # The same, but each third training diverges: all devices then get 0.5 exactly.
        Objective(
            "diverging",
            lambda chance: 0.5 if chance.random() < 1 / 3 else chance.uniform(0.05, 0.45),
        ),
        Objective("three values", _stepped((0.1, 0.2, 0.3)), step=0.1),
        Objective("constant", lambda chance: 0.5),
    )
}
