"""Runs each attack of the table against a real server, next to another tenant.

``HOSTILE_GUESTS`` chooses: ``short``, parts of names separated by commas, or nothing for all.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ground import Ground
from table import ATTEMPTS, Attempt

# The neighbour's trials before an attack, with which those during it are compared.
_QUIET = 30
_chosen = os.environ.get("HOSTILE_GUESTS", "")


def _is_chosen(attempt: Attempt) -> bool:
    if _chosen == "short":
        return attempt.short
    return any(part in attempt.name for part in _chosen.split(","))


def test_names_are_unique() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize(
    "attempt", [one for one in ATTEMPTS if _is_chosen(one)], ids=lambda one: one.name
)
def test_attempt(attempt: Attempt, tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    with Ground(tmp_path, *attempt.options) as ground:
        ground.neighbour.work(_QUIET)
        ground.neighbour.begin()
        answered = set(attempt.attack(ground))
        # What the attack left open, such as connections, is still there.
        ground.neighbour.work(_QUIET)
        for name, ratio in ground.neighbour.ratios().items():
            record_property(name, f"{ratio:.2f}")
        assert answered == set(attempt.codes.split())
        ground.check_intact()
