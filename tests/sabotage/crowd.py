"""A crowd of emulated devices, some of them dishonest, that remembers who got which attempt when.

    crowd = Crowd(devices, port, scene, minds, pace=0.2)
    crowd.start()
    crowd.begun                                  # who got which attempt, in order

A device without a mind is honest. The devices are those of the drill (`tests/drill/fleet.py`), with
other answers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet import Acknowledged, Device, Fleet
from saboteurs import Answer, Mind, Scene
from truth import curve_to

# How long an honest device computes a trial, times the pace.
_COMPUTES_S = (0.5, 1.5)


@dataclass(frozen=True)
class Begun:
    """An attempt that a device has got."""

    device: int
    trial: int
    attempt: int
    at: float


class Member(Device):
    """One device of the crowd."""

    def __init__(self, crowd: Crowd, number: int, name: str, secret: str) -> None:
        super().__init__(crowd, number, name, secret)
        self._crowd = crowd
        self._number = number
        self._answer = Answer(None)

    def computes_s(self, lease: dict[str, Any]) -> float:
        """Choose the answer to a new trial, and return when it is sent."""
        crowd, scene = self._crowd, self._crowd.scene
        crowd.begun.append(Begun(self._number, lease["trial"], lease["attempt"], time.monotonic()))
        true = scene.objective.value(scene.seed, lease["trial"])
        seen = scene.objective.computed(true, self.chance)
        self._answer = Answer(seen, curve_to(seen))
        if mind := crowd.minds.get(self._number):
            self._answer = mind(lease["trial"], self._answer)
        return 0 if self._answer.at_once else self.chance.uniform(*_COMPUTES_S) * crowd.pace

    def answer(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return what the device sends for its trial."""
        return self._answer.fields()


class Crowd(Fleet):
    """All devices. The lists may be read when the crowd has left.

    Parameters
    ----------
    minds
        What the dishonest devices answer, by the device's number.
    pace
        How long honest devices compute, in seconds for an average trial.
    """

    def __init__(
        self,
        devices: Sequence[tuple[str, str]],
        port: int,
        scene: Scene,
        minds: Mapping[int, Mind],
        *,
        pace: float,
    ) -> None:
        self.scene = scene
        self.minds = minds
        self.begun: list[Begun] = []
        self.ended: dict[int, float] = {}  # when each attempt's result was acknowledged

        def make(fleet: Fleet, number: int, name: str, secret: str) -> Device:
            assert fleet is self
            return Member(self, number, name, secret)

        super().__init__(devices, [port], scene.seed, pace=pace, roams=False, make=make)

    def note(self, one: Acknowledged, sent: float, now: float) -> None:
        """Remember an acknowledged result."""
        super().note(one, sent, now)
        self.ended[one.attempt] = now
