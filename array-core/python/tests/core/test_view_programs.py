"""Tests that random programs of views give NumPy's results on the open back end, and that nothing
is read before the last step. ``bench/view_programs.py`` runs the full number of programs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from arraycore._runtime import session

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "native"))

from array_core_fuzz import api
from array_core_fuzz.programs import DifferenceError

PROGRAMS = 200


@pytest.mark.parametrize("keys", [False, True], ids=["basic", "keys"])
def test_random_programs_equal_numpy_and_stay_on_the_device(keys: bool) -> None:
    totals, moved = api.run_programs(first_seed=0, programs=PROGRAMS, keys=keys)
    assert totals.programs == PROGRAMS
    assert totals.steps > 4 * PROGRAMS
    assert totals.assignments > PROGRAMS // 3
    assert moved.dispatches > PROGRAMS // 4
    assert (moved.bytes_down, moved.cpu_ops) == (0, 0)
    # A device is read only to learn how many elements a mask selects.
    assert moved.size_bytes % 4 == 0
    assert (moved.size_bytes > 0) == (keys and session.bridge.device_text() != "")


def test_a_difference_is_found_and_shown_as_numpy_code(monkeypatch: pytest.MonkeyPatch) -> None:
    flip = api.ac.flip
    monkeypatch.setattr(api.ac, "flip", lambda a, axes: flip(flip(a, axes), axes))
    with pytest.raises(DifferenceError, match="import numpy as np"):
        api.run_programs(first_seed=0, programs=100)
