"""Tests that, in a native run, the narrow ResNet trains on arraycore as on NumPy without a growth
of memory.

`./run bench array-core narrow_node_webgpu_7.8.1` does the same on a device, over 500 steps.
"""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "train"
sys.path.insert(0, str(BENCH))

import pytest  # noqa: E402
from narrow import FIRST_BAR, LATE_BAR, compared  # noqa: E402


def test_fifty_steps_are_numpys_and_memory_is_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    # The products are of small matrices, for which NumPy's threads would only wait for each other.
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    figures = compared("native_cpu", "7.8.1", steps=50, until=60)
    assert figures["narrow_first_losses"] <= FIRST_BAR
    assert figures["narrow_late_mean"] <= LATE_BAR
    assert figures["narrow_learned"] < 0.2
    assert figures["narrow_bytes_growth"] <= 0
