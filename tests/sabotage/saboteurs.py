"""What dishonest and broken devices answer, by kind.

    make = SABOTEURS["constant"].make
    mind = make(Scene(seed, objective), chance)       # one for each device
    answer = mind.answer(trial, honest)               # in place of the honest answer

Each kind is one class of behaviour. A device knows what an honest one would compute, because it
could compute it.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from truth import Objective, curve_to

# The attack of one device that answered a whole study in seconds.
FLOOD = -1e308
_CONSTANT = 0.3125
_HONEST_TRIALS = 5
_FLIPS = 0.05


@dataclass(frozen=True)
class Answer:
    """What a device sends for a trial. ``value`` is None if it reports a failure."""

    value: float | None
    points: list[list[float]] = field(default_factory=list)
    at_once: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the answer as the fields of a result."""
        if self.value is None:
            error = {"cause": "user_error", "code": "ValueError", "message": "no", "traceback": ""}
            return {"outcome": "failed", "error": error, "points": self.points}
        return {"outcome": "complete", "values": [self.value], "points": self.points}


def with_curve(value: float) -> Answer:
    """Return an answer with a curve that ends in the value."""
    return Answer(value, curve_to(value))


@dataclass(frozen=True)
class Scene:
    """What all devices of a crowd have in common."""

    seed: int
    objective: Objective


Mind = Callable[[int, Answer], Answer]
"""Returns the answer for a trial. Its second argument is the honest answer."""


@dataclass(frozen=True)
class Kind:
    """A kind of saboteur.

    Attributes
    ----------
    about
        What it does, in a few words for a table.
    make
        Makes the mind of one device, from the scene and the device's own generator.
    value_range
        The range that the study states, if it states one.
    """

    about: str
    make: Callable[[Scene, random.Random], Mind]
    value_range: dict[str, float] | None = None


def _flood(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: Answer(FLOOD, at_once=True)


def _random(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: with_curve(chance.uniform(0.05, 0.95))


def _constant(scene: Scene, chance: random.Random) -> Mind:
    value = chance.uniform(0.05, 0.95)
    return lambda trial, honest: with_curve(value)


def _copied(scene: Scene, chance: random.Random) -> Mind:
    kept: list[Answer] = []

    def answer(trial: int, honest: Answer) -> Answer:
        kept.append(honest)
        return kept[0]

    return answer


def _instant(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: Answer(chance.uniform(0.05, 0.95), at_once=True)


def _instant_curves(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: replace(with_curve(chance.uniform(0.05, 0.95)), at_once=True)


def _best(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: with_curve(chance.uniform(0.01, 0.04))


def _turncoat(scene: Scene, chance: random.Random) -> Mind:
    done: list[int] = []

    def answer(trial: int, honest: Answer) -> Answer:
        done.append(trial)
        return honest if len(done) <= _HONEST_TRIALS else with_curve(chance.uniform(0.05, 0.95))

    return answer


def _fail_all(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: Answer(None, at_once=True)


def _fail_later(scene: Scene, chance: random.Random) -> Mind:
    done: list[int] = []

    def answer(trial: int, honest: Answer) -> Answer:
        done.append(trial)
        return honest if len(done) == 1 else Answer(None, at_once=True)

    return answer


def _lie_fail_fail(scene: Scene, chance: random.Random) -> Mind:
    done: list[int] = []

    def answer(trial: int, honest: Answer) -> Answer:
        done.append(trial)
        if len(done) % 3 == 1:
            return with_curve(chance.uniform(0.05, 0.95))
        return Answer(None, at_once=True)

    return answer


def _collude(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: with_curve(
        random.Random(f"{scene.seed} {trial}").uniform(0.05, 0.95)
    )


def _collude_constant(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: with_curve(_CONSTANT)


def _bad_memory(scene: Scene, chance: random.Random) -> Mind:
    def answer(trial: int, honest: Answer) -> Answer:
        assert honest.value is not None
        if chance.random() >= _FLIPS:
            return honest
        flipped = math.inf
        while not math.isfinite(flipped):
            (bits,) = struct.unpack("<I", struct.pack("<f", honest.value))
            (flipped,) = struct.unpack("<f", struct.pack("<I", bits ^ (1 << chance.randrange(32))))
        return Answer(flipped, [*honest.points[:-1], [len(honest.points) - 1, flipped]])

    return answer


def _out_of_range(scene: Scene, chance: random.Random) -> Mind:
    return lambda trial, honest: with_curve(-chance.uniform(1, 1e6))


SABOTEURS = {
    "flood": Kind("-1e308 for every trial, at once, without points", _flood),
    "constant": Kind("one plausible value for every trial, with a curve", _constant),
    "copied": Kind("the curve and value of its first trial for every trial", _copied),
    "random": Kind("plausible random values with a curve, at an honest pace", _random),
    "instant": Kind("plausible random values without points, at once", _instant),
    "instant curves": Kind("the same with an invented curve", _instant_curves),
    "best": Kind("values that beat every honest one by a little", _best),
    "turncoat": Kind(f"honest for {_HONEST_TRIALS} trials, then random values", _turncoat),
    "fail all": Kind("fails every trial at once", _fail_all),
    "fail later": Kind("computes one trial, then fails every trial at once", _fail_later),
    "lie, fail, fail": Kind("a random value, then two failures, again and again", _lie_fail_fail),
    "colluders": Kind("all give one invented value for a trial", _collude),
    "colluding constant": Kind("all give one value for every trial", _collude_constant),
    "bad memory": Kind("honest, with a flipped bit in each twentieth result", _bad_memory),
    "out of range": Kind(
        "random values below the study's range", _out_of_range, value_range={"low": 0.0}
    ),
}
