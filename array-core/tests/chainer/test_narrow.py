"""The narrow ResNet trains on arraycore as on NumPy, and its memory stays flat; natively.

`./run bench array-core narrow_node_webgpu_7.8.1` does it on a device, and over 500 steps.
"""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "train"
sys.path.insert(0, str(BENCH))

from narrow import FIRST_BAR, LATE_BAR, compared  # noqa: E402


def test_fifty_steps_are_numpys_and_memory_is_flat() -> None:
    figures = compared("native_cpu", "7.8.1", steps=50, until=60)
    assert figures["narrow_first_losses"] <= FIRST_BAR
    assert figures["narrow_late_mean"] <= LATE_BAR
    assert figures["narrow_learned"] < 0.2
    assert figures["narrow_bytes_growth"] <= 0


def test_its_first_steps_with_the_older_chainer() -> None:
    figures = compared("native_cpu", "5.4.0", steps=10, until=0)
    assert figures["narrow_first_losses"] <= FIRST_BAR
