"""Defines the trial of another study that uses the graphics device after an attack. Its value is
right if the attack left nothing on the device.

It is separate from neighbour.py, whose trials ask for no device.
"""

from __future__ import annotations

from typing import Any


def answer(x: int) -> float:
    """Return the value of the trial with this x: whole numbers, which are exact in float32."""
    return float(sum((i % 7 + x) ** 2 for i in range(1_024)))


def on_device(trial: Any) -> float:
    """Compute on the graphics device, and leave marks in its memory."""
    import hyperflock

    device = hyperflock.device().use()
    assert device.backend == "webgpu", device
    xp = device.xp
    values = xp.arange(1_024, dtype="float32") % 7 + trial.params["x"]
    result = float((values * values).sum())
    marks = [xp.full(1 << 18, 12_345.0, "float32") for _ in range(4)]
    assert all(float(mark[-1]) == 12_345.0 for mark in marks)
    return result
