"""Runs each attack of the table against a real server, next to another tenant.

``HOSTILE_GUESTS`` chooses: ``short``, parts of names separated by commas, or nothing for all.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from connections import FLOOD, open_halves
from ground import Ground
from patience import until
from table import ATTEMPTS, Attempt

# A connection of a flood costs about 7 KiB. The server gives back at least this many bytes of it
# when the flood has ended, and keeps the others for the next connections: a second flood costs
# nothing new.
GIVEN_BACK_BYTES = 4 * 1024
KEPT_BYTES = 1024
_chosen = os.environ.get("HOSTILE_GUESTS", "")
# The neighbour's trials before an attack, with which those during it are compared. A 99th
# percentile needs hundreds, but the short form asks only whether the neighbour is served.
_SHORT = _chosen == "short"
_QUIET = 30 if _SHORT else 300


def _is_chosen(name: str, *, short: bool = False) -> bool:
    if _SHORT:
        return short
    return any(part in name for part in _chosen.split(","))


def test_names_are_unique() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize(
    "attempt",
    [one for one in ATTEMPTS if _is_chosen(one.name, short=one.short)],
    ids=lambda one: one.name,
)
def test_attempt(attempt: Attempt, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with Ground(tmp_path, *attempt.options) as ground:
        ground.neighbour.work(_QUIET)
        ground.neighbour.begin()
        answered = _run(attempt, ground)
        # What the attack left open, such as connections, is still there.
        ground.neighbour.work(_QUIET)
        for name, (quiet, during) in ground.neighbour.percentiles().items():
            shown = f"{during / quiet:.2f} ({quiet:.1f} ms)"
            request.node.user_properties.append((name, shown))
        assert answered == set(attempt.codes.split())
        ground.check_intact()


def _run(attempt: Attempt, ground: Ground) -> set[str]:
    """Attack and return the answered codes.

    The attack has a thread of the lowest priority, and so have the threads that it starts. A real
    attacker has a machine of its own, so its work must not take processor time from the server and
    the neighbour. The short form compares no times, so it needs no such thread. SCHED_IDLE would be
    lower still, but on a busy machine such a thread does not get on at all.
    """
    with ThreadPoolExecutor(1, initializer=None if _SHORT else _yield_to_others) as thread:
        return thread.submit(lambda: set(attempt.attack(ground))).result()


def _yield_to_others() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


@pytest.mark.skipif(not _is_chosen("connections.memory"), reason="other attacks are chosen")
def test_memory_goes_back_after_a_flood(tmp_path: Path) -> None:
    with Ground(tmp_path, "--hello-ms", "60000") as ground:
        ground.neighbour.finish()  # its trials would fill the database's cache meanwhile
        first = open_halves(ground)
        before = ground.resident_bytes()
        for one in first:
            one.close()
        until("the end of the first flood", lambda: ground.descriptors() < FLOOD)
        begun = open_halves(ground)
        full = ground.resident_bytes()
        assert full < before + FLOOD * KEPT_BYTES, "the first flood's memory was not used again"
        for one in begun:
            one.close()
        until("the memory", lambda: ground.resident_bytes() < full - FLOOD * GIVEN_BACK_BYTES)
