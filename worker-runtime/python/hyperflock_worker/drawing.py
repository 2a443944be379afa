"""Draws a value for a suggestion where no sampler is: a dry run of an Optuna study's objective.

    draw('{"name": "IntDistribution", "attributes": {"low": 1, "high": 9, ...}}', Random(0))

The text is what Optuna's ``distribution_to_json`` writes. Pure, and without Optuna.
"""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any


def draw(distribution: str, random: Random) -> Any:
    """Draw from a distribution: evenly, or evenly in the logarithm.

    Parameters
    ----------
    distribution : str
        JSON text of a float, an int or a categorical distribution.
    random : Random
        Decides.

    Raises
    ------
    ValueError
        The text is no such distribution.
    """
    try:
        read = json.loads(distribution)
        kind, ranges = read["name"], read["attributes"]
        if kind == "CategoricalDistribution":
            return random.choice(ranges["choices"])
        low, high, step, log = (ranges[name] for name in ("low", "high", "step", "log"))
        if kind == "FloatDistribution":
            if step is not None:
                return low + step * random.randint(0, round((high - low) / step))
            return _between(low, high, log, random)
        if kind == "IntDistribution":
            if log:
                return min(high, max(low, round(_between(low - 0.5, high + 0.5, log, random))))
            return random.randrange(low, high + 1, step)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{distribution:.200} is no distribution: {error!r}") from None
    raise ValueError(f"there is no distribution '{kind}'")


def _between(low: float, high: float, log: bool, random: Random) -> float:
    if not log:
        return random.uniform(low, high)
    return min(high, max(low, math.exp(random.uniform(math.log(low), math.log(high)))))
