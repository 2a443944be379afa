"""Tests that captured training steps give the bits of plain steps, and that a refused step says
why.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import VERSIONS
from test_training import python


@pytest.mark.parametrize("version", VERSIONS)
def test_captured_steps_are_plain_ones(version: str) -> None:
    script = Path(__file__).with_name("capture.py")
    made = json.loads(python(version, "-W", "ignore", str(script)).splitlines()[-1])
    reads, reports, left = made.pop("refused")
    assert left == "The model's arrays are NumPy's: call model.to_gpu() before. 5"
    assert reads.startswith("capture_reads: ")
    assert "capture.py:" in reads
    assert reports.startswith("capture_reports: ")
    assert made.pop("moved") == [0] * 6
    assert made == {name: {"equal": True, "captured": True} for name in made}
    assert len(made) == 5
