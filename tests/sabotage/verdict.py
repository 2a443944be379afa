"""What a study that a crowd has computed is worth.

verdict = judge(scene, rows, crowd.begun, crowd.ended, dishonest={0, 1}, devices=40)
verdict.wrong, verdict.is_best_wrong, verdict.work
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd import Begun
from saboteurs import Scene

# A device that waits while others get so many attempts for each device is barred: the server gives
# a trial to whoever waits.
_PASSED_OVER = 2


@dataclass
class Verdict:
    """The result of one study.

    Attributes
    ----------
    wrong
        Trials whose final value nobody has computed.
    lost
        Trials that ended as failed, or that a study did not finish because it paused itself.
    is_best_wrong
        Whether the best trial is not one of the best, or its value is wrong.
    attempts
        All attempts that were begun. `work` is what they are of the trials.
    barred, honest_barred
        Saboteurs and honest devices that got no attempt any more.
    results, seconds
        The median of what a barred saboteur had sent, and of the time from its first attempt to its
        last result.
    honest_rejected
        Results of honest devices that the server has rejected.
    paused
        Whether the study has paused itself, because its trials failed alike.
    """

    trials: int
    devices: int
    saboteurs: int
    wrong: int = 0
    lost: int = 0
    is_best_wrong: bool = False
    attempts: int = 0
    barred: int = 0
    results: float = 0
    seconds: float = 0
    honest_barred: int = 0
    honest_rejected: int = 0
    paused: bool = False

    @property
    def work(self) -> float:
        """Attempts over trials."""
        return self.attempts / self.trials


def judge(
    scene: Scene,
    rows: Sequence[Mapping[str, Any]],
    begun: Sequence[Begun],
    ended: Mapping[int, float],
    *,
    dishonest: Collection[int],
    devices: int,
) -> Verdict:
    """Compare the rows of a study's trials with the truth, and look who was barred."""
    verdict = Verdict(trials=len(rows), devices=devices, saboteurs=len(dishonest))
    truth = {row["trial"]: scene.objective.value(scene.seed, row["trial"]) for row in rows}
    values = {row["trial"]: row["values"][0] for row in rows if row["state"] == "complete"}
    is_wrong = scene.objective.is_wrong
    verdict.lost = len(rows) - len(values)
    verdict.wrong = sum(is_wrong(value, truth[trial]) for trial, value in values.items())
    best = min(values, key=lambda trial: values[trial], default=None)
    verdict.is_best_wrong = (
        best is None
        or is_wrong(values[best], truth[best])
        or is_wrong(truth[best], min(truth.values()))
    )
    verdict.attempts = sum(row["attempts"] for row in rows)
    _look_who_was_barred(verdict, begun, ended, dishonest)
    return verdict


def _look_who_was_barred(
    verdict: Verdict, begun: Sequence[Begun], ended: Mapping[int, float], dishonest: Collection[int]
) -> None:
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    results: dict[int, int] = {}
    for one in begun:
        first.setdefault(one.device, one.at)
        last[one.device] = ended.get(one.attempt, one.at)
        results[one.device] = results.get(one.device, 0) + (one.attempt in ended)
    begins = [one.at for one in begun]
    barred = [
        device
        for device, at in last.items()
        if sum(begin > at for begin in begins) >= _PASSED_OVER * verdict.devices
    ]
    saboteurs = [device for device in barred if device in dishonest]
    verdict.barred = len(saboteurs)
    verdict.honest_barred = len(barred) - len(saboteurs)
    if saboteurs:
        verdict.results = statistics.median(results[device] for device in saboteurs)
        verdict.seconds = statistics.median(last[device] - first[device] for device in saboteurs)
