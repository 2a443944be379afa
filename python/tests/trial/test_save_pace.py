"""Tests when a trial's state is saved next."""

from __future__ import annotations

import math

from hyperflock._trial.save_pace import SavePace
from hyperflock._trial.trial import Trial
from recording_host import RecordingHost


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_save_is_due_after_the_interval() -> None:
    clock = Clock()
    pace = SavePace(clock)
    clock.now = 29
    assert not pace.is_due(30, is_leaving=False)
    clock.now = 30
    assert pace.is_due(30, is_leaving=False)
    pace.begin()
    pace.end(is_leaving=False)
    clock.now = 59
    assert not pace.is_due(30, is_leaving=False)
    clock.now = 60
    assert pace.is_due(30, is_leaving=False)


def test_slow_saves_take_a_twentieth_of_the_time() -> None:
    clock = Clock()
    pace = SavePace(clock)
    pace.begin()
    clock.now = 10
    pace.end(is_leaving=False)
    clock.now = 199
    assert not pace.is_due(30, is_leaving=False)
    clock.now = 200
    assert pace.is_due(30, is_leaving=False)


def test_a_device_that_leaves_saves_once_each_time() -> None:
    class Leaving(RecordingHost):
        leaves = False

        def is_leaving(self) -> bool:
            return self.leaves

    host = Leaving()
    trial = Trial({}, number=0, seed=1, data={}, host=host)
    assert not trial.checkpoint_due(math.inf)
    for _ in range(2):
        host.leaves = True
        assert trial.checkpoint_due(math.inf)
        assert trial.checkpoint({})
        assert not trial.checkpoint_due(math.inf)
        host.leaves = False
        assert not trial.checkpoint_due(math.inf)
    assert host.steps > 0
